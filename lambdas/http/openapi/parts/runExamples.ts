import { cursor, dlqId, listedDeadLetter, messageId, runId } from './examples.ts';
import type { Shown } from './schemas.ts';

/** 2026-01-01. */
const start = 1_767_225_600_000;
const url = 'https://example.com/workflows/orders';

export const startedRun: Shown<'StartedRun'> = { workflowRunId: runId, workflowCreatedAt: start };

export const rerunAnswer: Shown<'AnewRun'> = {
  workflowRunId: 'wfr_01KDVHX2V8C4N6P9R1T3W5Y7Z0',
  workflowCreatedAt: start + 3_600_000,
};
export const rerunAnswers: Shown<'AnewRuns'> = { workflowRuns: [rerunAnswer], cursor: '' };

const header = { 'Content-Type': ['application/json'], 'X-Tenant': ['acme'] };
const payload = '{"order":4711}';

export const runEntries: Shown<'RunEntries'> = [
  { messageId, body: btoa(payload), callType: 'step' },
  {
    messageId: 'msg_01KDVDNB3C8E1G4J7K9M2P5R8S',
    body: btoa('{"stepId":1,"stepName":"charge","stepType":"Run","out":"\\"paid\\"","concurrent":1}'),
    callType: 'step',
  },
];

export const waiter: Shown<'Waiter'> = {
  url,
  deadline: start / 1_000 + 604_800,
  headers: { 'Upstash-Workflow-Runid': [runId], 'Upstash-Workflow-Url': [url] },
  timeoutUrl: url,
  timeoutHeaders: { 'Upstash-Workflow-Runid': [runId] },
};

export const notified: Shown<'Notified'> = [
  { waiter, messageId, error: '', workflowRunId: runId, workflowCreatedAt: start },
];

const failed = {
  error: '500 Internal Server Error',
  body: '{"error":"Error","message":"The database is away."}',
  headers: { 'Content-Type': ['application/json'] },
  status: 500,
  time: start + 900,
} as const;

export const run: Shown<'WorkflowRun'> = {
  workflowRunId: runId,
  workflowUrl: url,
  workflowState: 'RUN_FAILED',
  workflowRunCreatedAt: start,
  workflowRunCompletedAt: start + 900,
  workflowRunCallerIp: '203.0.113.7',
  dlqId,
  label: 'nightly',
  labels: ['nightly', 'invoices'],
  flowControlKey: 'tenant-7',
  failureFunction: {
    messageId: 'msg_01KDVDNC7F0H3K6M8P1R4T7V9W',
    url,
    state: 'CALLBACK_SUCCESS',
    failHeaders: failed.headers,
    failStatus: failed.status,
    failResponse: failed.body,
    dlqId,
    responseBody: 'told the customer',
    responseStatus: 200,
  },
  steps: [
    {
      type: 'sequential',
      steps: [
        {
          stepName: 'init',
          stepType: 'Initial',
          callType: 'step',
          concurrent: 1,
          state: 'STEP_SUCCESS',
          out: payload,
          messageId,
          retries: 3,
          createdAt: start,
          headers: header,
        },
      ],
    },
    {
      type: 'next',
      steps: [
        {
          messageId,
          state: 'STEP_FAILED',
          retries: 3,
          stepName: 'charge',
          errors: [failed],
        },
      ],
    },
  ],
};

export const runPage: Shown<'RunPage'> = { cursor, runs: [run] };

const listed: Shown<'ListedRunDeadLetter'> = {
  ...listedDeadLetter,
  url,
  workflowRunId: runId,
  workflowCreatedAt: start,
  workflowUrl: url,
  failureCallback: url,
  failureFunctionState: 'CALLBACK_FAIL',
  failureCallbackInfo: { state: 'CALLBACK_FAIL', responseStatus: 500, responseBody: 'The database is away.' },
};
export const runDeadLetterPage: Shown<'RunDeadLetterPage'> = { cursor, messages: [listed] };
export const runDeadLetter: Shown<'RunDeadLetter'> = { ...listed, body: payload };
