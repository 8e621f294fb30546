/** The shapes of answers about how an account's messages fare; see `answers.ts`. */
import * as z from 'zod/mini';
import { text, whole } from '../options/option.ts';
import { time } from './answers.ts';

const host = text('The host, and its port where the URL has one.');
const waiting = whole('What waits there.');

/** The parts of {@link attention} that are each found by a look of their own. */
export const attentionParts = [
  'hostsDown',
  'pausedQueues',
  'pausedKeys',
  'failingSchedules',
  'deadLetters',
  'failedRuns',
] as const;

export const attention = z.object({
  since: time('From when on dead letters and failed runs are counted: a day ago.'),
  hostsDown: z
    .array(z.object({ host, waiting, openedAt: z.optional(time('Since when it has been down.')) }))
    .check(z.describe('Hosts whose circuit is open.')),
  pausedQueues: z.array(z.object({ name: z.string(), waiting })),
  pausedKeys: z.array(z.object({ flowControlKey: z.string(), waiting })),
  failingSchedules: z
    .array(
      z.object({
        scheduleId: z.string(),
        firedAt: time('The minute of its last fire.'),
        error: z.optional(text('Why the fire made no message.')),
      }),
    )
    .check(
      z.describe(
        'Schedules whose last fire made no message, or a message that is among the dead letters since then. Those that are paused are left out.',
      ),
    ),
  deadLetters: whole('Dead letters of messages since then, those of runs not included.'),
  failedRuns: whole('Runs that have failed since then and can be resumed.'),
  isWhole: z
    .boolean()
    .check(
      z.describe(
        'Whether all was looked at. At most 1,000 queues, keys, schedules, circuits and dead letters each are, for a second, and 100 of each are shown.',
      ),
    ),
  cut: z
    .array(z.enum(attentionParts))
    .check(z.describe('The parts of which there may be more than is shown: the others are whole.')),
});

export const hostTimes = z.object({
  attempts: whole('The attempts that were looked at: the last 1,000 at most.'),
  from: z.optional(time('When the oldest of them ended; absent where there is none.')),
  hosts: z
    .array(
      z.object({
        host,
        attempts: whole('How many of the attempts went there.'),
        failures: whole('How many of those were no success.'),
        p50: z.optional(whole('Milliseconds within which half of the answers came; absent without answers.')),
        p95: z.optional(whole('Milliseconds within which 95 % of the answers came.')),
      }),
    )
    .check(z.describe('The hosts with the most attempts first: at most 100.')),
});
