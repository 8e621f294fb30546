import { setTimeout as sleep } from 'node:timers/promises';
import { isRecent, now, secondMs } from '../shared/clock.ts';
import { TransientError } from '../error/transientError.ts';
import { log } from '../aws/log.ts';

/** A value that a process reads from time to time. */
export interface Remembered<T> {
  /**
   * Gets the value, at most `lifetimeMs` old; or an older one, if it cannot be read now.
   *
   * @throws if it was never read and has no default
   */
  readonly get: () => Promise<T>;
  /** Gets the value after reading it again, unless it was read in the last ten seconds. */
  readonly renewed: () => Promise<T>;
}

interface Source<T> {
  /** The value's name in the log. */
  readonly name: string;
  readonly lifetimeMs: number;
  readonly read: () => Promise<T>;
  /** The value before the first read. If there is none, callers wait for that read. */
  readonly untilRead?: T;
}

/** The least time between reads. */
const paceMs = 10 * secondMs;
/** How long a request waits for a known value to be read again. A read usually takes milliseconds. */
const readTimeoutMs = 2 * secondMs;

export function remembered<T>({ name, lifetimeMs, read, untilRead }: Source<T>): Remembered<T> {
  let known: { readonly value: T; readonly readAt: number } | undefined =
    untilRead === undefined ? undefined : { value: untilRead, readAt: -Infinity };
  let triedAt = -Infinity;
  /** The read in progress, which all callers share. */
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

  /** Reads a known value again, but waits only briefly: a longer read continues in the background. */
  async function renew(): Promise<void> {
    const warn = (error: unknown): void => {
      log.warn('A value could not be read again; the known one stays in use', {
        name,
        error: String(error),
      });
    };
    const moment = new AbortController();
    const late = sleep(readTimeoutMs, 'late', { signal: moment.signal, ref: false }).catch(() => undefined);
    const isLate = await Promise.race([late, readOnce().catch(warn)]);
    moment.abort();
    if (isLate === 'late') warn('There is no answer yet.');
  }

  async function latest(maxAgeMs: number): Promise<T> {
    if (known === undefined) await readOnce();
    else if (renewal !== undefined) await renewal;
    else if (!isRecent(known.readAt, maxAgeMs, now()) && !isRecent(triedAt, paceMs, now())) {
      renewal = renew().finally(() => {
        renewal = undefined;
      });
      await renewal;
    }
    if (known === undefined) throw new TransientError(`No value of ${name} has been read yet.`);
    return known.value;
  }

  return { get: () => latest(lifetimeMs), renewed: () => latest(paceMs) };
}
