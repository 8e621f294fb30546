import { made } from '../../../options/option.ts';
import type { RouteTable } from '../../route.ts';
import { bulk, tooManyBulks } from '../parts/background.ts';
import { bulkId, messageId, messageInAnyState, messagePage, runId } from '../parts/examples.ts';
import type { Errors } from '../parts/errors.ts';
import type { Operations } from '../parts/operation.ts';
import { counting, dueParameters, ofDeliveries } from '../parts/parameters.ts';
import { pull, pullRoutes, tooManyQueues } from './queues.ts';

const notWaiting = /* @__PURE__ */ made(
  () => ['message_not_found', `There is no message "${messageId}" that waits for its delivery.`] as const,
);

const noSuchBulk = /* @__PURE__ */ made(
  () => ['bulk_not_found', `There is no operation "${bulkId}" in the background.`] as const,
);

export const refusalsOfSendingAgain = {
  412: [['retries_over_limit', "Svc-Retries is 6, but the account's limit max_retries is 5."], tooManyQueues],
  413: [
    [
      'body_too_large',
      "The body has 4194305 bytes, but the account's limit max_message_size is 4194304 bytes.",
    ],
  ],
  503: [['not_stored', 'The message could not be stored, and was not accepted; send it again.']],
} as const satisfies Errors;

const completing = {
  body: {
    required: true,
    schema: 'Completion',
    example: {
      status: 200,
      headers: { 'Content-Type': 'application/json' },
      body: '{"pages":12}',
      comment: 'approved by Ada',
    },
  },
  answers: {
    200: {
      description: 'It is completed, by this request or an earlier one.',
      schema: 'Completed',
      example: { messageId, retried: 0, state: 'DELIVERED', comment: 'approved by Ada' },
    },
  },
} as const;

const refusedCompletions = /* @__PURE__ */ made((): Errors => ({
  400: [
    [
      'field_invalid',
      'status: Too small: expected number to be >=200; allowed is {"status": 200 to 599, "headers"?: {"<name>": "<value>"}, "body"?: "<text>" or "bodyBase64"?: "<base64>", "comment"?: "<1 to 200 characters>"}.',
    ],
    ['field_invalid', 'body and bodyBase64 are both given; allowed is one of them.'],
    [
      'field_unknown',
      'result: Unrecognized key: "result"; allowed is {"status": 200 to 599, "headers"?: {"<name>": "<value>"}, "body"?: "<text>" or "bodyBase64"?: "<base64>", "comment"?: "<1 to 200 characters>"}.',
    ],
    ['body_invalid', 'The body is not JSON.'],
  ],
  410: [
    ['completion_too_late', `The completion of the message "${messageId}" is too late: it was cancelled.`],
    [
      'completion_too_late',
      `The completion of the message "${messageId}" is too late: its attempt 1 has ended with the error "The destination answered 202 and did not complete the attempt within 2h.".`,
    ],
  ],
  413: [
    [
      'body_too_large',
      "The body has 4194305 bytes, but the account's limit max_message_size is 4194304 bytes.",
    ],
  ],
}));

export const messagesRoutes = {
  'GET /v2/messages': { access: 'read' },
  'GET /v2/messages/count': { access: 'read' },
  'GET /v2/messages/{messageId}': { access: 'read' },
  'DELETE /v2/messages/{messageId}': { access: 'write', audit: 'messages.cancel' },
  'PATCH /v2/messages/{messageId}': { access: 'write', audit: 'message.change' },
  'POST /v2/messages/{messageId}/publish': { access: 'write' },
  'POST /v2/messages/publish': { access: 'write', audit: 'messages.publish' },
  'DELETE /v2/messages': { access: 'write', audit: 'messages.cancel' },
  'POST /v2/messages/{messageId}/complete': { access: 'write', audit: 'message.complete' },
  // Without a token, because the caller is a destination. The URL is valid for one attempt.
  'POST /v2/complete/{completion}': { access: 'open' },
  ...pullRoutes,
  'GET /v2/bulk': { access: 'read' },
  'GET /v2/bulk/{bulkId}': { access: 'read' },
  'DELETE /v2/bulk/{bulkId}': { access: 'write', audit: 'bulk.stop' },
  'POST /v2/bulk/{bulkId}/resume': { access: 'write', audit: 'bulk.resume' },
} as const satisfies RouteTable;

export const messages = /* @__PURE__ */ made((): Operations<typeof messagesRoutes> => ({
  ...pull,
  'POST /v2/messages/{messageId}/complete': {
    id: 'completeMessage',
    summary: 'Complete the open attempt of a message',
    description:
      'The message was published with `Svc-Deferred`, and its destination answered 202. The request has the answer to its attempt, which is treated like an answer of the destination: it is recorded and called back, and a failure is retried or becomes a dead letter. A second completion changes nothing.',
    ...completing,
    errors: {
      ...refusedCompletions,
      404: [['message_not_found', `There is no message "${messageId}", or it is no longer kept.`]],
      409: [
        [
          'completion_not_awaited',
          `The message "${messageId}" waits for no completion: it was published without Svc-Deferred, or its destination has not answered 202.`,
        ],
      ],
    },
  },
  'POST /v2/complete/{completion}': {
    id: 'completeAttempt',
    summary: 'Complete an attempt at its URL',
    description:
      'The URL is the value of the delivery’s `Svc-Complete-Url`. A caller who knows it needs no token, and can do nothing else with it. The request does the same as `POST /v2/messages/{messageId}/complete` for this one attempt, and may arrive before the destination has answered 202.',
    ...completing,
    errors: {
      ...refusedCompletions,
      404: [['completion_not_found', 'There is no attempt with this completion URL.']],
      429: [
        [
          'rate_limit_reached',
          "The account's limit max_requests_per_second is 100, and this call without a token exceeds it; send it again a moment later.",
        ],
      ],
    },
  },
  'GET /v2/messages': {
    id: 'listMessages',
    summary: 'List the messages',
    description:
      'Waiting messages, or those in the requested states: newest first, one entry for each, without their bodies. A message that has ended is listed as long as the log keeps it. Filters are ANDed, and the values of one filter are ORed. If few messages match, a page may have fewer than requested and still a cursor. With `order=due` it lists those that have not ended by the time of their next attempt, or of the end of an open one, the earliest first; without `from`, those that are due and wait in a line come first. A message that is moved while the pages are read may be in none or in two of them.',
    filters: 'listedMessages',
    query: dueParameters,
    answers: { 200: { description: 'A page of them.', schema: 'MessagePage', example: messagePage } },
    errors: {
      400: [
        [
          'field_invalid',
          'state is "DONE"; allowed are CREATED, ACTIVE, RETRY, DELIVERED, FAILED, CANCELED, CANCELLED, ALL.',
        ],
        ['field_invalid', 'count is "500"; allowed is a whole number from 1 to 100.'],
        ['field_invalid', 'from is given; it is allowed only with order=due.'],
      ],
    },
  },
  'GET /v2/messages/count': {
    id: 'countMessages',
    summary: 'Count the waiting messages',
    description: `Counts the messages that a bulk cancellation with the same parameters would cancel. ${counting}`,
    counts: 'messages',
    query: {
      by: {
        description:
          '`state` also counts them by state. `failure` counts those that have failed and will be retried, and what they have in common, also with the filters of the list.',
        schema: { type: 'string', enum: ['state', 'failure'] },
        example: 'state',
      },
    },
    answers: {
      200: {
        description: 'Their number.',
        schema: 'CountedMessages',
        example: {
          count: 42,
          states: { delayed: 12, waiting: 27, retrying: 2, open: 1 },
          awaited: [{ messageId, url: 'https://example.com/orders', since: 1_767_225_600_000 }],
        },
      },
    },
    errors: {
      400: [
        ['field_invalid', 'label is empty; a filter must have a value.'],
        ['field_invalid', 'by is "label"; allowed is state or failure.'],
      ],
    },
  },
  'GET /v2/messages/{messageId}': {
    id: 'getMessage',
    summary: 'Get a message',
    description:
      'Only while it waits for a delivery. With `state=ALL`, as long as the log keeps it, with its state.',
    query: {
      state: {
        description: 'Also shows a message that has ended.',
        schema: { type: 'string', enum: ['ALL'] },
        example: 'ALL',
      },
    },
    answers: {
      200: {
        description: 'The message.',
        schema: 'MessageAnswer',
        example: messageInAnyState,
      },
    },
    errors: {
      400: [['field_invalid', 'state is "DELIVERED"; allowed is ALL, for a message that has ended as well.']],
      404: [
        notWaiting,
        ['message_not_found', `There is no message "${messageId}", or it is no longer kept.`],
      ],
    },
  },
  'PATCH /v2/messages/{messageId}': {
    id: 'changeMessage',
    summary: 'Change a waiting message',
    description:
      'Changes the time of its next attempt, its retries, timeout, labels and headers, and keeps the rest. It must wait for its first attempt or for a retry, and not be due within 5 seconds, unless it waits in the line of a queue, a flow-control key, its account or a host. There it keeps its place, unless it is moved to a later time. The fields may also be headers of the request, such as `Svc-Delay`.',
    body: { required: false, schema: 'MessageChange', example: { delay: '5m', retries: 3 } },
    answers: {
      200: {
        description: 'It is changed.',
        schema: 'MessageChanged',
        example: { messageId, nextDeliveryTime: 1_767_225_600_000 },
      },
    },
    errors: {
      400: [
        ['field_invalid', 'retries is "many"; allowed is a whole number from 0 to 5.'],
        [
          'field_unknown',
          '"Svc-Method" cannot be changed; allowed are delay, notBefore, retries, timeout, label, Content-Type and Svc-Forward-*.',
        ],
        [
          'message_of_run',
          `The message "${messageId}" belongs to the run "${runId}", which decides its settings.`,
        ],
      ],
      404: [notWaiting],
      409: [
        [
          'attempt_due',
          `The message "${messageId}" is due at 2026-01-01T00:00:00.000Z; it can be changed until 5 seconds before that, or while it waits in a line.`,
        ],
      ],
      412: [['retries_over_limit', "retries is 6, but the account's limit max_retries is 5."]],
    },
  },
  'POST /v2/messages/{messageId}/publish': {
    id: 'publishMessageAgain',
    summary: 'Publish a message again',
    description:
      'Makes a new message to the same URL and through the same queue, with the same body, headers and settings. A message to a URL group is sent to its own endpoint again. Headers of the request change the settings. The old message may wait or have ended; it stays as it is. Messages are kept as long as the log keeps them.',
    configuration: 'retry',
    isHeldToUsage: true,
    answers: {
      200: { description: 'The new message’s id.', schema: 'Published', example: { messageId } },
    },
    errors: {
      400: [
        ['field_invalid', 'Svc-Retries is "many"; allowed is a whole number from 0 to 5.'],
        ['body_invalid', 'The body has 5 bytes; a body is not allowed, because the message has its own.'],
        [
          'message_of_run',
          `The message "${messageId}" belongs to the run "${runId}"; start another run, or resume or restart this one once it has failed.`,
        ],
      ],
      403: [
        [
          'destination_not_allowed',
          'Svc-Callback is "http://10.0.0.1/", which is not a public address; this deployment refuses it.',
        ],
      ],
      404: [
        ['message_not_found', `There is no message "${messageId}", or it is no longer kept.`],
        ['message_not_found', `The body of "${messageId}" is no longer kept.`],
      ],
      ...refusalsOfSendingAgain,
    },
  },
  'POST /v2/messages/publish': {
    id: 'publishMessagesAgain',
    summary: 'Publish many messages again',
    description:
      'Those that were delivered between `fromDate` and `toDate` and match the filters: for a destination that has lost its data. Each is published again under a new id, as by `POST /v2/messages/{messageId}/publish`. Messages of runs, and those whose body is no longer kept, count as failed. It only runs in the background.',
    shared: ofDeliveries,
    configuration: 'retry',
    isHeldToUsage: true,
    answers: {},
    errors: {
      400: [
        ['field_invalid', 'label is empty; a filter must have a value.'],
        ['field_invalid', 'background is not given; allowed is true.'],
      ],
    },
  },
  'DELETE /v2/messages/{messageId}': {
    id: 'cancelMessage',
    summary: 'Cancel a message',
    description: 'No attempt starts after this. An attempt in flight may still arrive.',
    answers: { 200: { description: 'It is cancelled.', schema: 'Cancelled', example: { cancelled: 1 } } },
    errors: { 404: [notWaiting] },
  },
  'DELETE /v2/messages': {
    id: 'cancelMessages',
    summary: 'Cancel many messages',
    description:
      'Either those with the given ids, in the query or in the body, or all that match the filters. Safe to repeat.',
    filters: 'messages',
    body: { required: false, schema: 'MessageIds', example: { messageIds: [messageId] } },
    answers: {
      200: {
        description: 'They are cancelled. With a cursor if the time was too short for all.',
        schema: 'Cancelled',
        example: { cancelled: 42 },
      },
    },
    errors: { 400: [['field_invalid', 'label is empty; a filter must have a value.']] },
  },
  'GET /v2/bulk': {
    id: 'listBulkOperations',
    summary: 'List the bulk operations in the background',
    description: 'The latest 50, newest first. They are kept for 30 days after their last step.',
    answers: { 200: { description: 'The operations.', schema: 'Bulks', example: { operations: [bulk] } } },
  },
  'GET /v2/bulk/{bulkId}': {
    id: 'getBulkOperation',
    summary: 'Get a bulk operation in the background',
    answers: { 200: { description: 'Its progress.', schema: 'Bulk', example: bulk } },
    errors: { 404: [noSuchBulk] },
  },
  'DELETE /v2/bulk/{bulkId}': {
    id: 'stopBulkOperation',
    summary: 'Stop a bulk operation in the background',
    description: 'The step under way, of up to 100 entries, still ends. One that has ended stays as it is.',
    answers: {
      200: { description: 'It is stopped.', schema: 'Bulk', example: { ...bulk, state: 'stopped' } },
    },
    errors: { 404: [noSuchBulk] },
  },
  'POST /v2/bulk/{bulkId}/resume': {
    id: 'resumeBulkOperation',
    summary: 'Resume a bulk operation in the background',
    description: 'Continues where it was stopped or failed. Safe to repeat.',
    answers: { 200: { description: 'It runs.', schema: 'Bulk', example: bulk } },
    errors: {
      404: [noSuchBulk],
      429: [tooManyBulks],
      503: [['busy', `${bulkId} is being changed by many at once; send the request again.`]],
    },
  },
}));
