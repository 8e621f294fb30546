import { made } from '../../../options/option.ts';
import type { RouteTable } from '../../route.ts';
import { queue } from '../parts/examples.ts';
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
