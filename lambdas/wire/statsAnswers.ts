/** The shapes of answers with statistics; see `answers.ts`. */
import * as z from 'zod/mini';
import { text, whole } from '../options/option.ts';
import { counted, time } from './answers.ts';

const host = text('The host, with its port if the URL has one.');
const waiting = whole('What waits there.');

/** The parts of {@link attention} that separate searches find. */
export const attentionParts = [
  'hostsDown',
  'failingHosts',
  'hangingRuns',
  'pausedQueues',
  'pausedKeys',
  'failingSchedules',
  'deadLetters',
  'failedRuns',
] as const;
export type AttentionPart = (typeof attentionParts)[number];

const parts = z.object({
  hostsDown: z
    .array(z.object({ host, waiting, openedAt: z.optional(time('Since when it has been down.')) }))
    .check(z.describe('Hosts whose circuit is open.')),
  failingHosts: z
    .array(
      z.object({
        host,
        attempts: whole('The attempts that were looked at.'),
        failures: whole('How many of those were no success.'),
        failingSince: time('When the first of the failures since the last success was sent.'),
        lastSuccess: z.optional(time('Absent where none was among the attempts that were looked at.')),
        lastStatus: whole('Of the last attempt; 0 where there was no answer.'),
      }),
    )
    .check(
      z.describe(
        'Hosts whose last attempts have all failed, at least five, the last within an hour; those whose circuit is open are left out. Read from the newest records of the log: 1,000 at most, and those of a megabyte before them for each shard.',
      ),
    ),
  hangingRuns: z
    .array(
      z.object({
        workflowRunId: text('The run’s id.'),
        workflowCreatedAt: time('When it was started.'),
        workflowUrl: text('The URL that it was started with.'),
        since: time('Since when nothing has been pending.'),
        status: z.optional(whole('Of the last answer of its endpoint.')),
      }),
    )
    .check(
      z.describe(
        'Runs that are active, but of which no delivery is pending, nothing is awaited, and nothing was submitted for a minute. At most 1,000 active runs are looked at, the newest, for a second.',
      ),
    ),
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
} satisfies Record<AttentionPart, unknown>);
export const attention = z.object({
  since: time('From when on dead letters and failed runs are counted: a day ago.'),
  ...z.partial(parts).shape,
  runsLookedFrom: z.optional(
    time(
      'Whether a run hangs was not looked at where it was started before; absent where all were looked at.',
    ),
  ),
  isWhole: z
    .boolean()
    .check(
      z.describe(
        'Whether all was looked at. At most 1,000 queues, keys, schedules, circuits and dead letters each are, for a second, but the first 300 in any case, and 100 of each are shown.',
      ),
    ),
  cut: z
    .array(z.enum(attentionParts))
    .check(
      z.describe(
        'The parts of which there may be more than is shown. Such a part is absent if nothing of it was found in time: it is unknown, not 0.',
      ),
    ),
});

export const hostTimes = z.object({
  attempts: whole(
    'The attempts that were looked at: among the last 1,000 records of the log at most, or, with `host`, among those of ten megabytes for each shard.',
  ),
  from: z.optional(time('When the oldest of them ended; absent where there is none.')),
  lookedFrom: z.optional(
    time('All attempts since then were looked at; absent where all were that are kept or were asked for.'),
  ),
  hosts: z
    .array(
      z.object({
        host,
        attempts: whole('How many of the attempts went there.'),
        failures: whole('How many of those were no success.'),
        p50: z.optional(whole('Milliseconds within which half of the answers came; absent without answers.')),
        p95: z.optional(whole('Milliseconds within which 95 % of the answers came.')),
        firstFailure: z.optional(time('Of the attempts that were looked at, as all that follow.')),
        lastFailure: z.optional(time('When the newest failure ended.')),
        lastSuccess: z.optional(time('When the newest success ended.')),
        failingSince: z.optional(
          time(
            'When the first of the failures since the last success was sent; absent where the last attempt was a success.',
          ),
        ),
        failuresInRow: whole('The failures since the last success.'),
        lastStatus: whole('Of the last attempt; 0 where there was no answer.'),
        heldSince: z.optional(time('Since when deliveries to it have been held, if they are.')),
      }),
    )
    .check(z.describe('The hosts with the most attempts first: at most 100.')),
  steps: z.optional(
    z
      .array(
        z.object({
          from: time('When the step begins.'),
          attempts: whole('Those that ended within the step.'),
          failures: whole('How many of those were no success.'),
        }),
      )
      .check(
        z.describe('With `host`: its attempts over time, in 48 steps of equal length, the oldest first.'),
      ),
  ),
});

export const laneTimes = z.object({
  lookedFrom: z.optional(
    time('All attempts since then were counted; absent where all of the 24 hours were.'),
  ),
  hours: z
    .array(
      z.object({
        from: time('When the hour begins.'),
        depth: whole('The most that waited in line in it.'),
        attempts: z.optional(whole('Attempts that ended in it; absent if it began before `lookedFrom`.')),
        failures: z.optional(whole('How many of those were no success.')),
      }),
    )
    .check(z.describe('The last 24 hours, the oldest first; the last one is not over.')),
});

export const countedMessages = z.object({
  ...counted.shape,
  states: z.optional(
    z
      .object({
        delayed: whole('Those whose first attempt is not due yet.'),
        waiting: whole('Those whose first attempt is due: in line, or on its way.'),
        retrying: whole('Those that failed and are retried.'),
        open: whole('Those that were answered 202 and wait for their completion.'),
      })
      .check(z.describe('How many of them are in each state; with `by=state`, unless `atLeast`.')),
  ),
});

const ofGroup = {
  count: whole('How many dead letters have it.'),
  firstFailedAt: time('When the oldest of them failed; with `atLeast`, of those that were counted.'),
  lastFailedAt: time('When the newest of them failed.'),
};
export const deadLetterGroup = z.object({
  host: text('The host of the destination, with its port where it has one.'),
  responseStatus: whole('Of the last answer; 0 where there was none.'),
  ...ofGroup,
});
export const deadLetterCount = z.object({
  ...counted.shape,
  grouped: z.optional(
    whole(
      'How many the groups include, the newest, if all are counted but the time was too short to read them.',
    ),
  ),
  groups: z
    .array(deadLetterGroup)
    .check(z.describe('What was counted, by host and status, the most frequent first: at most 100 groups.')),
  errors: z
    .array(z.object({ error: text('What the filter `error` takes.'), ...ofGroup }))
    .check(
      z.describe(
        'What was counted, by its reason: what was thrown or answered, or why there was no answer. Its first line, with … in the place of numbers and ids. At most 100, as the following.',
      ),
    ),
  labels: z
    .array(z.object({ label: z.string(), ...ofGroup }))
    .check(z.describe('What was counted, by label. A dead letter with two labels counts in both groups.')),
  urls: z
    .array(z.object({ url: z.string(), ...ofGroup }))
    .check(z.describe('What was counted, by the URL of the message, or that of the workflow.')),
});
