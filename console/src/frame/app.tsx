import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { ownStats } from '../../../lambdas/wire/accountAnswers.ts';
import { Access } from '../access.ts';
import { attention } from '../../../lambdas/wire/statsAnswers.ts';
import { AttentionOf, StatsOf } from '../api/attention.ts';
import { useAsked } from '../api/useAsked.ts';
import { returned, usePlace, type Place } from '../place.ts';
import { apis, useSession, type Api, type Session } from '../session.ts';
import { Whose } from '../title.ts';
import { ButtonLink, Empty, Page } from '../ui/basics.tsx';
import { Loaded } from '../ui/resourcePage.tsx';
import { Toasts } from '../ui/toast.tsx';
import { Navigation } from './navigation.tsx';
import { screens, screensFor, type Screen } from './screens.tsx';
import { Shortcuts } from './shortcuts.tsx';
import { SignIn } from './signIn.tsx';
import { Top } from './top.tsx';

export function App() {
  const place = usePlace();
  const session = useSession();
  const [name = ''] = place.path;
  // If only the management API is served, the first screen is one of that API's.
  const screen = screens.find((one) => one.path === name && apis.includes(one.api));
  const first = screens.find((one) => apis.includes(one.api));
  const current = screen ?? (name === '' ? first : undefined);
  const api: Api = current?.api ?? apis[0] ?? 'messaging';
  return (
    <>
      {session[api] === undefined ? (
        <SignIn key={api} api={api} />
      ) : (
        <Frame key={session.messaging} session={session} current={current} place={place} />
      )}
      <Toasts />
    </>
  );
}

/** The interval between requests for the account's usage (ms). */
const statsEveryMs = 10_000;
/** Rare, because an answer reads up to 1,000 things of each kind. Milliseconds. */
const attentionEveryMs = 30_000;

interface FrameProps {
  readonly session: Session;
  readonly current: Screen | undefined;
  readonly place: Place;
}

function Frame({ session, current, place }: FrameProps) {
  const isSignedIn = session.messaging !== undefined;
  // The token's rights must be known before a screen is shown.
  const stats = useAsked(
    ownStats,
    isSignedIn ? { path: 'v2/stats' } : undefined,
    current?.path === 'overview' ? statsEveryMs : 0,
  );
  const { answer } = stats;
  // A change of the screen repeats the request: the user may have fixed something.
  const needs = isSignedIn ? { path: 'v2/stats/attention' } : undefined;
  const attended = useAsked(attention, needs, attentionEveryMs, current?.path);
  const [open, setOpen] = useState<'palette' | 'list'>();
  const shown = useMemo(() => screensFor(answer?.access), [answer?.access]);
  const whose = useMemo(
    () =>
      answer === undefined
        ? []
        : [answer.account.customer_id ?? answer.account.id, answer.account.region, answer.account.deployment],
    [answer],
  );
  return (
    <AttentionOf.Provider value={attended}>
      <Whose.Provider value={whose}>
        <div class="frame">
          <a
            class="skip"
            href="#screen"
            onClick={(event) => {
              // Following the link would change the address after `#`.
              event.preventDefault();
              document.getElementById('screen')?.focus();
            }}
          >
            Skip to the content
          </a>
          <Top
            whose={whose}
            session={session}
            onFind={() => {
              setOpen('palette');
            }}
          />
          <Navigation current={current} screens={shown} />
          <Main key={`${current?.path} ${place.path[1] ?? ''}`}>
            {current === undefined ? (
              <Page title="Not found">
                <Empty title="There is no such screen.">
                  <ButtonLink href="#/">Go to the start</ButtonLink>
                </Empty>
              </Page>
            ) : current.api === 'management' ? (
              <Access.Provider value="write">
                <current.Screen place={place} />
              </Access.Provider>
            ) : answer !== undefined ? (
              <Access.Provider value={answer.access}>
                <StatsOf.Provider value={stats}>
                  <current.Screen place={place} />
                </StatsOf.Provider>
              </Access.Provider>
            ) : (
              <Page title={current.name}>
                <Loaded of={stats}>{() => null}</Loaded>
              </Page>
            )}
          </Main>
        </div>
        <Shortcuts screens={shown} open={open} onOpen={setOpen} />
      </Whose.Provider>
    </AttentionOf.Provider>
  );
}

/** The longest wait for a list to load to its former length (ms). It may have become shorter. */
const comingBackMs = 10_000;

/**
 * Restores the scroll position of a screen when its list is long enough, and focuses the link that the user
 * followed.
 */
function comeBack(main: HTMLElement, { from, to }: { readonly from: string; readonly to: number }) {
  const ending = new AbortController();
  const { signal } = ending;
  const end = (): void => {
    ending.abort();
  };
  const reach = (): void => {
    scrollTo(0, to);
    const link = [...main.querySelectorAll('a')].find((one) => one.getAttribute('href') === from);
    if (link === undefined || Math.abs(scrollY - to) > 1) return;
    link.focus({ preventScroll: true });
    end();
  };
  const observer = new ResizeObserver(reach);
  observer.observe(main);
  const timer = setTimeout(end, comingBackMs);
  signal.addEventListener('abort', () => {
    observer.disconnect();
    clearTimeout(timer);
  });
  for (const event of ['wheel', 'pointerdown', 'keydown', 'touchstart'])
    addEventListener(event, end, { signal, passive: true });
  return end;
}

/** Contains the screen. It is focused when the screen changes, so that screen readers begin there. */
function Main({ children }: { readonly children: preact.ComponentChildren }) {
  const main = useRef<HTMLElement>(null);
  useEffect(() => {
    main.current?.focus({ preventScroll: true });
    const back = returned();
    if (back !== undefined && main.current !== null) return comeBack(main.current, back);
    scrollTo(0, 0);
    return undefined;
  }, []);
  return (
    <main id="screen" ref={main} tabIndex={-1}>
      {children}
    </main>
  );
}
