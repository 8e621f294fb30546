/**
 * What the API answers. The types of records come from here, and so does the API's description; nothing is checked with
 * these at run time, so only the description's bundle has them.
 */
import * as z from 'zod/mini';
import { methods } from './configuration.ts';
import { logStates } from './filters.ts';

/** A shape's value as the code sees that makes it. */
export type Answer<Shape extends z.ZodMiniType> = Readable<z.infer<Shape>>;

type Readable<T> = T extends readonly (infer Item)[]
  ? readonly Readable<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]: Readable<T[Key]> }
    : T;

const text = (description: string) => z.string().check(z.describe(description));
const whole = (description: string) => z.int().check(z.minimum(0), z.describe(description));
const time = (description: string) => whole(`${description} Unix milliseconds.`);
const headerLists = (description: string) =>
  z.record(z.string(), z.array(z.string())).check(z.describe(description));
const cursor = z.optional(text('Where to go on; absent at the end.'));

const messageId = z.string().check(z.regex(/^msg_[0-9A-HJKMNP-TV-Z]{26}$/));
const dlqId = z.string().check(z.regex(/^dlq_[0-9A-HJKMNP-TV-Z]{26}$/));

export const error = z.object({
  error: text('One sentence that names the field, what is wrong with its value, and what is allowed.'),
});

export const published = z.object({
  messageId,
  deduplicated: z.optional(
    z.literal(true).check(z.describe('It was published before; this is the first one’s id.')),
  ),
});
export const publishedToEndpoint = z.object({ ...published.shape, url: text('The endpoint’s URL.') });
export const publishAnswer = z.union([
  published,
  z
    .array(publishedToEndpoint)
    .check(z.describe('One for each endpoint, where the destination is a URL group.')),
]);

export const itemError = z.object({
  ...error.shape,
  status: whole('As the message would have been answered by itself.'),
});
export const batchAnswer = z
  .array(z.union([published, z.array(publishedToEndpoint), itemError]))
  .check(z.describe('An answer for each message, in its place.'));

/** What messages, log entries and dead letters have in common. */
const shared = {
  url: z.string(),
  method: z.enum(methods),
  topicName: z.optional(text('The URL group that it was published to.')),
  endpointName: z.optional(text('The endpoint’s name within the group.')),
  queueName: z.optional(z.string()),
  scheduleId: z.optional(z.string()),
  label: z.optional(text('The first of its labels.')),
  labels: z.optional(z.array(z.string())),
  flowControlKey: z.optional(z.string()),
};
const callerIp = {
  callerIP: text('`callerIp`, in an older spelling.'),
  callerIp: text('The address it was published from.'),
};

/** How deliveries are made. */
export const delivery = z.object({
  ...shared,
  header: headerLists('What the destination gets: a list of values for each name.'),
  maxRetries: whole('How often a failed delivery is tried again.'),
  retryDelayExpression: z.optional(text('As `Svc-Retry-Delay` has it.')),
  timeout: whole('Seconds that the destination may take to answer.'),
  parallelism: z.optional(whole('Deliveries in flight at once.')),
  rate: z.optional(whole('Deliveries that may start in one period.')),
  ratePerSecond: z.optional(whole('`rate`, for older clients.')),
  period: z.optional(whole('Seconds.')),
});

export const messageWithoutBody = z.object({
  messageId,
  ...delivery.shape,
  ...callerIp,
  notBefore: time('Before this it is not delivered.'),
  createdAt: time('When it was published.'),
  callback: z.optional(z.string()),
  failureCallback: z.optional(z.string()),
});

const body = {
  body: z.optional(text('The body, where it is UTF-8 text, or its hash where it is redacted.')),
  bodyBase64: z.optional(text('The body in base64, where it is not UTF-8 text.')),
};

export const message = z.object({
  ...messageWithoutBody.shape,
  ...body,
  retried: whole('Attempts made so far.'),
  nextDeliveryTime: time('When it is delivered next, at the earliest.'),
});

export const listedDeadLetter = z.object({
  ...messageWithoutBody.shape,
  dlqId,
  retried: whole('Retries that were made.'),
  responseStatus: whole('Of the last answer; 0 where there was none.'),
  responseHeader: headerLists('Of the last answer.'),
  error: z.optional(text('Why there was no answer.')),
});
export const deadLetter = z.object({
  ...listedDeadLetter.shape,
  ...body,
  responseBody: z.optional(
    text('The last answer’s body, where it is UTF-8 text; at most 20,000 bytes of it.'),
  ),
  responseBodyBase64: z.optional(text('The same in base64, where it is not UTF-8 text.')),
});
export const deadLetterPage = z.object({ cursor, messages: z.array(listedDeadLetter) });

export const logEntry = z.object({
  time: time('When it happened.'),
  state: z.enum(logStates),
  messageId,
  ...shared,
  ...callerIp,
  createdAt: time('When the message was published.'),
  notBefore: z.optional(time('With `CREATED`.')),
  retried: z.optional(whole('Of attempts: 0 for the first delivery, n for the nth retry.')),
  responseStatus: z.optional(whole('With `DELIVERED` and `ERROR`; 0 where there was no answer.')),
  responseHeaders: z.optional(headerLists('With `ERROR`.')),
  responseBody: z.optional(text('With `ERROR`: in base64, at most 20,000 bytes of it.')),
  error: z.optional(text('With `ERROR`: why there was no answer.')),
  nextDeliveryTime: z.optional(time('With `RETRY` and `ERROR`: when the next attempt is made.')),
});
export const logPage = z.object({ cursor, logs: z.array(logEntry) });
export const eventPage = z.object({
  ...logPage.shape,
  events: z.array(logEntry).check(z.describe('`logs`, for older clients.')),
});

export const urlGroup = z.object({
  name: z.string(),
  createdAt: time('When it got its first endpoint.'),
  updatedAt: time('When it last changed.'),
  endpoints: z.array(z.object({ url: z.string(), name: z.optional(z.string()) })),
  headers: headerLists('Configuration of every message to the group, unless its request says otherwise.'),
});
export const urlGroups = z.array(urlGroup);

export const queue = z.object({
  name: z.string(),
  createdAt: time('When it was created.'),
  updatedAt: time('When it last changed.'),
  parallelism: whole('Deliveries in flight at once.'),
});
export const queues = z.array(queue);

export const schedule = z.object({
  scheduleId: z.string(),
  cron: text('As `Svc-Cron` has it.'),
  destination: text('As it was given: a URL, or the name of a URL group.'),
  createdAt: time('When it was created.'),
  method: z.enum(methods),
  header: delivery.shape.header,
  ...body,
  retries: whole('How often a failed delivery is tried again.'),
  retryDelayExpression: delivery.shape.retryDelayExpression,
  timeout: delivery.shape.timeout,
  delay: z.optional(whole('Seconds that each message waits.')),
  queueName: z.optional(z.string()),
  label: shared.label,
  labels: shared.labels,
  flowControlKey: shared.flowControlKey,
  parallelism: delivery.shape.parallelism,
  rate: delivery.shape.rate,
  ratePerSecond: delivery.shape.ratePerSecond,
  period: delivery.shape.period,
  callback: z.optional(z.string()),
  failureCallback: z.optional(z.string()),
  callerIP: text('`callerIp`, in an older spelling.'),
  callerIp: text('The address it was created from.'),
  isPaused: z.boolean(),
  lastScheduleTime: z.optional(time('The minute of its last fire.')),
  nextScheduleTime: z.optional(time('The minute of its next fire; absent while it is paused.')),
  lastScheduleStates: z.optional(
    z
      .record(z.string(), z.enum(['IN_PROGRESS', 'SUCCESS', 'FAIL']))
      .check(z.describe('By the ids of the last fire’s messages; where it made none, by the reason.')),
  ),
});
export const schedules = z.array(schedule);
export const scheduled = z.object({ scheduleId: z.string() });

export const messageIdAnswer = z.object({ messageId });
export const retriedPage = z.object({ cursor, responses: z.array(messageIdAnswer) });
export const cancelled = z.object({ cancelled: whole('How many messages were cancelled.'), cursor });
export const deleted = z.object({ deleted: whole('How many entries were deleted.'), cursor });

export const signingKeys = z.object({
  current: text('What deliveries are signed with.'),
  next: text('What takes its place at the next rotation.'),
});

const seconds = (description: string) => whole(`${description} Unix seconds.`);

/** The account record; its names and types are the contract's. */
export const account = z.object({
  customer_id: z.optional(text('The customer: an e-mail address or a team.')),
  id: z.uuid(),
  token: text('For all messaging operations.'),
  read_only_token: text('For those that change nothing.'),
  active: z.boolean().check(z.describe('Whether its tokens work and its messages are delivered.')),
  state: text('`active`, `passive` or `deleted`.'),
  modifying_state: z.optional(
    text('`activated`, `suspended` or `deleted`, while a change of the state is on its way to all workers.'),
  ),
  last_plan_upgrade_time: z.optional(seconds('When it went from the free plan to the paid one.')),
  timeout: whole('Seconds that a destination may take to answer.'),
  max_message_size: whole('Bytes.'),
  max_retries: whole('How often a failed delivery may be tried again.'),
  max_delay: whole('Seconds.'),
  max_requests_per_day: whole('Messages a day, UTC, from which on answers carry a warning.'),
  max_requests_per_day_hard: whole('Messages a day, UTC, from which on they are refused.'),
  max_requests_per_second: whole('Requests to the API.'),
  max_bandwidth_per_second: whole('Bytes of requests’ bodies.'),
  max_dlq_size: whole('Entries of the dead letter queue.'),
  max_dlq_retention_time_milis: whole('Milliseconds that dead letters are kept.'),
  max_topics: whole('URL groups.'),
  max_endpoints_per_topic: whole('Endpoints of one URL group.'),
  max_schedules: whole('Schedules.'),
  max_events_size: whole('Bytes of a failed attempt’s response that its event keeps.'),
  max_parallelism: whole('Deliveries in flight at once that a flow-control key or a queue may ask for.'),
  max_global_parallelism: whole('Deliveries in flight at once.'),
  max_queues: whole('Queues.'),
  prod_pack_enabled: z.boolean(),
  prometheus_enabled: z
    .enum(['true', 'false'])
    .check(z.describe('Whether its usage is exported as metrics of its own.')),
  type: z.enum(['free', 'paid']),
  region: text('Where it is served.'),
  reserved_type: z.optional(z.string()),
  reserved_price: z.optional(whole('Dollars.')),
  created_by: z.optional(text('The e-mail address of the user who created it.')),
  creation_time: seconds('When it was created.'),
  deletion_time: seconds('When it was deleted; 0 while it is not.'),
  budget: whole('Dollars a month; 0 is no limit.'),
  enterprise: z.optional(z.object({ enabled: z.boolean() })),
});
export const accounts = z.array(account);

const point = z.object({
  x: text('The day’s beginning, UTC, as in `2026-11-20T00:00:00.000Z`.'),
  y: z.number(),
});
export const accountStats = z.object({
  days: z
    .array(z.string())
    .check(z.describe('The names of the days that the lists below are of, in their order.')),
  daily_requests: z.array(point).check(z.describe('Messages that were sent, callbacks not included.')),
  daily_messages: z.array(point).check(z.describe('All messages, callbacks included.')),
  daily_calls: z.array(point).check(z.describe('Requests to the API, of every kind.')),
  daily_bandwidths: z.array(point).check(z.describe('Bytes of requests’ bodies.')),
  daily_billings: z.array(point).check(z.describe('Dollars, at the deployment’s price of a message.')),
  total_monthly_requests: whole('Of this month.'),
  total_monthly_messages: whole('Of this month.'),
  total_monthly_bandwidth: whole('Of this month, in bytes.'),
  total_monthly_billing: z.number().check(z.describe('Of this month, in dollars.')),
});

export const health = z.object({ status: z.literal('ok'), region: z.string() });
/** An OpenAPI document. */
export const description = z.looseObject({ openapi: z.string() });
export const nothing = z.object({});
