import { now } from './clock.ts';

/** The most keys of a cache; beyond it the oldest result is forgotten. */
const capacity = 1_000;

/**
 * Keeps the results of loads by key for a while. Concurrent loads of one key share one. Failures, empty results and results
 * that are not worth it are not kept.
 *
 * `table/remembered.ts` differs: it keeps one thing without which nothing works, such as a secret, and goes on with the known
 * value while the thing cannot be read. Here a result ends with its lifetime, and the next load fails where its source fails.
 */
export function cached<T>(
  lifetimeMs: number,
  load: (key: string) => Promise<T | undefined>,
  isWorth: (found: T) => boolean = () => true,
): (key: string) => Promise<T | undefined> {
  const entries = new Map<string, { readonly value: Promise<T | undefined>; readonly until: number }>();
  return (key) => {
    const known = entries.get(key);
    if (known !== undefined && now() < known.until) return known.value;
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
    entries.set(key, { value, until: now() + lifetimeMs });
    const [oldest] = entries.keys();
    if (entries.size > capacity && oldest !== undefined) entries.delete(oldest);
    return value;
  };
}
