import * as z from 'zod/mini';
import { headerLists, oneOf, text } from '../options/option.ts';
import { messageId, time } from './answers.ts';

/** The kinds of conditions, in the order in which they are checked. */
export const alarmKinds = ['deadLetters', 'hosts', 'schedules', 'runs', 'limits'] as const;
export type AlarmKind = (typeof alarmKinds)[number];

export const alarmFormats = ['slack', 'pagerduty', 'json'] as const;
export type AlarmFormat = (typeof alarmFormats)[number];
const format = oneOf(
  alarmFormats,
  'The shape of the messages: that of Slack’s incoming webhooks, of PagerDuty’s Events API v2, or one that `docs/alarms.md` describes.',
);

const clockTime = (description: string) =>
  z.string().check(z.regex(/^([01]\d|2[0-3]):[0-5]\d$/), z.describe(description));
const between = (least: number, most: number, description: string) =>
  z.int().check(z.minimum(least), z.maximum(most), z.describe(description));

const deadLetters = z
  .strictObject({
    above: between(0, 1_000, 'The most new dead letters, failed runs included, that are no alarm.'),
    minutes: between(5, 1_440, 'The last minutes in which they are counted.'),
  })
  .check(z.describe('Tells when there are more new dead letters than this.'));
const quietHours = z
  .strictObject({
    from: clockTime('When they begin, such as `22:00`.'),
    to: clockTime('When they end, such as `07:00`, on the next day if that is earlier.'),
    timezone: text('A name of the IANA time zone database, such as `Europe/Berlin`.'),
  })
  .check(z.describe('The part of each day in which nothing is told.'));
const told = {
  hosts: z.boolean().check(z.describe('Whether a host that is down, or fails, is told.')),
  schedules: z.boolean().check(z.describe('Whether a schedule whose last fire failed is told.')),
  runs: z.boolean().check(z.describe('Whether a run that hangs is told.')),
  limits: between(1, 100, 'Tells when this part of a limit is used, in percent.'),
};
const routingKey = z
  .string()
  .check(z.regex(/^[A-Za-z0-9]{32}$/), z.describe('PagerDuty’s integration key: 32 letters and digits.'));

export const alarmFields = { format, routingKey, deadLetters, ...told, quietHours };

const openAlarm = z.object({
  kind: oneOf(alarmKinds, 'The setting that it belongs to.'),
  subject: text(
    'The host, the schedule, the run or the limit; empty for dead letters, and `*` for all others of the kind above twenty.',
  ),
  title: text('What it is, in a few words.'),
  detail: text('A sentence about it, as of the moment when it opened.'),
  openedAt: time('When it was found.'),
  isTold: z.boolean().check(z.describe('Whether it was told: in quiet hours it waits for their end.')),
});

export const alarms = z.object({
  settings: z.optional(
    z
      .object({
        url: text('Without `user:password`. A read-only token sees `/…` in place of the path.'),
        format,
        routingKey: z.optional(text('A read-only token sees `…` in its place.')),
        headers: z.optional(headerLists('A read-only token sees `…` in the place of values.')),
        deadLetters: z.optional(deadLetters),
        hosts: z.optional(told.hosts),
        schedules: z.optional(told.schedules),
        runs: z.optional(told.runs),
        limits: z.optional(told.limits),
        quietHours: z.optional(quietHours),
      })
      .check(z.describe('Absent where the account has no alarms.')),
  ),
  open: z.array(openAlarm).check(z.describe('What is open now, the newest first.')),
});

export const testedAlarm = z.object({
  messageId: messageId.check(z.describe('The id of the message that was sent.')),
});

export const alarmMessage = z.object({
  id: text('The same when an alarm opens and when it is over.'),
  state: z.enum(['open', 'over', 'test']),
  kind: z.optional(oneOf(alarmKinds, 'Absent in a test.')),
  subject: text('As in `GET /v2/alarms`.'),
  title: z.string(),
  detail: z.string(),
  openedAt: time('When it opened.'),
  overAt: z.optional(time('When it was found to be over.')),
  account: text('The account’s `customer_id`, or its id.'),
  region: z.string(),
});
