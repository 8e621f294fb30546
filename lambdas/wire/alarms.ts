import * as z from 'zod/mini';
import { headerLists, oneOf, partOfEach, text } from '../options/option.ts';
import { messageId, time } from './answers.ts';

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

/** A kind of condition that alarms report. */
interface Kind {
  /** Its field in requests and answers. */
  readonly field: z.ZodMiniType;
  /** The field in a row, which may have been written by another release. */
  readonly stored: z.ZodMiniType;
  /** The allowed values in words: of the field, and of its parts by `.<name>`. */
  readonly allowed: Readonly<Record<string, string>>;
  /** The severity in PagerDuty. */
  readonly severity: 'error' | 'warning';
  /** The title of the notice for further conditions, if there are too many to report one by one. */
  readonly more: string;
  /** The label in the form. */
  readonly label: string;
  /** The conditions in words, with the names of numbers as `{name}`. */
  readonly words: string;
  /**
   * The numbers in the form, with their initial values. If the field itself is a number, it has the name of
   * the kind.
   */
  readonly numbers?: Readonly<Record<string, { readonly label: string; readonly first: number }>>;
}

const flag = (description: string) => ({
  field: z.boolean().check(z.describe(description)),
  stored: z.boolean(),
  allowed: { '': 'true or false' },
});

/** All kinds, in the order in which they are checked. */
const kinds = {
  deadLetters: {
    field: z
      .strictObject({
        above: between(
          0,
          1_000,
          'The largest number of new dead letters, including failed runs, that is no alarm.',
        ),
        minutes: between(5, 1_440, 'The number of minutes over which they are counted.'),
      })
      .check(z.describe('Notifies if there are more new dead letters than this.')),
    stored: z.object({ above: z.number(), minutes: z.number() }),
    allowed: {
      '': '{"above": 0 to 1000, "minutes": 5 to 1440}',
      '.above': 'a whole number from 0 to 1000',
      '.minutes': 'a whole number from 5 to 1440',
    },
    severity: 'error',
    more: 'More dead letters',
    label: 'New dead letters',
    words: 'more than {above} dead letters in {minutes} minutes',
    numbers: { above: { label: 'More than', first: 10 }, minutes: { label: 'Within (minutes)', first: 15 } },
  },
  hosts: {
    ...flag('Whether to report a host that is down or fails.'),
    severity: 'error',
    more: 'More hosts are down or fail',
    label: 'A host that is down, or fails',
    words: 'hosts that are down',
  },
  schedules: {
    ...flag('Whether to report a schedule whose last fire failed.'),
    severity: 'error',
    more: 'More schedules fail',
    label: 'A schedule that fails',
    words: 'schedules that fail',
  },
  runs: {
    ...flag('Whether to report a run that hangs.'),
    severity: 'warning',
    more: 'More runs hang',
    label: 'A run that hangs',
    words: 'runs that hang',
  },
  limits: {
    field: between(1, 100, 'Notifies if this percentage of a limit is used.'),
    stored: z.number(),
    allowed: { '': 'a whole number from 1 to 100, in percent' },
    severity: 'warning',
    more: 'More limits are nearly reached',
    label: 'A limit that is nearly reached',
    words: 'limits used by {limits} %',
    numbers: { limits: { label: 'Percent used', first: 80 } },
  },
} as const satisfies Readonly<Record<string, Kind>>;
export type AlarmKind = keyof typeof kinds;

export const kindTable: Readonly<Record<AlarmKind, Kind>> = kinds;
const isKind = (name: string): name is AlarmKind => Object.hasOwn(kinds, name);
export const alarmKinds: readonly AlarmKind[] = Object.keys(kinds).filter(isKind);

export const storedKinds = z.partial(z.object(partOfEach(kinds, 'stored'))).shape;

const quietHours = z
  .strictObject({
    from: clockTime('When they begin, such as `22:00`.'),
    to: clockTime('When they end, such as `07:00`; on the next day if that is before they begin.'),
    timezone: text('A name of the IANA time zone database, such as `Europe/Berlin`.'),
  })
  .check(z.describe('The part of each day in which no notifications are sent.'));
const routingKey = z
  .string()
  .check(z.regex(/^[A-Za-z0-9]{32}$/), z.describe('PagerDuty’s integration key: 32 letters and digits.'));

const told = { ...partOfEach(kinds, 'field'), quietHours };

export const alarmFields = { format, routingKey, told };

const openAlarm = z.object({
  kind: oneOf(alarmKinds, 'The setting that it belongs to.'),
  subject: text(
    'The host, the schedule, the run or the limit; empty for dead letters, and `*` for all others of the kind above twenty.',
  ),
  title: text('A short description.'),
  detail: text('A sentence about it, from the moment when it opened.'),
  openedAt: time('When it was found.'),
  isTold: z
    .boolean()
    .check(z.describe('Whether a notification was sent. During quiet hours, it is sent when they end.')),
});

export const alarms = z.object({
  settings: z.optional(
    z
      .object({
        url: text('Without `user:password`. A read-only token sees `/…` in place of the path.'),
        format,
        routingKey: z.optional(text('A read-only token sees `…` in its place.')),
        headers: z.optional(headerLists('A read-only token sees `…` in the place of values.')),
        ...z.partial(z.object(told)).shape,
      })
      .check(z.describe('Absent if the account has no alarms.')),
  ),
  open: z.array(openAlarm).check(z.describe('The alarms that are open now, the newest first.')),
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
