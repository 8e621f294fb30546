import { secondMs } from '../../shared/clock.ts';

/** An attempt in a line or a lease. */
export interface Entry {
  readonly messageId: string;
  readonly attempt: number;
  /** The delivery queue of the attempt's job. It limits the attempt's duration. */
  readonly queue: 'short' | 'long';
}

const prefix = 'msg_';

export const formatEntry = ({ messageId, attempt, queue }: Entry): string =>
  `${messageId.slice(prefix.length)}/${attempt}${queue === 'short' ? 's' : 'l'}`;

export const queueEntry = (entry: Omit<Entry, 'attempt'>): string => formatEntry({ ...entry, attempt: 0 });

/** @throws Error for an invalid entry */
export function parseEntry(text: string): Entry {
  const [, id = '', attempt, queue] = /^([0-9A-Z]{26})\/(\d+)([sl])$/.exec(text) ?? [];
  if (queue === undefined) throw new Error(`${text} is not an entry of a lane.`);
  return { messageId: prefix + id, attempt: Number(attempt), queue: queue === 's' ? 'short' : 'long' };
}

/**
 * The duration of an attempt that its first lease covers, by delivery queue; see `shortTimeoutMs` and
 * `longTimeoutMs` in `resources.ts`.
 */
const longestAttemptMs = { short: 30 * secondMs, long: 840 * secondMs } as const;

/**
 * The time from an attempt's deadline to its lease's end. The worker must end the exchange, and clocks
 * differ.
 */
export const leaseMarginMs = 10 * secondMs;

/** The time from a grant to its attempt: the job goes through SQS. */
const pickUpMs = 60 * secondMs;

export const endOfGrant = ({ queue }: Entry, now: number): number =>
  now + pickUpMs + longestAttemptMs[queue] + leaseMarginMs;

/** When a starting attempt's lease ends. A longer attempt renews its leases (`slots/renewal.ts`). */
export const endOfAttempt = (timeoutMs: number, now: number): number =>
  now + Math.min(timeoutMs, longestAttemptMs.long) + leaseMarginMs;

/** Whether an attempt may take longer than its first lease covers. */
export const outlastsLease = (timeoutMs: number): boolean => timeoutMs > longestAttemptMs.long;
