/** The place in the console: a path and filters after the `#` of the address, so that it can be bookmarked and shared. */
import { href } from './address.ts';
import { useStateAt } from './events.ts';

export { href, type Query } from './address.ts';

export interface Place {
  readonly path: readonly string[];
  readonly query: URLSearchParams;
}

/** Parses the part of an address after the `#`. Parts with an invalid encoding stay unchanged. */
export function placeOf(hash: string): Place {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split(/\?(.*)/s);
  const decoded = (text: string): string => {
    try {
      return decodeURIComponent(text);
    } catch {
      return text;
    }
  };
  return { path: path.split('/').filter(Boolean).map(decoded), query: new URLSearchParams(query) };
}

/** Values by name, of which only the most recently set ones are kept. */
export class Recent<T> extends Map<string, T> {
  readonly #most: number;

  constructor(most: number) {
    super();
    this.#most = most;
  }

  override set(name: string, value: T): this {
    this.delete(name);
    super.set(name, value);
    const [oldest] = this.keys();
    if (this.size > this.#most && oldest !== undefined) this.delete(oldest);
    return this;
  }
}

const positions = new Recent<number>(100);
let backFrom: string | undefined;
let current = location.hash;
let isBackLink = false;

/** The last address of each list including filters, by its address without filters. */
const lists = new Map<string, string>();

export const asLeft = (list: string): string => lists.get(list) ?? list;

/** Marks the next change of the address as going back, because the user followed a link back. */
export const markBack = (): void => {
  isBackLink = true;
};

/**
 * The address that the user came back from, and this page's scroll position when they left it; undefined if the user did not
 * come back.
 */
export const returned = (): { readonly from: string; readonly to: number } | undefined =>
  backFrom === undefined ? undefined : { from: backFrom, to: positions.get(location.hash) ?? 0 };

function arrive(): void {
  current = location.hash;
  const { path } = placeOf(current);
  if (path.length === 1) lists.set(href(path), current);
}

/** Remembers scroll positions. The browser would restore them too early: before a list is loaded. */
export function rememberPositions(): void {
  history.scrollRestoration = 'manual';
  const remember = (): void => {
    if (location.hash === current) positions.set(current, scrollY);
  };
  addEventListener('scroll', remember);
  // A scroll event is fired at the next frame, which may already show another screen.
  addEventListener('click', remember, true);
  addEventListener('hashchange', () => {
    if (location.hash === current) return;
    // An entry of the browser's history has a state if it was visited before.
    const isOld = history.state !== null;
    backFrom = isOld || isBackLink ? current : undefined;
    isBackLink = false;
    arrive();
    if (!isOld) history.replaceState('seen', '');
  });
  history.replaceState('seen', '');
  arrive();
}

/** An event, fired before the page itself goes to another place. Its detail is the address. */
export const going = 'svc-going';

/** Goes to a place. A change of filters replaces the entry in the browser's history, so that "back" leaves the screen. */
export function go(address: string, how: 'push' | 'replace' = 'push'): void {
  if (how === 'push') {
    dispatchEvent(new CustomEvent(going, { detail: address }));
    location.hash = address;
    return;
  }
  history.replaceState('seen', '', address);
  arrive();
  backFrom = undefined;
  dispatchEvent(new HashChangeEvent('hashchange'));
}

export const usePlace = (): Place => useStateAt('hashchange', () => placeOf(location.hash));
