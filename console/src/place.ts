/**
 * The place in the console: a path and filters after the `#` of the address, which can be bookmarked and
 * shared.
 */
import { href } from './address.ts';
import { useStateAt } from './events.ts';

export { href, type Query } from './address.ts';

export interface Place {
  readonly path: readonly string[];
  readonly query: URLSearchParams;
}

/** Parses the part of an address after `#`. Parts that are badly encoded are not decoded. */
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

/** A map that keeps only the values that were set most recently. */
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

/** The last address of each list with its filters, by the address without filters. */
const lists = new Map<string, string>();

export const asLeft = (list: string): string => lists.get(list) ?? list;

/** Marks the next change of the address as going back, after the user followed a link back. */
export const markBack = (): void => {
  isBackLink = true;
};

/**
 * If the user came back: where from, and this page's scroll position when they left it. Otherwise undefined.
 */
export const returned = (): { readonly from: string; readonly to: number } | undefined =>
  backFrom === undefined ? undefined : { from: backFrom, to: positions.get(location.hash) ?? 0 };

function arrive(): void {
  current = location.hash;
  const { path } = placeOf(current);
  if (path.length === 1) lists.set(href(path), current);
}

/** Remembers scroll positions. The browser would restore them before a list is loaded. */
export function rememberPositions(): void {
  history.scrollRestoration = 'manual';
  const remember = (): void => {
    if (location.hash === current) positions.set(current, scrollY);
  };
  addEventListener('scroll', remember);
  // Not on scroll events, which fire in the next frame, perhaps on another screen.
  addEventListener('click', remember, true);
  addEventListener('hashchange', () => {
    if (location.hash === current) return;
    // An entry in the browser's history has a state if it was visited before.
    const isOld = history.state !== null;
    backFrom = isOld || isBackLink ? current : undefined;
    isBackLink = false;
    arrive();
    if (!isOld) history.replaceState('seen', '');
  });
  history.replaceState('seen', '');
  arrive();
}

/** An event that is fired before the page changes its place. Its detail is the new address. */
export const going = 'svc-going';

/**
 * Goes to a place. If only filters change, the entry in the browser's history is replaced, so that "back"
 * leaves the screen.
 */
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
