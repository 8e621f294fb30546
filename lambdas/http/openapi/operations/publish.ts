import { made } from '../../../options/option.ts';
import type { RouteTable } from '../../route.ts';
import { messageId } from '../parts/examples.ts';
import type { Errors } from '../parts/errors.ts';
import type { Operations } from '../parts/operation.ts';
import { tooManyQueues } from './queues.ts';
import { triggerRoutes, triggers } from './workflowRuns.ts';

const answers = {
  200: {
    description: 'Accepted: one id, or one for each endpoint of a URL group.',
    schema: 'PublishAnswer',
    example: { messageId },
  },
  202: {
    description: 'Not sent: a duplicate of an earlier message.',
    schema: 'PublishAnswer',
    example: { messageId, deduplicated: true },
  },
} as const;

const errors: Errors = {
  400: [
    ['field_invalid', 'Svc-Retries is "many"; allowed is a whole number from 0 to 5.'],
    [
      'destination_invalid',
      'The destination is "orders!"; allowed is a URL that starts with http:// or https://, the ARN of a function, queue, topic or bus in AWS, pull:<name>, or the name of a URL group (letters, digits, ".", "_", "-").',
    ],
  ],
  403: [
    [
      'destination_not_allowed',
      'The destination is "http://10.0.0.1/", which is not a public address; this deployment refuses it.',
    ],
  ],
  404: [['url_group_not_found', 'There is no URL group "unknown": topic unknown not found.']],
  412: [
    ['retries_over_limit', "Svc-Retries is 6, but the account's limit max_retries is 5."],
    [
      'parallelism_over_limit',
      "Svc-Flow-Control-Value asks for a parallelism of 200, but the account's limit max_parallelism is 100.",
    ],
  ],
  413: [
    [
      'body_too_large',
      "The body has 4194305 bytes, but the account's limit max_message_size is 4194304 bytes.",
    ],
  ],
  503: [['not_stored', 'The message could not be stored, and was not accepted; send it again.']],
};

const toDestination =
  'The body is delivered byte for byte, with its `Content-Type`. Query parameters that the service does not know belong to the destination.';

export const publishRoutes = {
  'POST /v2/publish/{destination+}': { access: 'write', publishes: true },
  'POST /v2/enqueue/{queueName}/{destination+}': { access: 'write', publishes: true },
  'POST /v2/batch': { access: 'write', publishes: true },
  ...triggerRoutes,
} as const satisfies RouteTable;

export const publish = /* @__PURE__ */ made((): Operations<typeof publishRoutes> => ({
  'POST /v2/publish/{destination+}': {
    id: 'publishMessage',
    summary: 'Publish a message',
    description: toDestination,
    configuration: 'message',
    isHeldToUsage: true,
    body: 'bytes',
    answers,
    errors,
  },
  'POST /v2/enqueue/{queueName}/{destination+}': {
    id: 'enqueueMessage',
    summary: 'Publish a message through a queue',
    description: `It waits in the queue for its turn. A missing queue is created, with a parallelism of 1. ${toDestination}`,
    configuration: 'message',
    isHeldToUsage: true,
    body: 'bytes',
    answers,
    errors: { ...errors, 412: [...(errors[412] ?? []), tooManyQueues] },
  },
  'POST /v2/batch': {
    id: 'publishBatch',
    summary: 'Publish many messages',
    description:
      'Each message is published as if it came alone, with the settings in its `headers`. A refused message does not affect the others: its answer has the error and the status, such as 429 or 412 if the account’s day or budget is too small for all, or 503 if there was no time to accept it: send it again.',
    body: {
      required: true,
      schema: 'BatchRequest',
      example: [
        {
          destination: 'https://example.com/orders',
          body: '{"order":4711}',
          headers: { 'Content-Type': 'application/json', 'Svc-Delay': '1m' },
        },
        { destination: 'unknown' },
      ],
    },
    answers: {
      200: {
        description: 'One answer for each message.',
        schema: 'BatchAnswer',
        example: [
          { messageId },
          {
            error: 'There is no URL group "unknown": topic unknown not found.',
            code: 'url_group_not_found',
            status: 404,
          },
        ],
      },
    },
    errors: {
      400: [
        ['body_invalid', 'The body is not a list; allowed is a JSON array of messages.'],
        ['body_invalid', 'The body is not JSON.'],
        [
          'too_many_items',
          'The answer to the batch would have up to 5100000 bytes, with the URL of each endpoint; allowed are 4703667. Send it in several.',
        ],
      ],
      503: [
        [
          'time_over',
          'The time for the request was over before this message was stored; it was not accepted, send it again.',
        ],
      ],
    },
  },
  ...triggers,
}));
