import { now } from '../domain/clock.ts';

/** Entries beyond which the oldest go. */
const capacity = 1_000;

/**
 * Remembers what a look-up found for a while; concurrent look-ups of one key share one. Failures and what was not
 * found are not remembered, nor what is not worth it.
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
