/**
 * The shapes of the API's answers. The functions import only their types; the API's description is made from the shapes, and
 * the console checks each answer with them.
 */
import { idPattern } from '../shared/idPattern.ts';
import * as z from 'zod/mini';
import { answered } from '../options/described.ts';
import { headerLists, text, whole, type Readable } from '../options/option.ts';
import { holds } from './holdAnswers.ts';
import { logStates, messageStates } from './states.ts';

export type Answer<Shape extends z.ZodMiniType> = Readable<z.infer<Shape>>;

export type Given<Shape extends z.ZodMiniType> = Readable<z.input<Shape>>;

export const time = (description: string) => whole(`${description} Unix milliseconds.`);
export const cursor = z.optional(text('The cursor of the next page; absent on the last page.'));

export const messageId = z.string().check(z.regex(new RegExp(`^msg_${idPattern}$`)));
export const dlqId = z.string().check(z.regex(new RegExp(`^dlq_${idPattern}$`)));

export const published = z.object({
  messageId,
  deduplicated: z.optional(
    z.literal(true).check(z.describe('It was published before; this is the first one’s id.')),
  ),
  debounced: z.optional(z.literal(true).check(z.describe('Others with its `Svc-Debounce-Id` have it, too.'))),
});
export const publishedToEndpoint = z.object({
  ...published.shape,
  url: text('The endpoint’s URL, without `user:password`.'),
});
export const publishAnswer = z.union([
  published,
  z
    .array(publishedToEndpoint)
    .check(z.describe('One for each endpoint, where the destination is a URL group.')),
]);

/** The settings of a delivery and its callbacks, as messages, schedules, dead letters and log entries show them. */
export const settings = z.object(answered);

/** The origin and destination of messages, log entries and dead letters. */
const addressed = {
  messageId,
  url: text('The destination, without `user:password`.'),
  topicName: z.optional(text('The URL group that it was published to.')),
  endpointName: z.optional(text('The endpoint’s name within the group.')),
  queueName: z.optional(z.string()),
  scheduleId: z.optional(z.string()),
  callerIP: text('`callerIp`, in an older spelling.'),
  callerIp: text('The IP address that published it.'),
};

const retriedFrom = z.optional(
  text('The message that this one was created from, by retrying a dead letter or publishing again.'),
);

export const messageWithoutBody = z.object({
  ...addressed,
  ...settings.shape,
  notBefore: time('Before this it is not delivered.'),
  createdAt: time('When it was published.'),
  retriedFrom,
  retriedAs: z.optional(text('The latest message that was created from this one in that way.')),
  callbackOf: z.optional(text('The message that this one reports on, as its callback or failure callback.')),
});

export const body = {
  body: z.optional(text('The body if it is UTF-8 text, or its hash if it is redacted.')),
  bodyBase64: z.optional(
    text('The body in base64 if it is not UTF-8 text, or is too long to be sent as text.'),
  ),
};

export const message = z.object({
  ...messageWithoutBody.shape,
  ...body,
  retried: whole('Attempts made so far.'),
  nextDeliveryTime: time('The earliest time of the next delivery.'),
});

const circuitStates = ['open', 'half-open', 'closing'] as const;

export const circuit = z.object({
  host: text('The host, with its port if the URL has one.'),
  state: z
    .enum(circuitStates)
    .check(
      z.describe(
        '`open`: no delivery is made. `half-open`: one delivery may be made, the probe. `closing`: the host answers again, and waiting deliveries are released.',
      ),
    ),
  waiting: whole('Waiting deliveries. A delivery of a cancelled message counts until its turn comes.'),
  inFlight: whole('Deliveries in flight that had been waiting.'),
  openedAt: z.optional(time('When the host went down; absent once it answers again.')),
  nextProbeAt: z.optional(time('The earliest time of the next probe; absent once the host answers again.')),
  failures: whole('Failures in a row.'),
  failedProbes: whole('Probes that have failed since it was opened.'),
  lastStatus: whole('The status of the last failure; 0 if there was no answer.'),
  lastError: z.optional(text('Why there was no answer.')),
});

const status = {
  state: z.enum(messageStates),
  retried: message.shape.retried,
  responseStatus: z.optional(
    whole('The status of the last answer; 0 if there was no answer; absent before the first attempt.'),
  ),
  nextDeliveryTime: z.optional(
    time('The earliest time of the next delivery; absent once the message has ended.'),
  ),
  debounced: z.optional(
    z
      .literal(true)
      .check(z.describe('With `CREATED`: others with its `Svc-Debounce-Id` may replace it until it is due.')),
  ),
  completionDeadline: z.optional(
    time('With `ACTIVE`: when its attempt fails unless its destination completes it before.'),
  ),
  endedAt: z.optional(time('When it was delivered, failed or was cancelled.')),
  workflowRunId: z.optional(
    text('The workflow run that it belongs to. Only the run can cancel it or publish it again.'),
  ),
};
export const listedMessage = z.object({ ...messageWithoutBody.shape, ...status });
export const messagePage = z.object({
  cursor,
  messages: z.array(listedMessage),
  count: z.optional(whole('With `order=due`, if `isWhole`: how many are due in the period.')),
  steps: z.optional(
    z
      .array(z.object({ from: time('When the step begins.'), count: whole('How many are due in it.') }))
      .check(z.describe('With `order=due` and `steps`, if `isWhole`: the earliest first.')),
  ),
  isWhole: z.optional(
    z
      .boolean()
      .check(
        z.describe(
          'With `order=due`: whether all waiting messages are known. If not, later ones may be missing; the next request reads on.',
        ),
      ),
  ),
});
/** A message in any state, for `GET /v2/messages/{messageId}?state=ALL`. */
export const messageInAnyState = z.object({
  ...messageWithoutBody.shape,
  ...body,
  ...status,
  heldBy: z.optional(
    circuit.check(z.describe('The circuit of its host, while its next attempt waits for that.')),
  ),
  holds: z.optional(holds.check(z.describe('The holds for whose end its next attempt waits.'))),
  callbackIds: z
    .array(messageId)
    .check(z.describe('Its callbacks, in the order of its attempts: each is a message.')),
  dlqId: z.optional(text('If it failed, its dead letter, which may have been retried or deleted since.')),
});
export const messageAnswer = z.union([message, messageInAnyState]);

export const completed = z.object({
  messageId,
  retried: whole('The completed attempt’s retries before it: 0 for attempt 1.'),
  state: z
    .enum(['DELIVERED', 'RETRY', 'FAILED', 'CANCELED'])
    .check(z.describe('The effect of the answer on the message.')),
  comment: z.optional(text('The comment that was recorded: that of the first completion.')),
});

export const changedMessage = z.object({
  messageId,
  nextDeliveryTime: time('When its next attempt is due.'),
});

export const listedDeadLetter = z.object({
  ...messageWithoutBody.shape,
  dlqId,
  retried: whole('Retries that were made.'),
  failedAt: time('When the last attempt failed.'),
  expiresAt: time('When it is deleted.'),
  responseStatus: whole('The status of the last answer; 0 if there was no answer.'),
  responseHeader: headerLists('The headers of the last answer.'),
  responseBody: z.optional(
    text(
      'The body of the last answer if it is UTF-8 text: the first 1,024 bytes in lists, and up to the account’s `max_events_size` for a single dead letter.',
    ),
  ),
  responseBodyBase64: z.optional(
    text('The same in base64 if it is not UTF-8 text, or is too long to be sent as text.'),
  ),
  error: z.optional(text('Why there was no answer.')),
});
export const deadLetter = z.object({ ...listedDeadLetter.shape, ...body });
export const searched = z.optional(
  whole('With the filter `body`: the rows whose bodies this answer is made of.'),
);
export const deadLetterPage = z.object({ cursor, searched, messages: z.array(listedDeadLetter) });

export const logEntry = z.object({
  time: time('When it happened.'),
  state: z.enum(logStates),
  ...addressed,
  ...z.partial(settings).shape,
  method: settings.shape.method,
  retriedFrom,
  createdAt: time('When the message was published.'),
  notBefore: z.optional(time('With `CREATED`.')),
  retried: z.optional(whole('Only for attempts: the retries before it, so 0 for attempt 1.')),
  responseStatus: z.optional(whole('Only with `DELIVERED` and `ERROR`; 0 if there was no answer.')),
  responseHeaders: z.optional(headerLists('With `ERROR`, and with `DELIVERED` if the answer is kept.')),
  responseBody: z.optional(
    text(
      'In base64: with `ERROR`, as much of it as the account’s `max_events_size`; with `DELIVERED`, as much as its `max_delivered_answer_size`.',
    ),
  ),
  error: z.optional(text('With `ERROR`: why there was no answer.')),
  completedBy: z.optional(
    text('With `DELIVERED` and `ERROR`: the token that completed the attempt, its id or `token`.'),
  ),
  comment: z.optional(text('With `DELIVERED` and `ERROR`: the comment of the completion.')),
  nextDeliveryTime: z.optional(time('With `RETRY` and `ERROR`: when the next attempt is made.')),
});
export const logPage = z.object({ cursor, searched, logs: z.array(logEntry) });
export const event = z.object({
  ...logEntry.shape,
  retryDelayExpr: z.optional(text('`retryDelayExpression`, for older clients.')),
  responseHeader: z.optional(headerLists('`responseHeaders`, for older clients.')),
  callbackHeaders: z.optional(headerLists('The headers that the callback is sent with.')),
  failureCallbackHeaders: z.optional(headerLists('The headers that the failure callback is sent with.')),
});
export const eventPage = z.object({
  cursor,
  searched,
  logs: z.array(event),
  events: z.array(event).check(z.describe('`logs`, for older clients.')),
});

/** The part of a schedule that comes from its request, as `scheduleSettings.ts` stores it. */
export const scheduleSettings = z.object({
  ...z.omit(settings, { maxRetries: true }).shape,
  retries: settings.shape.maxRetries,
  delay: z.optional(whole('Seconds that each message waits.')),
  queueName: z.optional(z.string()),
  callerIP: text('`callerIp`, in an older spelling.'),
  callerIp: text('The address it was created from.'),
});
export const cronZone = text(
  'Its zone, by its name in the IANA time zone database; `UTC` if the expression names no zone.',
);
export const fireStates = z.record(z.string(), z.enum(['IN_PROGRESS', 'SUCCESS', 'FAIL']));
export const scheduleWithoutBody = z.object({
  scheduleId: z.string(),
  cron: text('The cron expression, in the form of `Svc-Cron`.'),
  cronInWords: text('When it fires, in English. The times are those of its zone.'),
  timezone: cronZone,
  destination: text(
    'The destination as it was given: a URL, without `user:password`, or the name of a URL group.',
  ),
  createdAt: time('When it was created.'),
  ...scheduleSettings.shape,
  catchUp: z.optional(
    z
      .enum(['1', 'all'])
      .check(z.describe('The missed fires that it makes up for, as `Svc-Catch-Up` has it.')),
  ),
  isPaused: z.boolean(),
  lastScheduleTime: z.optional(time('The minute of its last fire.')),
  nextScheduleTime: z.optional(time('The minute of its next fire; absent while it is paused.')),
  lastScheduleStates: z.optional(
    fireStates.check(
      z.describe(
        'The states of the last fire’s messages by their ids; the reason if it published no message.',
      ),
    ),
  ),
});
export const schedule = z.object({ ...scheduleWithoutBody.shape, ...body });
export const schedules = z.array(schedule);
export const scheduled = z.object({ scheduleId: z.string() });
export const messageIdAnswer = z.object({ messageId });
export const retriedPage = z.object({ cursor, responses: z.array(messageIdAnswer) });
export const cancelled = z.object({ cancelled: whole('How many messages were cancelled.'), cursor });
export const deleted = z.object({ deleted: whole('How many entries were deleted.'), cursor });

/** The answer to a count: of all matches, or of those that were counted in the time. */
export const counted = z.object({
  count: z.optional(
    whole('How many were counted in time; absent if it is unknown because no message was found in time.'),
  ),
  atLeast: z.optional(z.literal(true).check(z.describe('Whether there may be more: the cursor counts on.'))),
  read: z.optional(whole('With `atLeast`: how many entries were read.')),
  readUntil: z.optional(
    time('With `atLeast`: the time of the last entry that was read; they are read newest first.'),
  ),
  cursor,
});
export const health = z.object({ status: z.literal('ok'), region: z.string() });
export const description = z.looseObject({ openapi: z.string() });
export const nothing = z.object({});
