/**
 * Redelivery: a failed message is sent to its queue again, with its failures counted in its text. SQS's own
 * receive count includes receives that Lambda throttled, and SQS keeps a message only 14 days.
 */
import * as z from 'zod/mini';
import { secondMs } from '../shared/clock.ts';

/** Why a job is given up: its workers died, or it failed too often because of bugs. */
export type GiveUpReason = 'deaths' | 'faults';

const count = z._default(z.int().check(z.nonnegative()), 0);

const shape = z.looseObject({
  returns: count,
  /** How often it was sent again because of a bug: see `fault.ts`. */
  faults: count,
  /** When the message was first sent; undefined before its first redelivery. */
  sentAt: z.optional(z.number()),
  /** The trace header, if Scheduler sent the message. */
  trace: z.optional(z.string()),
  /** Marks of starts that ended but may still be recorded: see `worker/starts.ts`. */
  ended: z._default(z.array(z.string()), []),
});

export type Redelivered = z.infer<typeof shape>;

/** @throws Error if the text is not a JSON object */
export const parseRedelivered = (text: string): Redelivered => shape.parse(JSON.parse(text));

/** With the pauses in between, this takes half an hour to an hour: time to roll back a release. */
export const mostFaults = 10;

interface LatestDelivery {
  /** When the message was last sent. */
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
/** SQS's longest delay. In a day's outage, a message costs about 130 invocations. */
const longestDelayMs = 900 * secondMs;

/**
 * The delay of a redelivery in seconds. It doubles each time, up to 15 minutes. Up to half of it is removed
 * at random, so that messages that failed together do not return together.
 *
 * @param returns earlier redeliveries
 * @param chance at least 0 and less than 1
 */
export const redeliveryDelaySeconds = (returns: number, chance: number): number =>
  Math.ceil((Math.min(firstDelayMs * 2 ** returns, longestDelayMs) * (1 - chance / 2)) / secondMs);
