import { queue } from '../examples.ts';
import type { Operations } from '../operation.ts';
import { variables } from '../parameters.ts';

const name = variables.queueName;

const noSuchQueue = 'There is no queue "missing".';

export const tooManyQueues = "The queue would be number 101, but the account's limit max_queues is 100.";

export const queues: Operations<'queues'> = {
  'POST /v2/queues': {
    id: 'putQueue',
    tag: 'Queues',
    summary: 'Create or change a queue',
    description:
      'An enqueue creates a queue that is missing by itself. The order and the parallelism of a queue’s deliveries are not enforced yet.',
    variables: {},
    body: { required: true, schema: 'QueueSettings', example: { queueName: 'mail', parallelism: 3 } },
    answers: { 200: { description: 'It is there.', schema: 'Nothing', example: {} } },
    errors: {
      400: [
        'queueName is "mail!"; allowed are 1 to 128 letters, digits, ".", "_" and "-".',
        'parallelism: Invalid input; allowed is {"queueName", "parallelism"?}, with a whole number of at least 1 as the parallelism.',
      ],
      412: ["parallelism is 200, but the account's limit max_parallelism is 100.", tooManyQueues],
      503: ['The queue "mail" is being changed by many at once; send the change again.'],
    },
  },
  'GET /v2/queues': {
    id: 'listQueues',
    tag: 'Queues',
    summary: 'List the queues',
    variables: {},
    answers: { 200: { description: 'All of them, by name.', schema: 'Queues', example: [queue] } },
  },
  'GET /v2/queues/{name}': {
    id: 'getQueue',
    tag: 'Queues',
    summary: 'Get a queue',
    variables: { name },
    answers: { 200: { description: 'The queue.', schema: 'Queue', example: queue } },
    errors: { 404: [noSuchQueue] },
  },
  'DELETE /v2/queues/{name}': {
    id: 'deleteQueue',
    tag: 'Queues',
    summary: 'Delete a queue',
    description:
      'Messages that went through it are delivered all the same. The next message to it creates it again, at the latest a minute after it was deleted.',
    variables: { name },
    answers: { 200: { description: 'It is deleted.', schema: 'Nothing', example: {} } },
    errors: { 404: [noSuchQueue] },
  },
};
