import { secondMs } from '../../shared/clock.ts';

/** An attempt as the lines and the leases of lanes know it. */
export interface Entry {
  readonly messageId: string;
  readonly attempt: number;
  /** The delivery queue that carries its work: it bounds how long the attempt takes. */
  readonly queue: 'short' | 'long';
}

const prefix = 'msg_';

/** `01J…/0s`: an entry in as few bytes as may be, because a row has many. */
export const formatEntry = ({ messageId, attempt, queue }: Entry): string =>
  `${messageId.slice(prefix.length)}/${attempt}${queue === 'short' ? 's' : 'l'}`;

/** A slot of a queue belongs to a message: its entry is that of the first attempt. */
export const queueEntry = (entry: Omit<Entry, 'attempt'>): string => formatEntry({ ...entry, attempt: 0 });

/** @throws Error for what is no entry */
export function parseEntry(text: string): Entry {
  const [, id = '', attempt, queue] = /^([0-9A-Z]{26})\/(\d+)([sl])$/.exec(text) ?? [];
  if (queue === undefined) throw new Error(`${text} is no entry of a lane.`);
  return { messageId: prefix + id, attempt: Number(attempt), queue: queue === 's' ? 'short' : 'long' };
}

/** Milliseconds that the longest attempt of each queue takes; see `shortTimeoutMs` and `longTimeoutMs` in `resources.ts`. */
const longestAttemptMs = { short: 30 * secondMs, long: 840 * secondMs } as const;

/** Between an attempt's deadline and the end of its lease: the worker ends the exchange, and clocks differ. */
export const leaseMarginMs = 10 * secondMs;

/** Between an admission and its attempt: the work goes through SQS. One that comes later has its lease prolonged. */
const pickUpMs = 60 * secondMs;

/** The end of a lease that was given to an attempt which has yet to come, in Unix milliseconds. */
export const endOfAdmission = ({ queue }: Entry, now: number): number =>
  now + pickUpMs + longestAttemptMs[queue] + leaseMarginMs;
