import { setTimeout } from 'node:timers/promises';

/**
 * Reads until a condition holds, for what has no event to wait for: lists that follow their messages.
 *
 * @throws when it does not hold in time, with what was read last
 */
export async function eventually<T>(
  read: () => Promise<T>,
  holds: (value: T) => boolean,
  withinMs = 20_000,
): Promise<T> {
  const until = Date.now() + withinMs;
  for (;;) {
    const value = await read();
    if (holds(value)) return value;
    if (Date.now() > until) {
      throw new Error(`It did not hold within ${withinMs} ms: ${JSON.stringify(value).slice(0, 2_000)}`);
    }
    await setTimeout(100);
  }
}
