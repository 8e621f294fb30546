/** The page: the sign-in, or the navigation beside the screen that the address names. */
import { useEffect, useRef } from 'preact/hooks';
import { ownStats } from '../../../lambdas/wire/accountAnswers.ts';
import { Access } from '../access.ts';
import { useAsked } from '../api/useAsked.ts';
import { href, usePlace, type Place } from '../place.ts';
import { apis, signOut, useSession, type Api, type Session } from '../session.ts';
import { Button, ButtonLink, classes, Empty, Failure, Loading, Page } from '../ui/basics.tsx';
import { Toasts } from '../ui/toast.tsx';
import { screens, type Screen } from './screens.tsx';
import { SignIn } from './signIn.tsx';
import { ThemeChoice } from './theme.tsx';

export function App() {
  const place = usePlace();
  const session = useSession();
  const [name = ''] = place.path;
  // If only the management API is served, its screen is the first.
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

interface FrameProps {
  readonly session: Session;
  readonly current: Screen | undefined;
  readonly place: Place;
}

function Frame({ session, current, place }: FrameProps) {
  // The rights of the token are known before a screen is shown.
  const { answer, error, again } = useAsked(
    ownStats,
    session.messaging === undefined ? undefined : { path: 'v2/stats' },
  );
  return (
    <div class="frame">
      <a class="skip" href="#screen">
        Skip to the content
      </a>
      <Navigation
        current={current}
        access={answer?.access}
        isSignedIn={(one) => session[one] !== undefined}
      />
      <Main key={`${current?.path} ${place.path[1] ?? ''}`}>
        {current === undefined ? (
          <NoSuchScreen />
        ) : current.api === 'management' ? (
          <current.Screen place={place} />
        ) : answer !== undefined ? (
          <Access.Provider value={answer.access}>
            <current.Screen place={place} />
          </Access.Provider>
        ) : error !== undefined ? (
          <Failure error={error} again={again} />
        ) : (
          <Loading />
        )}
      </Main>
    </div>
  );
}

/** The place of a screen. It gets the focus when the screen changes, so that a screen reader begins there. */
function Main({ children }: { readonly children: preact.ComponentChildren }) {
  const main = useRef<HTMLElement>(null);
  const isFirst = useRef(true);
  useEffect(() => {
    if (isFirst.current) isFirst.current = false;
    main.current?.focus({ preventScroll: true });
    scrollTo(0, 0);
  }, []);
  return (
    <main id="screen" ref={main} tabIndex={-1}>
      {children}
    </main>
  );
}

function NoSuchScreen() {
  return (
    <Page title="Not found">
      <Empty title="There is no such screen.">
        <ButtonLink href="#/">Go to the start</ButtonLink>
      </Empty>
    </Page>
  );
}

interface NavigationProps {
  readonly current: Screen | undefined;
  /** The rights of the token; undefined until they are known. */
  readonly access: 'read' | 'write' | undefined;
  readonly isSignedIn: (api: Api) => boolean;
}

function Navigation({ current, access, isSignedIn }: NavigationProps) {
  const shown = screens.filter(
    ({ api, changes }) => apis.includes(api) && !(changes === true && access === 'read'),
  );
  return (
    <nav class="navigation" aria-label="Screens">
      <p class="brand">Console</p>
      <ul>
        {shown.map((screen) => (
          <li key={screen.path} class={classes(screen.api === 'management' && 'operator')}>
            <a href={href([screen.path])} aria-current={screen === current ? 'page' : undefined}>
              {screen.name}
            </a>
          </li>
        ))}
      </ul>
      <div class="navigation-end">
        <ThemeChoice />
        {apis.filter(isSignedIn).map((api) => (
          <Button
            key={api}
            kind="quiet"
            onClick={() => {
              signOut(api);
            }}
          >
            {api === 'messaging' ? 'Sign out' : 'Sign out as operator'}
          </Button>
        ))}
      </div>
    </nav>
  );
}
