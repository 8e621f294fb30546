/** The shapes of answers with statistics; see `answers.ts`. */
import * as z from 'zod/mini';
import { text, whole } from '../options/option.ts';
import { counted, messageId, time } from './answers.ts';

const host = text('The host, with its port if the URL has one.');
const waiting = whole('The number of waiting messages.');

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
    .array(z.object({ host, waiting, openedAt: z.optional(time('When it went down.')) }))
    .check(z.describe('Hosts whose circuit is open.')),
  failingHosts: z
    .array(
      z.object({
        host,
        attempts: whole('The number of attempts that were examined.'),
        failures: whole('How many of them failed.'),
        failingSince: time('When the first of the failures since the last success was sent.'),
        lastSuccess: z.optional(time('Absent if no examined attempt succeeded.')),
        lastStatus: whole('The status of the last attempt; 0 if there was no answer.'),
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
        since: time('The time since which nothing has been pending.'),
        status: z.optional(whole('The status of the last answer of its endpoint.')),
      }),
    )
    .check(
      z.describe(
        'Runs that hang: they are active, but have had no pending delivery, no wait and no new step for a minute. The newest 1,000 active runs at most are examined, for up to a second.',
      ),
    ),
  pausedQueues: z.array(z.object({ name: z.string(), waiting })),
  pausedKeys: z.array(z.object({ flowControlKey: z.string(), waiting })),
  failingSchedules: z
    .array(
      z.object({
        scheduleId: z.string(),
        firedAt: time('The minute of its last fire.'),
        error: z.optional(text('Why the fire published no message.')),
      }),
    )
    .check(
      z.describe(
        'Schedules whose last fire published no message, or a message that became a dead letter within that time. Paused schedules are left out.',
      ),
    ),
  deadLetters: whole('New dead letters of messages since then, without those of runs.'),
  failedRuns: whole('Runs that have failed since then and can be resumed.'),
} satisfies Record<AttentionPart, unknown>);
export const attention = z.object({
  since: time('The time since which dead letters and failed runs are counted: a day ago.'),
  ...z.partial(parts).shape,
  runsLookedFrom: z.optional(
    time('Runs that started before this time were not checked for hangs; absent if all were checked.'),
  ),
  isWhole: z
    .boolean()
    .check(
      z.describe(
        'Whether everything was examined. At most 1,000 queues, keys, schedules, circuits and dead letters each are examined, for up to a second, but always the first 300; 100 of each are shown.',
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

export const foundNames = z.object({
  results: z
    .array(
      z.object({
        kind: z.enum(['queue', 'flowControlKey', 'urlGroup', 'schedule', 'host', 'label', 'run']),
        name: text('The match: a name, or, for a run, its id, the URL of its workflow or a label.'),
        link: text('The path of the API for it, or for the list that it selects.'),
        workflowRunId: z.optional(text('Only with `run`: its id.')),
        workflowRunCreatedAt: z.optional(time('Only with `run`: when it was started.')),
      }),
    )
    .check(z.describe('At most 10 of each kind; names that begin with the text come first.')),
  isWhole: z
    .boolean()
    .check(
      z.describe(
        'Whether these are all. At most 1,000 of each kind are examined, for up to a second; hosts and labels are those of the newest 1,000 messages.',
      ),
    ),
});

export const hostTimes = z.object({
  attempts: whole(
    'The number of attempts that were examined, in the last 1,000 records of the log at most, or, with `host`, in the last ten megabytes of each shard.',
  ),
  from: z.optional(time('When the oldest of them ended; absent if there are no attempts.')),
  lookedFrom: z.optional(
    time(
      'All attempts since this time were examined; absent if all that are kept, or that the request asked for, were examined.',
    ),
  ),
  hosts: z
    .array(
      z.object({
        host,
        attempts: whole('The number of attempts to this host.'),
        failures: whole('How many of them failed.'),
        p50: z.optional(whole('Milliseconds within which half of the answers came; absent without answers.')),
        p95: z.optional(whole('Milliseconds within which 95 % of the answers came.')),
        p99: z.optional(whole('Milliseconds within which 99 % of the answers came.')),
        firstFailure: z.optional(
          time('When the first failure ended. This and the following are about the examined attempts.'),
        ),
        lastFailure: z.optional(time('When the newest failure ended.')),
        lastSuccess: z.optional(time('When the newest success ended.')),
        failingSince: z.optional(
          time(
            'When the first of the failures since the last success was sent; absent if the last attempt succeeded.',
          ),
        ),
        failuresInRow: whole('The failures since the last success.'),
        lastStatus: whole('The status of the last attempt; 0 if there was no answer.'),
        heldSince: z.optional(time('When a hold of its deliveries began, if they are held.')),
      }),
    )
    .check(z.describe('The hosts with the most attempts first: at most 100.')),
  steps: z.optional(
    z
      .array(
        z.object({
          from: time('When the step begins.'),
          attempts: whole('The number of attempts that ended within the step.'),
          failures: whole('How many of them failed.'),
          p50: z.optional(
            whole('Milliseconds within which half of the answers came; absent without answers.'),
          ),
          p99: z.optional(whole('Milliseconds within which 99 % of the answers came.')),
        }),
      )
      .check(
        z.describe(
          'The examined attempts over time, in 48 steps of equal length, the oldest first; absent if there are no attempts, unless `host` is given.',
        ),
      ),
  ),
});

export const laneTimes = z.object({
  lookedFrom: z.optional(
    time('All attempts since this time were counted; absent if those of all 24 hours were.'),
  ),
  hours: z
    .array(
      z.object({
        from: time('When the hour begins.'),
        depth: whole('The largest number of messages that waited in it.'),
        attempts: z.optional(whole('Attempts that ended in it; absent if it began before `lookedFrom`.')),
        failures: z.optional(whole('How many of them failed.')),
      }),
    )
    .check(z.describe('The last 24 hours, the oldest first; the last one has not ended.')),
});

const ofGroup = {
  count: whole('The number of messages or dead letters in the group.'),
  firstFailedAt: time('When the first of them failed; with `atLeast`, of those that were counted.'),
  lastFailedAt: time('When the last of them failed.'),
};
export const deadLetterGroup = z.object({
  host: text('The host of the destination, with its port if it has one.'),
  responseStatus: whole('The status of the last answer; 0 if there was no answer.'),
  ...ofGroup,
});
const failureGroups = {
  grouped: z.optional(
    whole('How many of the newest failures the groups include, if there was no time to read all of them.'),
  ),
  groups: z
    .array(deadLetterGroup)
    .check(z.describe('The failures by host and status, the most frequent first: at most 100 groups.')),
  errors: z
    .array(z.object({ error: text('The value for the filter `error`.'), ...ofGroup }))
    .check(
      z.describe(
        'The failures by reason: the error that was thrown or answered, or why there was no answer. Only the first line is used, with … in place of numbers and ids. At most 100 groups, like the following lists.',
      ),
    ),
  labels: z
    .array(z.object({ label: z.string(), ...ofGroup }))
    .check(z.describe('The failures by label. A message with two labels counts in both groups.')),
  urls: z
    .array(z.object({ url: z.string(), ...ofGroup }))
    .check(z.describe('The failures by the URL of the message, or of the workflow.')),
};
export const deadLetterCount = z.object({ ...counted.shape, ...failureGroups });

export const countedMessages = z.object({
  ...counted.shape,
  ...z.partial(z.object(failureGroups)).shape,
  states: z.optional(
    z
      .object({
        delayed: whole('Messages whose first attempt is not due yet.'),
        waiting: whole('Messages whose first attempt is due: they wait for their turn or are in flight.'),
        retrying: whole('Messages whose last attempt failed and that will be retried.'),
        open: whole('Messages whose destination answered 202 and that wait for their completion.'),
      })
      .check(z.describe('How many of them are in each state; with `by=state`, unless `atLeast`.')),
  ),
  awaited: z.optional(
    z
      .array(
        z.object({
          messageId,
          url: text('The destination, without `user:password`.'),
          labels: z.optional(z.array(z.string())),
          since: time('When the destination answered 202.'),
        }),
      )
      .check(
        z.describe(
          'With `states`: the 5 messages that have waited longest for their completion, including those of workflow runs.',
        ),
      ),
  ),
});
