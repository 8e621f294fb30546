import { secondMs } from '../../shared/clock.ts';

/** An attempt as the lines and the leases of lanes know it. */
export interface Entry {
  readonly messageId: string;
  readonly attempt: number;
  /** The delivery queue that carries its job: it bounds how long the attempt takes. */
  readonly queue: 'short' | 'long';
}

const prefix = 'msg_';

/** Writes an entry in few bytes, as `01J…/0s`, because a row has many. */
export const formatEntry = ({ messageId, attempt, queue }: Entry): string =>
  `${messageId.slice(prefix.length)}/${attempt}${queue === 'short' ? 's' : 'l'}`;

/** A slot of a queue belongs to a message: its entry is that of the first attempt. */
export const queueEntry = (entry: Omit<Entry, 'attempt'>): string => formatEntry({ ...entry, attempt: 0 });

/** @throws Error for a text that is no entry */
export function parseEntry(text: string): Entry {
  const [, id = '', attempt, queue] = /^([0-9A-Z]{26})\/(\d+)([sl])$/.exec(text) ?? [];
  if (queue === undefined) throw new Error(`${text} is no entry of a lane.`);
  return { messageId: prefix + id, attempt: Number(attempt), queue: queue === 's' ? 'short' : 'long' };
}

/** The time that leases give an attempt of each queue; see `shortTimeoutMs` and `longTimeoutMs` in `resources.ts`. */
const longestAttemptMs = { short: 30 * secondMs, long: 840 * secondMs } as const;

/** Between an attempt's deadline and the end of its lease: the worker ends the exchange, and clocks differ. */
export const leaseMarginMs = 10 * secondMs;

/** The time between a grant and its attempt, whose job goes through SQS. The lease of an attempt that comes later is extended. */
const pickUpMs = 60 * secondMs;

/** The end of the lease of an attempt that was granted a slot and has yet to come, Unix milliseconds. */
export const endOfGrant = ({ queue }: Entry, now: number): number =>
  now + pickUpMs + longestAttemptMs[queue] + leaseMarginMs;

/**
 * The end of the lease of an attempt that is about to be made, Unix milliseconds. One that may take longer than this renews its
 * leases: see `slots/renewal.ts`. So no lane waits for the longest attempt of a worker that died.
 */
export const endOfAttempt = (timeoutMs: number, now: number): number =>
  now + Math.min(timeoutMs, longestAttemptMs.long) + leaseMarginMs;

/** Whether an attempt may outlast the leases that it begins with. */
export const outlastsLease = (timeoutMs: number): boolean => timeoutMs > longestAttemptMs.long;
