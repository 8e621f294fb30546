/**
 * Redelivery: a message whose job could not be done is sent again to its queue, with counts of its failures in its text. SQS's own
 * count of receives has also those that Lambda throttled, and SQS keeps a message for 14 days from when it was sent; for a message
 * that is sent again both start over.
 */
import * as z from 'zod/mini';
import { secondMs } from '../shared/clock.ts';

/** The reason why a job is given up: its workers died, or the service itself failed with it. */
export type GiveUpReason = 'deaths' | 'faults';

const count = z._default(z.int().check(z.nonnegative()), 0);

const shape = z.looseObject({
  /** The times that it was sent again. */
  returns: count,
  /** The times that it was sent again because of a fault, and not an outage: see `fault.ts`. */
  faults: count,
  /** Unix milliseconds at which it was sent for the first time; absent until it is sent again. */
  sentAt: z.optional(z.number()),
  /** The trace header that it follows from, where Scheduler carried it: SQS has it beside the text. */
  trace: z.optional(z.string()),
  /** Marks of starts that have ended in an error and may still be noted: see `worker/starts.ts`. */
  ended: z._default(z.array(z.string()), []),
});

/** The text of a message with its counts; all other fields stay as they are. */
export type Redelivered = z.infer<typeof shape>;

/** @throws Error for a text that is no JSON object */
export const parseRedelivered = (text: string): Redelivered => shape.parse(JSON.parse(text));

/**
 * After this many faults a message is given up. With the pauses between them that is after half an hour to an hour: time to take
 * back a bad release, and no destination is called for days because the service cannot record its answers.
 */
export const mostFaults = 10;

/** The delivery that a message's counts are raised by. */
interface LatestDelivery {
  /** Unix milliseconds at which it was sent, for the first time or again. */
  readonly sentAt: number;
  readonly isFault: boolean;
  /** Marks of starts that have ended and may still be noted. */
  readonly ended: readonly string[];
}

/** Writes the text with which a message is sent again. */
export const formatRedelivered = (message: Redelivered, { sentAt, isFault, ended }: LatestDelivery): string =>
  JSON.stringify({
    ...message,
    returns: message.returns + 1,
    faults: message.faults + (isFault ? 1 : 0),
    sentAt: message.sentAt ?? sentAt,
    ended: ended.length === 0 ? undefined : ended,
  });

const firstDelayMs = 10 * secondMs;
/** The longest message timer of SQS. In an outage of a day, a message costs some 130 invocations, and not thousands. */
const longestDelayMs = 900 * secondMs;

/**
 * Computes the seconds until a message that is sent again arrives: twice as many each time, up to a quarter of an hour. Chance
 * takes off up to half, so that messages which failed at one moment do not all return at one moment.
 *
 * @param returns how often it was sent again before
 * @param chance at least 0 and less than 1
 */
export const redeliveryDelaySeconds = (returns: number, chance: number): number =>
  Math.ceil((Math.min(firstDelayMs * 2 ** returns, longestDelayMs) * (1 - chance / 2)) / secondMs);
