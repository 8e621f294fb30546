/** The shapes of answers about accounts; see `answers.ts`. */
import * as z from 'zod/mini';
import { text, whole } from '../options/option.ts';
import { cursor, time } from './answers.ts';
import { optionalAnswers } from './accountFields.ts';
import { limitMeanings } from './limitMeanings.ts';
import { eachLimit } from '../value/limits.ts';

const used = {
  requests: whole('Messages that requests, schedules and retries created. The daily limits count these.'),
  messages: whole('All messages, callbacks included. The budget counts these.'),
  calls: whole('Requests to the API, of every kind.'),
  bytes: whole('Bytes of requests’ bodies.'),
};
const ends = {
  delivered: z.optional(
    whole('Messages that were delivered; like the others, absent until the number is known.'),
  ),
  failed: z.optional(whole('Messages that failed after their last attempt.')),
  cancelled: z.optional(whole('Messages that were cancelled, including those of cancelled runs.')),
};
const outcomes = {
  accepted: whole('Messages that were accepted for delivery, callbacks included.'),
  ...ends,
};
const usedOnDay = z.object({ ...used, ...outcomes });
export const ownStats = z.object({
  access: z.enum(['read', 'write']).check(z.describe('The rights of the token of this request.')),
  account: z.object({
    id: z.uuid(),
    customer_id: z.optional(z.string()),
    type: z.enum(['free', 'paid']),
    region: z.string(),
    deployment: text('The name of the deployment; `local` on the local stage.'),
  }),
  limits: z.object(eachLimit((name) => whole(limitMeanings[name]))),
  today: usedOnDay,
  days: z
    .array(z.object({ day: text('The day in UTC, such as `2026-11-20`.'), ...usedOnDay.shape }))
    .check(z.describe('The last 30 days, today included, the oldest first.')),
  hours: z
    .array(z.object({ hour: time('The hour’s beginning.'), ...outcomes }))
    .check(z.describe('The last 48 hours, this one included, the oldest first.')),
  lastHour: z
    .array(z.object({ from: time('When the step begins.'), ...ends }))
    .check(z.describe('The last hour in twelve steps of five minutes, this one included, the oldest first.')),
  countedUntil: z.optional(
    time(
      'Outcomes after this time are not all counted yet, because there were too many for one answer; later answers count the rest. Absent if everything is counted.',
    ),
  ),
  month: z.object({
    messages: used.messages,
    bytes: used.bytes,
    cost: z.number().check(z.describe('Dollars, at the deployment’s price of a message.')),
    budget: whole('Dollars a month; 0 is no limit.'),
  }),
  inFlight: whole(
    'Slots in use by deliveries in flight, and for up to 70 s by workers for their next deliveries.',
  ),
  deadLetters: whole(
    'Kept dead letters, including those of workflows. Those that expire today count until the end of the day (UTC).',
  ),
});

export const signingKeys = z.object({
  current: text('The keys that sign deliveries.'),
  next: text('The key that replaces it at the next rotation.'),
});

export const auditEntry = z.object({
  time: time('The time right before the change was made.'),
  actor: text(
    '`token`, `readOnlyToken`, the id of a named token, `operator`, or `service` for an endpoint that answered 410.',
  ),
  action: text('The action, such as `queue.pause`.'),
  subject: z.optional(
    text(
      'The subject of the change: a name or an id, the filters of a bulk operation, or the fields of an account that were set.',
    ),
  ),
  address: z.optional(text('The IP address of the last request.')),
  count: z.optional(whole('How often it was done within the minute, if more than once.')),
  number: z.optional(
    whole('How many messages, dead letters or runs it cancelled, deleted, retried, resumed or restarted.'),
  ),
  changes: z.optional(
    z
      .array(
        z.object({
          field: text('A setting, such as `parallelism` or `header.X-Tenant`.'),
          before: z.optional(text('The earlier value; absent if there was none.')),
          after: z.optional(text('The new value; absent if there is none.')),
        }),
      )
      .check(
        z.describe(
          'The changes, at most 2 KB: long values are cut, values of forwarded headers and failure callbacks are `…`, and a body is its size. For repetitions within a minute: from before the first to after the last.',
        ),
      ),
  ),
});
export const auditPage = z.object({ cursor, entries: z.array(auditEntry) });

const seconds = (description: string) => whole(`${description} Unix seconds.`);

/** The account record, with names and types of the wire protocol. */
export const account = z.object({
  customer_id: z.optional(text('The customer: an e-mail address or a team.')),
  id: z.uuid(),
  token: text('For all messaging operations.'),
  read_only_token: text('For read-only operations.'),
  active: z.boolean().check(z.describe('Whether its tokens work and its messages are delivered.')),
  state: text('`active`, `passive` or `deleted`.'),
  modifying_state: z.optional(
    text('`activated`, `suspended` or `deleted`, while a change of the state has not reached all workers.'),
  ),
  last_plan_upgrade_time: z.optional(seconds('When it changed from the free plan to the paid plan.')),
  ...eachLimit((name) => whole(limitMeanings[name])),
  prod_pack_enabled: z.boolean(),
  prometheus_enabled: z
    .enum(['true', 'false'])
    .check(z.describe('Whether its usage is exported as separate metrics.')),
  type: z.enum(['free', 'paid']),
  region: text('Its region.'),
  reserved_type: z.optional(z.string()),
  reserved_price: z.optional(whole('Dollars.')),
  created_by: z.optional(text('The e-mail address of the user who created it.')),
  creation_time: seconds('When it was created.'),
  deletion_time: seconds('When it was deleted; 0 if it was not.'),
  budget: whole('Dollars a month; 0 is no limit.'),
  ...optionalAnswers,
});
export const accounts = z.array(account);

export const testedCallback = z.object({
  status: whole('The status that the failure callback answered; 0 if there was no answer.'),
  error: z.optional(text('Why there was no answer.')),
  body: z.optional(text('The beginning of the answer’s body.')),
});

export const namedToken = z.object({
  id: text('Its id, in the audit trail and to revoke it.'),
  name: text('The purpose of the token.'),
  scope: z
    .enum(['full', 'read', 'publish'])
    .check(z.describe('`full`: everything. `read`: read-only operations. `publish`: publish and notify.')),
  destinations: z.optional(
    z
      .array(z.string())
      .check(
        z.describe(
          'The destinations that it may publish to: beginnings of URLs, ARNs of destinations in AWS, and names of URL groups and queues. Absent if there is no restriction.',
        ),
      ),
  ),
  made_by: text(
    'Who created it: the id of a named token, with which it is revoked; `token` for the account’s own token; or `operator`.',
  ),
  created_at: seconds('When it was created.'),
  expires_at: z.optional(seconds('When it expires; absent if it does not expire.')),
  last_used: z.optional(text('The last day on which it was used, such as `2026-11-20`, UTC.')),
  overlap_until: z.optional(
    seconds('After a rotation: until when its earlier secret is accepted as well; absent after that.'),
  ),
});
export const namedTokens = z.array(namedToken);
export const ownTokens = z.object({
  token: text('The account’s token, which may do everything. It is not shown again.'),
  readOnlyToken: text('The token that changes nothing.'),
});
export const madeToken = z.extend(namedToken, { token: text('The token. It is not shown again.') });

const point = z.object({
  x: text('The day’s beginning, UTC, as in `2026-11-20T00:00:00.000Z`.'),
  y: z.number(),
});
export const accountStats = z.object({
  days: z.array(z.string()).check(z.describe('The days of the lists below, in their order.')),
  daily_requests: z.array(point).check(z.describe('Messages that were sent, callbacks not included.')),
  daily_messages: z.array(point).check(z.describe('All messages, callbacks included.')),
  daily_calls: z.array(point).check(z.describe('Requests to the API, of every kind.')),
  daily_bandwidths: z.array(point).check(z.describe('Bytes of requests’ bodies.')),
  daily_billings: z.array(point).check(z.describe('Dollars, at the deployment’s price of a message.')),
  total_monthly_requests: whole('Requests of this month.'),
  total_monthly_messages: whole('Messages of this month.'),
  total_monthly_bandwidth: whole('Bytes of this month.'),
  failed_today: z.optional(
    whole('Messages that failed permanently since midnight, UTC, when they were last counted.'),
  ),
  waiting: z.optional(whole('Messages that had not ended when they were last counted.')),
  counted_at: z.optional(
    whole('When both were last counted, in Unix seconds. They are counted hourly, and absent before that.'),
  ),
  total_monthly_billing: z.number().check(z.describe('Dollars of this month.')),
});
