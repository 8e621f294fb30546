import { made } from '../../../options/option.ts';
import type { RouteTable } from '../../route.ts';
import type { Errors } from '../parts/errors.ts';
import { runId } from '../parts/examples.ts';
import type { Operation, Operations } from '../parts/operation.ts';
import { counting } from '../parts/parameters.ts';
import { runEntries, runPage, startedRun } from '../parts/runExamples.ts';
import { ofCancelledRuns, ofCountedRuns, ofLogs } from '../parts/runParameters.ts';

export const busy = ['busy', 'The run is being changed by many at once; send the request again.'] as const;

/** The refusals of paths whose last part is decoded. */
export const badPath = [
  ['request_malformed', 'The path has "50%", which is percent-encoded, but not correctly.'],
  ['request_malformed', 'The path has two slashes in a row, and nothing between them.'],
] as const;

const startErrors: Errors = {
  400: [
    ['field_invalid', 'Svc-Retries is "many"; allowed is a whole number from 0 to 5.'],
    ['workflow_request_invalid', 'A message of a workflow goes to a URL, and not to a URL group.'],
  ],
  403: [
    [
      'destination_not_allowed',
      'The destination is "http://10.0.0.1/", which is not a public address; this deployment refuses it.',
    ],
  ],
  412: [['retries_over_limit', "Svc-Retries is 6, but the account's limit max_retries is 5."]],
  413: [
    [
      'body_too_large',
      "The body has 4194305 bytes, but the account's limit max_message_size is 4194304 bytes.",
    ],
  ],
  503: [busy],
};

const withoutClient =
  'For callers without a workflow client; clients start runs with a publish or a batch. Forwarded headers, retries and flow control apply to every delivery of the run. The endpoint must be served by a workflow client of version 1 or newer; otherwise the run fails.';

/** Served by the publishing function, because a workflow client's publish or batch also starts runs. */
export const triggerRoutes = {
  'POST /v2/trigger/{destination+}': { access: 'write', publishes: true },
  'POST /v2/batch/trigger': { access: 'write', publishes: true },
} as const satisfies RouteTable;

export const triggers = /* @__PURE__ */ made((): Operations<typeof triggerRoutes> => ({
  'POST /v2/trigger/{destination+}': {
    id: 'triggerRun',
    summary: 'Start a run of a workflow',
    description: `The body is the run’s initial payload. ${withoutClient}`,
    configuration: 'trigger',
    isHeldToUsage: true,
    body: { bytes: 'The initial payload.' },
    answers: {
      200: {
        description: 'It is started, now or before.',
        schema: 'StartedRun',
        example: startedRun,
      },
    },
    errors: startErrors,
  },
  'POST /v2/batch/trigger': {
    id: 'triggerRuns',
    summary: 'Start many runs of workflows',
    description: `Each item has its settings in its \`headers\`, like a single start. All are started, or none. ${withoutClient}`,
    isHeldToUsage: true,
    body: {
      required: true,
      schema: 'TriggerRequest',
      example: [
        {
          destination: 'https://example.com/workflows/orders',
          body: '{"order":4711}',
          headers: { 'Svc-Retries': '3', 'Svc-Workflow-RunId': runId },
        },
      ],
    },
    answers: {
      200: { description: 'A run for each item, in order.', schema: 'StartedRuns', example: [startedRun] },
    },
    errors: {
      ...startErrors,
      400: [
        ['body_invalid', 'The body is not a list; allowed is a JSON array of messages.'],
        ['body_invalid', 'The body is not JSON.'],
        ...(startErrors[400] ?? []),
      ],
    },
  },
}));

const filterErrors = [['field_invalid', 'count is "500"; allowed is a whole number from 1 to 100.']] as const;

const log = /* @__PURE__ */ made((): Omit<Operation, 'id' | 'summary' | 'description'> => ({
  shared: ofLogs,
  answers: { 200: { description: 'A page of runs.', schema: 'RunPage', example: runPage } },
  errors: {
    400: [
      ...filterErrors,
      [
        'cursor_invalid',
        'cursor is not one that this list handed out; send it back exactly as it was answered, for the same list in the same order.',
      ],
    ],
  },
}));

export const runRoutes = {
  'GET /v2/workflows/runs/count': { access: 'read' },
  // Requires write access, because the answer shows even redacted payloads, which endpoints need.
  'GET /v2/workflows/runs/{runId}': { access: 'write' },
  'DELETE /v2/workflows/runs/{runId}': { access: 'write', audit: 'runs.cancel' },
  'DELETE /v2/workflows/runs': { access: 'write', audit: 'runs.cancel' },
  'GET /v2/workflows/logs': { access: 'read' },
  'GET /v2/workflows/events': { access: 'read' },
} as const satisfies RouteTable;

export const runs = /* @__PURE__ */ made((): Operations<typeof runRoutes> => ({
  'GET /v2/workflows/runs/count': {
    id: 'countRuns',
    summary: 'Count the active runs',
    description: `Counts the runs that a bulk cancellation with the same parameters would cancel. ${counting}`,
    shared: ofCountedRuns,
    answers: { 200: { description: 'Their number.', schema: 'Counted', example: { count: 42 } } },
    errors: { 400: [['field_invalid', 'workflowUrlExactMatch is "yes"; allowed are true, false.']] },
  },
  'GET /v2/workflows/runs/{runId}': {
    id: 'getRunEntries',
    summary: 'Get the recorded steps of a run',
    description:
      'Only while the run is active. Endpoints ask for the list if a delivery comes without it, because it is too large for each delivery. It has all payloads, even redacted ones, and therefore requires the full token.',
    answers: {
      200: { description: 'The whole list, in order.', schema: 'RunEntries', example: runEntries },
    },
    errors: { 404: [['run_not_found', `There is no run "${runId}" that is active.`]] },
  },
  'DELETE /v2/workflows/runs/{runId}': {
    id: 'endRun',
    summary: 'Cancel a run, or end it with a result',
    description:
      'The run stops: its pending waits, calls and steps are dropped. A delivery in flight may continue, but its steps are refused. A run that invoked this one is notified. Endpoints also end their runs with this. Safe to repeat.',
    query: {
      cancel: {
        description: '`false` if the run’s function has returned: then the run succeeds. Default: `true`.',
        schema: { type: 'boolean' },
        example: false,
      },
    },
    body: { bytes: 'With `cancel=false`: what the function returned, as JSON.' },
    answers: {
      200: { description: 'It has ended, now or before.', schema: 'Nothing', example: {} },
    },
    errors: {
      400: [['field_invalid', 'cancel is "maybe"; allowed are true and false.']],
      404: [['run_not_found', `There is no run "${runId}" that is active.`]],
      503: [busy],
    },
  },
  'DELETE /v2/workflows/runs': {
    id: 'cancelRuns',
    summary: 'Cancel many runs',
    description:
      'Either those with the given ids, or all active ones that match the filters. The ids and the beginning of the URL may also be in the body. There is no cursor: repeat it until it cancels none, or let it run in the background.',
    shared: ofCancelledRuns,
    body: { required: false, schema: 'RunsToCancel', example: { workflowRunIds: [runId] } },
    answers: {
      200: { description: 'How many were cancelled.', schema: 'CancelledRuns', example: { cancelled: 42 } },
    },
    errors: {
      400: [['field_invalid', 'count is "1000"; allowed is a whole number from 1 to 500.']],
      503: [busy],
    },
  },
  'GET /v2/workflows/logs': {
    id: 'listRuns',
    summary: 'List the runs, with their steps',
    description:
      'Newest first. Filters are ANDed, and the values of one filter are ORed. A page may have fewer than requested and still a cursor.',
    ...log,
  },
  'GET /v2/workflows/events': {
    id: 'listRunsAsEvents',
    summary: 'List the runs, as clients request them',
    description: 'As `GET /v2/workflows/logs`.',
    ...log,
  },
}));
