/**
 * The credentials of this tab. They are in `sessionStorage`, which ends with the tab, and never in an address. A new tab of the same
 * address asks the open ones for theirs; so they end with the last of these.
 */
import * as z from 'zod/mini';
import { useEffect, useState } from 'preact/hooks';

/** The two APIs, each with its own credentials. */
export type Api = 'messaging' | 'management';

/** The value of the header `Authorization`, by API. */
export type Session = Readonly<Partial<Record<Api, string>>>;

/** The APIs that this page's address serves: a page cannot call others. */
export const apis: readonly Api[] = (['messaging', 'management'] as const).filter((api) =>
  (document.documentElement.dataset['apis'] ?? '').split(' ').includes(api),
);

const keyOf = (api: Api): string => `svc.${api}`;
const changed = 'svc-session';

export const credentialsOf = (api: Api): string | undefined =>
  sessionStorage.getItem(keyOf(api)) ?? undefined;

/** The messages between tabs. Only pages of this origin get them, and the path tells the stages of one host apart. */
const tabs = new BroadcastChannel(`svc-session ${new URL('..', import.meta.url).pathname}`);

const credentials = z.object({ messaging: z.optional(z.string()), management: z.optional(z.string()) });
const note = z.union([
  z.object({ kind: z.literal('ask'), by: z.string() }),
  z.object({ kind: z.literal('answer'), to: z.string(), seenAt: z.number(), session: credentials }),
  z.object({ kind: z.literal('end'), session: credentials }),
]);
type Note = z.infer<typeof note>;
const send = (sent: Note): void => {
  tabs.postMessage(sent);
};

/** When the user last looked at this tab, Unix milliseconds. */
let seenAt = Date.now();
const see = (): void => {
  seenAt = Date.now();
};

/** The time for the other tabs to answer, in milliseconds: where there is none, the sign-in waits for it. */
const answerMs = 150;

/**
 * Takes over the session of the tab that was looked at last, where this tab has none, and hands it on from then on.
 *
 * @returns once the session is known
 */
export async function joinSession(): Promise<void> {
  for (const event of ['focus', 'pointerdown', 'keydown']) addEventListener(event, see, true);
  const id = crypto.randomUUID();
  let best: Extract<Note, { kind: 'answer' }> | undefined;
  tabs.addEventListener('message', ({ data }: MessageEvent<unknown>) => {
    const { data: read } = note.safeParse(data);
    if (read?.kind === 'answer' && read.to === id && read.seenAt > (best?.seenAt ?? 0)) best = read;
    if (read?.kind === 'ask' && apis.some((api) => credentialsOf(api) !== undefined)) {
      send({ kind: 'answer', to: read.by, seenAt, session: session() });
    }
    // A tab with the same credentials has signed out.
    if (read?.kind === 'end')
      for (const api of apis) if (read.session[api] === credentialsOf(api)) forget(api);
  });
  const isKnown = (api: Api): boolean =>
    credentialsOf(api) !== undefined || sessionStorage.getItem(knownOf(api)) !== null;
  if (apis.some(isKnown)) return;
  send({ kind: 'ask', by: id });
  await new Promise((resolve) => setTimeout(resolve, answerMs));
  for (const api of apis) {
    const handed = best?.session[api];
    if (handed !== undefined && credentialsOf(api) === undefined) signIn(api, handed);
  }
}

/** A mark of a tab that has signed in once: when it is signed out, it stays so. */
const knownOf = (api: Api): string => `${keyOf(api)}.known`;

export function signIn(api: Api, authorization: string): void {
  sessionStorage.setItem(keyOf(api), authorization);
  sessionStorage.setItem(knownOf(api), '');
  dispatchEvent(new Event(changed));
}

/** @param why a sentence for the sign-in page, when something else than the user ended the session */
export function signOut(api: Api, why?: string): void {
  const ended = credentialsOf(api);
  if (ended === undefined) return;
  // Where the service refuses the credentials, the other tabs learn it from their own requests.
  if (why === undefined) send({ kind: 'end', session: { [api]: ended } });
  forget(api, why);
}

function forget(api: Api, why?: string): void {
  if (credentialsOf(api) === undefined) return;
  sessionStorage.removeItem(keyOf(api));
  reason = why;
  dispatchEvent(new Event(changed));
}
let reason: string | undefined;

export const whySignedOut = (): string | undefined => reason;

const session = (): Session => ({
  messaging: credentialsOf('messaging'),
  management: credentialsOf('management'),
});

export function useSession(): Session {
  const [current, setCurrent] = useState(session);
  useEffect(() => {
    const follow = (): void => {
      setCurrent(session());
    };
    addEventListener(changed, follow);
    return () => {
      removeEventListener(changed, follow);
    };
  }, []);
  return current;
}

/** The value of `Authorization` for a username and a password with any characters. */
export const basic = (user: string, password: string): string =>
  `Basic ${btoa(String.fromCharCode(...new TextEncoder().encode(`${user}:${password}`)))}`;
