/**
 * Redelivery: a failed message is sent again to its queue, with its failures counted in its text. SQS's receive count includes
 * receives that Lambda throttled, and SQS keeps a message only 14 days.
 */
import * as z from 'zod/mini';
import { secondMs } from '../shared/clock.ts';

/** Its workers died, or it met too many faults. */
export type GiveUpReason = 'deaths' | 'faults';

const count = z._default(z.int().check(z.nonnegative()), 0);

const shape = z.looseObject({
  /** How often it was sent again. */
  returns: count,
  /** How often because of a fault: see `fault.ts`. */
  faults: count,
  /** When it was first sent, Unix milliseconds; undefined before a redelivery. */
  sentAt: z.optional(z.number()),
  /** The trace header it follows from, if Scheduler carried it. */
  trace: z.optional(z.string()),
  /** Marks of starts that ended but may still be noted: see `worker/starts.ts`. */
  ended: z._default(z.array(z.string()), []),
});

export type Redelivered = z.infer<typeof shape>;

/** @throws Error if the text is not a JSON object */
export const parseRedelivered = (text: string): Redelivered => shape.parse(JSON.parse(text));

/** With pauses, this takes half an hour to an hour: time to roll back a release. */
export const mostFaults = 10;

interface LatestDelivery {
  /** When it was sent, first or again, Unix milliseconds. */
  readonly sentAt: number;
  readonly isFault: boolean;
  readonly ended: readonly string[];
}

export const formatRedelivered = (message: Redelivered, { sentAt, isFault, ended }: LatestDelivery): string =>
  JSON.stringify({
    ...message,
    returns: message.returns + 1,
    faults: message.faults + (isFault ? 1 : 0),
    sentAt: message.sentAt ?? sentAt,
    ended: ended.length === 0 ? undefined : ended,
  });

const firstDelayMs = 10 * secondMs;
/** SQS's longest message timer. In a day's outage, a message costs some 130 invocations. */
const longestDelayMs = 900 * secondMs;

/**
 * The seconds until a redelivery: doubled each time, up to 15 minutes. Chance removes up to half, so that messages that failed
 * together do not return together.
 *
 * @param returns earlier redeliveries
 * @param chance at least 0 and less than 1
 */
export const redeliveryDelaySeconds = (returns: number, chance: number): number =>
  Math.ceil((Math.min(firstDelayMs * 2 ** returns, longestDelayMs) * (1 - chance / 2)) / secondMs);
