import { isRecent, now } from './clock.ts';

const capacity = 1_000;

/**
 * Caches loads by key for a while. Concurrent loads share one. Failures and empty results are not cached.
 *
 * `table/remembered.ts` keeps an old value if it cannot be read again. Here, values expire, and the next load
 * may fail.
 */
export function cached<T>(
  lifetimeMs: number,
  load: (key: string) => Promise<T | undefined>,
  isWorth: (found: T) => boolean = () => true,
): (key: string) => Promise<T | undefined> {
  const entries = new Map<string, { readonly value: Promise<T | undefined>; readonly at: number }>();
  return (key) => {
    const known = entries.get(key);
    if (known !== undefined && isRecent(known.at, lifetimeMs, now())) return known.value;
    const value = load(key).then(
      (found) => {
        if (found === undefined || !isWorth(found)) entries.delete(key);
        return found;
      },
      (error: unknown) => {
        entries.delete(key);
        throw error;
      },
    );
    entries.delete(key);
    entries.set(key, { value, at: now() });
    const [oldest] = entries.keys();
    if (entries.size > capacity && oldest !== undefined) entries.delete(oldest);
    return value;
  };
}
