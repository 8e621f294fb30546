import { now } from './clock.ts';

/** The most keys that a cache has; beyond it the oldest look-up is forgotten. */
const capacity = 1_000;

/**
 * Keeps the results of look-ups by key for a while. Concurrent look-ups of one key share one. A failure is not kept, nor
 * that nothing was found, nor a result that is not worth it.
 *
 * Not to be mistaken for `table/remembered.ts`: that keeps one thing without which nothing works, such as a secret, and
 * goes on with what it knows while the thing cannot be read. Here a result ends with its lifetime, and the next look-up
 * fails where its source fails.
 */
export function cached<T>(
  lifetimeMs: number,
  look: (key: string) => Promise<T | undefined>,
  isWorth: (found: T) => boolean = () => true,
): (key: string) => Promise<T | undefined> {
  const entries = new Map<string, { readonly value: Promise<T | undefined>; readonly until: number }>();
  return (key) => {
    const known = entries.get(key);
    if (known !== undefined && now() < known.until) return known.value;
    const value = look(key).then(
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
