import { made } from '../../../options/option.ts';
import type { RouteTable } from '../../route.ts';
import { messageId, queue, start } from '../parts/examples.ts';
import { cursorHeaders, goesOn } from '../parts/arrays.ts';
import type { Operation, Operations } from '../parts/operation.ts';

const noSuchQueue = ['queue_not_found', 'There is no queue "missing".'] as const;

export const tooManyQueues = [
  'queue_limit_reached',
  "The queue would be number 101, but the account's limit max_queues is 100.",
] as const;

const busy = ['busy', 'It is being changed by many at once; send the change again.'] as const;

const pausing = (action: 'pause' | 'resume'): Operation => ({
  id: `${action}Queue`,
  summary: action === 'pause' ? 'Pause a queue' : 'Resume a queue',
  description:
    action === 'pause'
      ? 'No message starts until the queue is resumed. A message that has started continues, including its retries and callbacks.'
      : 'Waiting messages start in their order of arrival.',
  answers: { 200: { description: 'It is done.', schema: 'Nothing', example: {} } },
  errors: { 404: [noSuchQueue], 503: [busy] },
});

export const queuesRoutes = {
  'POST /v2/queues': { access: 'write', audit: 'queue.save' },
  'GET /v2/queues': { access: 'read' },
  'GET /v2/queues/{name}': { access: 'read' },
  'DELETE /v2/queues/{name}': { access: 'write', audit: 'queue.delete' },
  'POST /v2/queues/{name}/pause': { access: 'write', audit: 'queue.pause' },
  'POST /v2/queues/{name}/resume': { access: 'write', audit: 'queue.resume' },
} as const satisfies RouteTable;

export const queues = /* @__PURE__ */ made((): Operations<typeof queuesRoutes> => ({
  'POST /v2/queues': {
    id: 'putQueue',
    summary: 'Create or change a queue',
    description:
      'Messages of a queue start in the order in which they were accepted, and delayed messages in the order in which they are due. At most `parallelism` messages are in progress at once: from a message’s first attempt until it is delivered, failed or cancelled, including its retries, and until its callbacks are delivered or have failed. An enqueue creates a missing queue by itself.',
    body: { required: true, schema: 'QueueSettings', example: { queueName: 'mail', parallelism: 3 } },
    answers: { 200: { description: 'It is there.', schema: 'Nothing', example: {} } },
    errors: {
      400: [
        ['field_invalid', 'queueName is "mail!"; allowed are 1 to 128 letters, digits, ".", "_" and "-".'],
        [
          'field_invalid',
          'parallelism: Invalid input; allowed is {"queueName", "parallelism"?, "paused"?, "circuit"?}, with a whole number of at least 1 as the parallelism, and "on", "off" or null as the circuit.',
        ],
      ],
      412: [
        ['parallelism_over_limit', "parallelism is 200, but the account's limit max_parallelism is 100."],
        tooManyQueues,
      ],
      503: [busy],
    },
  },
  'GET /v2/queues': {
    id: 'listQueues',
    summary: 'List the queues',
    ...goesOn,
    answers: {
      200: {
        description: 'All of them by name, or as many as fit into an answer.',
        headers: cursorHeaders,
        schema: 'Queues',
        example: [queue],
      },
    },
  },
  'GET /v2/queues/{name}': {
    id: 'getQueue',
    summary: 'Get a queue',
    answers: { 200: { description: 'The queue.', schema: 'Queue', example: queue } },
    errors: { 404: [noSuchQueue] },
  },
  'DELETE /v2/queues/{name}': {
    id: 'deleteQueue',
    summary: 'Delete a queue',
    description:
      'Its waiting messages are cancelled, as the log shows. Messages in progress continue, and delayed messages are delivered when they are due. The next message creates the queue again, except perhaps a delayed one within a minute of the deletion.',
    answers: { 200: { description: 'It is deleted.', schema: 'Nothing', example: {} } },
    errors: { 404: [noSuchQueue], 503: [busy] },
  },
  'POST /v2/queues/{name}/pause': pausing('pause'),
  'POST /v2/queues/{name}/resume': pausing('resume'),
}));

export const pullRoutes = {
  'POST /v2/pull/{name}': { access: 'write', publishes: true },
  // The client has the token of one attempt.
  'POST /v2/extend/{completion}': { access: 'open' },
} as const satisfies RouteTable;

export const pull = /* @__PURE__ */ made((): Operations<typeof pullRoutes> => ({
  'POST /v2/pull/{name}': {
    id: 'pullMessages',
    summary: 'Take messages whose destination is `pull:<name>`',
    description:
      'Takes messages that wait for a client, those that were offered first, and waits for the first one if there is none and `wait` is given. Each comes with the request that would have been sent. Complete it with `POST /v2/complete/{completion}`, which is the answer to its attempt; without a completion in time the attempt fails and is retried. Several clients with one name share its messages. A named token for publishing needs `pull:<name>` in its destinations.',
    body: { required: false, schema: 'Pulling', example: { count: 10, wait: '20s', within: '5m' } },
    answers: {
      200: {
        description: 'The messages, none if none came in time.',
        schema: 'Pulled',
        example: {
          messages: [
            {
              messageId,
              retried: 0,
              method: 'POST',
              headers: { 'Content-Type': ['application/json'] },
              body: '{"order":4711}',
              completion: 'WyJmMmMwIl0.7Qm1',
              completionDeadline: start,
            },
          ],
        },
      },
    },
    errors: {
      400: [
        [
          'destination_invalid',
          'The name is "pull:a b"; allowed is pull:<name> with a name of 1 to 100 letters, digits, ".", "_" and "-".',
        ],
        ['field_invalid', 'wait is "1m"; allowed is 0s to 20s.'],
        ['body_invalid', 'The body is not JSON.'],
      ],
      403: [
        ['token_scope_exceeded', 'The token is only for publishing; this operation requires another token.'],
      ],
    },
  },
  'POST /v2/extend/{completion}': {
    id: 'extendAttempt',
    summary: 'Give an open attempt more time',
    description:
      'Sets the end of an attempt that a client took, or that its destination answered with 202: the given time from now. `completion` is that of the taken message, or the last part of its `Svc-Complete-Url`.',
    body: { required: true, schema: 'Extension', example: { within: '5m' } },
    answers: {
      200: {
        description: 'It has the time.',
        schema: 'Extended',
        example: { messageId, completionDeadline: start },
      },
    },
    errors: {
      400: [
        ['field_invalid', 'within is "8d"; allowed is 1s to 7d.'],
        ['body_invalid', 'The body is not JSON.'],
      ],
      404: [['completion_not_found', 'There is no attempt with this completion URL.']],
      409: [
        [
          'completion_not_awaited',
          `The message "${messageId}" waits for no completion: it was published without Svc-Deferred, or its destination has not answered 202.`,
        ],
      ],
      410: [
        [
          'completion_too_late',
          `The completion of the message "${messageId}" is too late: it was cancelled.`,
        ],
      ],
    },
  },
}));
