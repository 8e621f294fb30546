/**
 * The credentials of this tab. They are in `sessionStorage`, which ends with the tab, and never in an address.
 */
import { useEffect, useState } from 'preact/hooks';

/** The two APIs, each with credentials of its own. */
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

export function signIn(api: Api, authorization: string): void {
  sessionStorage.setItem(keyOf(api), authorization);
  dispatchEvent(new Event(changed));
}

/** @param why a sentence for the sign-in page, when something else than the user ended the session */
export function signOut(api: Api, why?: string): void {
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
