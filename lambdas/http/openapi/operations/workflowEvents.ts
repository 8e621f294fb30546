import { made } from '../../../options/option.ts';
import type { RouteTable } from '../../route.ts';
import { messageId, runId } from '../parts/examples.ts';
import type { Operation, Operations } from '../parts/operation.ts';
import { notified, waiter } from '../parts/runExamples.ts';
import { ofSubmissions } from '../parts/runParameters.ts';
import { badPath, busy } from './workflowRuns.ts';

const ended = /* @__PURE__ */ made(
  () =>
    [
      'run_ended',
      `can not append to a cancelled workflow: run "${runId}" has ended or is not known.`,
    ] as const,
);
const tooMany = /* @__PURE__ */ made(
  () =>
    [
      'submission_refused',
      `The run "${runId}" keeps 100 events that it has not waited for; no more are kept.`,
    ] as const,
);

const tooLarge = [
  'body_too_large',
  "The body has 4194305 bytes, but the account's limit max_message_size is 4194304 bytes.",
] as const;

const webhookUrl =
  '`context.createWebhook` makes the URL. A caller who knows it needs no token, and may use any method. The run’s next wait for the webhook gets the request: method, headers, body and URL. Calls that arrive before the run waits are kept, up to 10 for each webhook. Calls have the same limits in a second as requests with a token, but are counted separately.';

const hook = (method: string, more: Pick<Operation, 'body'> = {}): Operation => ({
  id: `${method.toLowerCase()}Webhook`,
  summary: `Call a webhook of a run with ${method}`,
  description: method === 'HEAD' ? `${webhookUrl} The answer has no body.` : webhookUrl,
  ...more,
  isHeldToUsage: true,
  answers: { 200: { description: 'The run has the call, or will get it.', schema: 'Nothing', example: {} } },
  errors: {
    404: [['webhook_not_found', 'There is no such webhook.']],
    412: [['submission_refused', 'The steps of the run would have 34000000 bytes; allowed are 33554432.']],
    413: [tooLarge],
    429: [
      [
        'webhook_full',
        'The webhook keeps 10 calls that its run has not waited for yet, and accepts no more for now; call it again later.',
      ],
      [
        'rate_limit_reached',
        "The account's limit max_requests_per_second is 100, and this call without a token exceeds it; send it again a moment later.",
      ],
      [
        'bandwidth_limit_reached',
        "The account's limit max_bandwidth_per_second is 10485760 bytes, and the 4096 bytes of this call without a token exceed it; send it again a moment later.",
      ],
    ],
    503: [busy],
  },
});
const anything = { body: { bytes: 'Anything.' } } as const;

export const eventRoutes = {
  // An event's id may have slashes, which the published client does not encode.
  'POST /v2/wait/{eventId+}': { access: 'write' },
  'POST /v2/notify/{event+}': { access: 'write', publishes: true },
  'GET /v2/waiters/{eventId+}': { access: 'read' },
  // Anyone who knows a webhook's URL may call it, with any method.
  'GET /v2/workflows/hooks/{account}/{runId}/{eventId}': { access: 'open' },
  'HEAD /v2/workflows/hooks/{account}/{runId}/{eventId}': { access: 'open' },
  'POST /v2/workflows/hooks/{account}/{runId}/{eventId}': { access: 'open' },
  'PUT /v2/workflows/hooks/{account}/{runId}/{eventId}': { access: 'open' },
  'PATCH /v2/workflows/hooks/{account}/{runId}/{eventId}': { access: 'open' },
  'DELETE /v2/workflows/hooks/{account}/{runId}/{eventId}': { access: 'open' },
} as const satisfies RouteTable;

export const events = /* @__PURE__ */ made((): Operations<typeof eventRoutes> => ({
  'POST /v2/wait/{eventId+}': {
    id: 'waitForEvent',
    summary: 'Let a run wait for an event',
    description:
      'A step that endpoints submit; the headers `Svc-Workflow-…` name the run. The run continues with the event, or without it after the timeout, or at once if it was notified of the event before. Safe to repeat.',
    shared: ofSubmissions,
    body: {
      required: true,
      schema: 'Wait',
      example: {
        url: waiter.url,
        timeout: '7d',
        timeoutUrl: waiter.url,
        timeoutHeaders: { 'Svc-Workflow-RunId': [runId] },
        step: { stepId: 2, stepName: 'paid', stepType: 'Wait', concurrent: 1 },
      },
    },
    answers: { 200: { description: 'It waits.', schema: 'Published', example: { messageId } } },
    errors: {
      400: [
        ...badPath,
        [
          'workflow_request_invalid',
          'Workflow-Init is missing; only the endpoint of a run waits for an event.',
        ],
        ended,
      ],
      412: [['submission_refused', 'The wait: step.stepType is Run; allowed are Wait and WaitForWebhook.']],
      503: [busy],
    },
  },
  'POST /v2/notify/{event+}': {
    id: 'notify',
    summary: 'Notify runs of an event',
    description:
      'All runs of the account that wait for it continue. It is not kept for later waits. With a run’s id before the event’s, only that run is notified: its oldest wait for the event ends, or the event is kept for its next wait, up to 100 events.',
    isHeldToUsage: true,
    body: { bytes: 'The event’s data.' },
    answers: {
      200: {
        description: 'The waits that ended. Empty if there were none.',
        schema: 'Notified',
        example: notified,
      },
    },
    errors: {
      400: badPath,
      404: [['run_not_found', `There is no run "${runId}" that is active.`]],
      412: [tooMany],
      413: [tooLarge],
      503: [busy],
    },
  },
  'GET /v2/waiters/{eventId+}': {
    id: 'listWaiters',
    summary: 'List the waits for an event',
    description: 'In the order in which they began.',
    answers: {
      200: { description: 'The waits. Empty if there are none.', schema: 'Waiters', example: [waiter] },
    },
    errors: {
      400: [
        ...badPath,
        ['field_invalid', 'The id of the event is "paid…"; allowed are 1 to 256 characters.'],
      ],
    },
  },
  'GET /v2/workflows/hooks/{account}/{runId}/{eventId}': hook('GET'),
  'HEAD /v2/workflows/hooks/{account}/{runId}/{eventId}': hook('HEAD'),
  'POST /v2/workflows/hooks/{account}/{runId}/{eventId}': hook('POST', anything),
  'PUT /v2/workflows/hooks/{account}/{runId}/{eventId}': hook('PUT', anything),
  'PATCH /v2/workflows/hooks/{account}/{runId}/{eventId}': hook('PATCH', anything),
  'DELETE /v2/workflows/hooks/{account}/{runId}/{eventId}': hook('DELETE'),
}));
