/** The place in the console: a path and filters behind the `#` of the address, so that it can be bookmarked and shared. */
import { useEffect, useState } from 'preact/hooks';

export interface Place {
  /** Decoded. */
  readonly path: readonly string[];
  readonly query: URLSearchParams;
}

export type Query = Readonly<Record<string, string | number | undefined>>;

/** Makes the address of a place. Values that are undefined or empty are left out. */
export function href(path: readonly string[], query: Query | URLSearchParams = {}): string {
  const pairs = query instanceof URLSearchParams ? [...query] : Object.entries(query);
  const given = new URLSearchParams();
  for (const [name, value] of pairs)
    if (value !== undefined && value !== '') given.append(name, String(value));
  const text = given.toString();
  return `#/${path.map(encodeURIComponent).join('/')}${text === '' ? '' : `?${text}`}`;
}

/** Parses the part of an address behind the `#`. Parts that are not well encoded stay as they are. */
export function placeOf(hash: string): Place {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split(/\?(.*)/s);
  const decoded = (text: string): string => {
    try {
      return decodeURIComponent(text);
    } catch {
      return text;
    }
  };
  return {
    path: path.split('/').filter(Boolean).map(decoded),
    query: new URLSearchParams(query),
  };
}

/** The event before this page goes to another place by itself, with the address as its detail. */
export const going = 'svc-going';

/** Goes to a place. A change of filters replaces the entry of the browser's history, so that "back" leaves the screen. */
export function go(address: string, how: 'push' | 'replace' = 'push'): void {
  if (how === 'push') {
    dispatchEvent(new CustomEvent(going, { detail: address }));
    location.hash = address;
    return;
  }
  history.replaceState(null, '', address);
  dispatchEvent(new HashChangeEvent('hashchange'));
}

export function usePlace(): Place {
  const [place, setPlace] = useState(() => placeOf(location.hash));
  useEffect(() => {
    const follow = (): void => {
      setPlace(placeOf(location.hash));
    };
    addEventListener('hashchange', follow);
    return () => {
      removeEventListener('hashchange', follow);
    };
  }, []);
  return place;
}
