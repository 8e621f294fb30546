import { setTimeout as sleep } from 'node:timers/promises';
import { now, secondMs } from '../shared/clock.ts';
import { TransientError } from '../error/transientError.ts';
import { log } from '../aws/log.ts';

/** A value that a process reads once, and again from time to time. */
export interface Remembered<T> {
  /**
   * Gets the value as it was read at most `lifetimeMs` ago; or, while it cannot be read, as it was read last.
   *
   * @throws when it was never read and cannot be, and nothing stands for it
   */
  readonly get: () => Promise<T>;
  /** Reads the value again where it seems to be out of date; not more often than every ten seconds. */
  readonly renewed: () => Promise<T>;
}

interface Source<T> {
  /** The name of the value in the log. */
  readonly name: string;
  readonly lifetimeMs: number;
  readonly read: () => Promise<T>;
  /** The value until it is read for the first time. Without it, callers wait for that read as long as it takes. */
  readonly untilRead?: T;
}

/** The least time between two tries to read something. */
const paceMs = 10 * secondMs;
/** The longest that a request waits for a value that is known already. Such a read takes milliseconds. */
const memoryTimeoutMs = 2 * secondMs;

export function remembered<T>({ name, lifetimeMs, read, untilRead }: Source<T>): Remembered<T> {
  let known: { readonly value: T; readonly readAt: number } | undefined =
    untilRead === undefined ? undefined : { value: untilRead, readAt: -Infinity };
  let triedAt = -Infinity;
  /** The read that is under way, which all callers share. */
  let reading: Promise<void> | undefined;
  let renewal: Promise<void> | undefined;

  async function readNow(): Promise<void> {
    const readAt = now();
    known = { value: await read(), readAt };
  }

  function readOnce(): Promise<void> {
    triedAt = now();
    reading ??= readNow().finally(() => {
      reading = undefined;
    });
    return reading;
  }

  /** Reads a known value again, and waits for that but a moment: a read that takes longer goes on by itself. */
  async function renew(): Promise<void> {
    const warn = (error: unknown): void => {
      log.warn('Something could not be read again; what is known of it holds', {
        name,
        error: String(error),
      });
    };
    const moment = new AbortController();
    const late = sleep(memoryTimeoutMs, 'late', { signal: moment.signal, ref: false }).catch(() => undefined);
    const isLate = await Promise.race([late, readOnce().catch(warn)]);
    moment.abort();
    if (isLate === 'late') warn('There is no answer yet.');
  }

  async function latest(maxAgeMs: number): Promise<T> {
    if (known === undefined) await readOnce();
    else if (renewal !== undefined) await renewal;
    else if (now() - known.readAt >= maxAgeMs && now() - triedAt >= paceMs) {
      renewal = renew().finally(() => {
        renewal = undefined;
      });
      await renewal;
    }
    if (known === undefined) throw new TransientError(`Nothing is known of ${name}.`);
    return known.value;
  }

  return { get: () => latest(lifetimeMs), renewed: () => latest(paceMs) };
}
