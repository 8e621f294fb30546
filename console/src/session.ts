/**
 * The credentials of this tab. They are in its `sessionStorage`, never in an address. A new tab asks open
 * tabs for theirs, so a session ends with its last tab.
 */
import * as z from 'zod/mini';
import { useStateAt } from './events.ts';
import { base64Of } from './ui/base64.ts';

/** The two APIs have separate credentials. */
export type Api = 'messaging' | 'management';

/** The value of the header `Authorization`, by API. */
export type Session = Readonly<Partial<Record<Api, string>>>;

/** The APIs at this page's address. The page cannot call others. */
export const apis: readonly Api[] = (['messaging', 'management'] as const).filter((api) =>
  (document.documentElement.dataset['apis'] ?? '').split(' ').includes(api),
);

const keyOf = (api: Api): string => `svc.${api}`;
const changed = 'svc-session';

export const credentialsOf = (api: Api): string | undefined =>
  sessionStorage.getItem(keyOf(api)) ?? undefined;

/**
 * The channel between tabs, only for pages of this origin. The path distinguishes stages on the same host.
 */
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

/** When the user last looked at this tab. */
let seenAt = Date.now();
const see = (): void => {
  seenAt = Date.now();
};

/**
 * How long to wait for answers of other tabs, in milliseconds. If there are no other tabs, the sign-in page
 * is delayed by this.
 */
const answerMs = 150;

/**
 * Takes over the session of the tab that was used last, if this tab has none. Then shares it with new tabs.
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
    // Another tab with the same credentials has signed out.
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

/** Marks a tab that was signed in before. After signing out, it does not take over other sessions. */
const knownOf = (api: Api): string => `${keyOf(api)}.known`;

export function signIn(api: Api, authorization: string): void {
  sessionStorage.setItem(keyOf(api), authorization);
  sessionStorage.setItem(knownOf(api), '');
  dispatchEvent(new Event(changed));
}

/** @param why shown on the sign-in page if the user did not sign out */
export function signOut(api: Api, why?: string): void {
  const ended = credentialsOf(api);
  if (ended === undefined) return;
  // If the service refused the credentials, other tabs find out themselves.
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

export const useSession = (): Session => useStateAt(changed, session);

/** The value of `Authorization` for a username and a password, which may have any characters. */
export const basic = (user: string, password: string): string => `Basic ${base64Of(`${user}:${password}`)}`;
