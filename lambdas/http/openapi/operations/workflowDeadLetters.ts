import { made } from '../../../options/option.ts';
import type { RouteTable } from '../../route.ts';
import type { Errors } from '../parts/errors.ts';
import { deadLetterCount, dlqId, runId } from '../parts/examples.ts';
import type { Operation, Operations } from '../parts/operation.ts';
import { counting, uncounted } from '../parts/parameters.ts';
import { rerunAnswer, rerunAnswers, runDeadLetter, runDeadLetterPage } from '../parts/runExamples.ts';
import { ofDeadLetters, ofManyDeadLetters } from '../parts/runParameters.ts';
import { busy } from './workflowRuns.ts';

const noSuchEntry = /* @__PURE__ */ made(
  () => ['dead_letter_not_found', `There is no dead letter "${dlqId}".`] as const,
);
const emptyFilter = ['field_invalid', 'label is empty; a filter must have a value.'] as const;
const badFilter = ['field_invalid', 'count is "500"; allowed is a whole number from 1 to 100.'] as const;

const overrides =
  'Headers of the request change the settings for the rest of the run. The new run has a new id. The dead letter is removed once that run exists, so repeating the request makes no second run.';
const badOverride: Errors = {
  400: [['field_invalid', 'Svc-Retries is "many"; allowed is a whole number from 0 to 5.']],
  403: [
    [
      'destination_not_allowed',
      'Svc-Failure-Callback is "http://10.0.0.1/", which is not a public address; this deployment refuses it.',
    ],
  ],
  412: [['retries_over_limit', "Svc-Retries is 6, but the account's limit max_retries is 5."]],
};

const goesOn = 'The new run has all recorded steps of the failed one, and continues where that failed.';
const beginsAgain = 'The new run has the payload of the failed one, and starts from the beginning.';
const many =
  'Either those with the given ids, or all that match the filters. It works for up to 20 seconds and then answers with a cursor. An empty cursor means that all are done.';

const anewMany = (own: Pick<Operation, 'id' | 'summary' | 'description'>): Operation => ({
  ...own,
  configuration: 'resume',
  shared: ofManyDeadLetters,
  isHeldToUsage: true,
  answers: { 200: { description: 'The new runs.', schema: 'AnewRuns', example: rerunAnswers } },
  errors: { ...badOverride, 400: [emptyFilter, ...(badOverride[400] ?? [])] },
});

const anewOne = (own: Pick<Operation, 'id' | 'summary' | 'description'>): Operation => ({
  ...own,
  configuration: 'resume',
  isHeldToUsage: true,
  answers: { 200: { description: 'The new run.', schema: 'AnewRun', example: rerunAnswer } },
  errors: {
    ...badOverride,
    404: [noSuchEntry],
    503: [['not_stored', `The run of "${dlqId}" could not be started again; it is still there.`]],
  },
});

/** Documents a request that replaces a hanging run with a new one. */
const inPlace = (own: Pick<Operation, 'id' | 'summary' | 'description'>): Operation => ({
  ...own,
  configuration: 'resume',
  isHeldToUsage: true,
  answers: { 200: { description: 'The new run.', schema: 'AnewRun', example: rerunAnswer } },
  errors: {
    ...badOverride,
    400: [
      [
        'wrong_state',
        `The run "${runId}" does not hang: it has ended, or something is pending, or its endpoint was called in the last minute.`,
      ],
      ...(badOverride[400] ?? []),
    ],
    404: [['run_not_found', `There is no run "${runId}".`]],
    503: [busy],
  },
});

const hangs =
  'A run hangs if its log has `hanging`: its endpoint answered, but submitted nothing. It is cancelled once the new run exists, so repeating the request makes no second run. Headers of the request change the run’s settings.';

export const hangingRunRoutes = {
  'POST /v2/workflows/runs/{runId}/resume': { access: 'write', audit: 'runs.resume' },
  'POST /v2/workflows/runs/{runId}/restart': { access: 'write', audit: 'runs.restart' },
} as const satisfies RouteTable;

export const hangingRuns = /* @__PURE__ */ made((): Operations<typeof hangingRunRoutes> => ({
  'POST /v2/workflows/runs/{runId}/resume': inPlace({
    id: 'resumeHangingRun',
    summary: 'Resume a hanging run',
    description: `The new run has all recorded steps of the old one, and asks the endpoint for the next. ${hangs}`,
  }),
  'POST /v2/workflows/runs/{runId}/restart': inPlace({
    id: 'restartHangingRun',
    summary: 'Restart a hanging run',
    description: `The new run has the payload of the old one, and starts from the beginning. ${hangs}`,
  }),
}));

export const deadRunRoutes = {
  'GET /v2/workflows/dlq': { access: 'read' },
  'GET /v2/workflows/dlq/count': { access: 'read' },
  'DELETE /v2/workflows/dlq': { access: 'write', audit: 'runDlq.delete' },
  'GET /v2/workflows/dlq/{dlqId}': { access: 'read' },
  'DELETE /v2/workflows/dlq/{dlqId}': { access: 'write', audit: 'runDlq.delete' },
  'POST /v2/workflows/dlq/resume': { access: 'write', audit: 'runDlq.resume' },
  'POST /v2/workflows/dlq/resume/{dlqId}': { access: 'write', audit: 'runDlq.resume' },
  'POST /v2/workflows/dlq/restart': { access: 'write', audit: 'runDlq.restart' },
  'POST /v2/workflows/dlq/restart/{dlqId}': { access: 'write', audit: 'runDlq.restart' },
  'POST /v2/workflows/dlq/callback/{dlqId}': { access: 'write', audit: 'runDlq.runCallback' },
  'DELETE /v2/workflows/dlq/callback/{dlqId}': { access: 'write', audit: 'runDlq.cancelCallback' },
} as const satisfies RouteTable;

export const deadLettersOfRuns = /* @__PURE__ */ made((): Operations<typeof deadRunRoutes> => ({
  'GET /v2/workflows/dlq': {
    id: 'listRunDeadLetters',
    summary: 'List the failed runs',
    description:
      'Newest first, without their payloads. Filters are ANDed, and the values of one filter are ORed.',
    shared: ofDeadLetters,
    answers: {
      200: { description: 'A page of them.', schema: 'RunDeadLetterPage', example: runDeadLetterPage },
    },
    errors: { 400: [badFilter] },
  },
  'DELETE /v2/workflows/dlq': {
    id: 'deleteRunDeadLetters',
    summary: 'Delete the dead letters of many runs',
    description: 'Either those with the given ids, or all that match the filters. Safe to repeat.',
    shared: ofManyDeadLetters,
    answers: {
      200: {
        description: 'They are deleted. With a cursor if some are left.',
        schema: 'Deleted',
        example: { deleted: 42 },
      },
    },
    errors: { 400: [emptyFilter] },
  },
  'GET /v2/workflows/dlq/count': {
    id: 'countRunDeadLetters',
    summary: 'Count the failed runs',
    description: `Counts the runs that a bulk operation with the same parameters would affect. ${counting}`,
    shared: uncounted(ofManyDeadLetters),
    answers: {
      200: {
        description: 'Their number, also by host and by status.',
        schema: 'DeadLetterCount',
        example: deadLetterCount,
      },
    },
    errors: { 400: [emptyFilter] },
  },
  'GET /v2/workflows/dlq/{dlqId}': {
    id: 'getRunDeadLetter',
    summary: 'Get the dead letter of a run',
    answers: {
      200: {
        description: 'How the run was started, and the last answer to the failed delivery.',
        schema: 'RunDeadLetter',
        example: runDeadLetter,
      },
    },
    errors: { 404: [noSuchEntry] },
  },
  'DELETE /v2/workflows/dlq/{dlqId}': {
    id: 'deleteRunDeadLetter',
    summary: 'Delete the dead letter of a run',
    answers: { 200: { description: 'It is deleted.', schema: 'Deleted', example: { deleted: 1 } } },
    errors: { 404: [noSuchEntry] },
  },
  'POST /v2/workflows/dlq/resume': anewMany({
    id: 'resumeRuns',
    summary: 'Resume many failed runs',
    description: `${many} ${goesOn} ${overrides}`,
  }),
  'POST /v2/workflows/dlq/resume/{dlqId}': anewOne({
    id: 'resumeRun',
    summary: 'Resume a failed run',
    description: `${goesOn} ${overrides}`,
  }),
  'POST /v2/workflows/dlq/restart': anewMany({
    id: 'restartRuns',
    summary: 'Restart many failed runs',
    description: `${many} ${beginsAgain} ${overrides}`,
  }),
  'POST /v2/workflows/dlq/restart/{dlqId}': anewOne({
    id: 'restartRun',
    summary: 'Restart a failed run',
    description: `${beginsAgain} ${overrides}`,
  }),
  'POST /v2/workflows/dlq/callback/{dlqId}': {
    id: 'rerunFailureFunction',
    summary: 'Run the failure function of a run again',
    description: 'Only if it has failed. The dead letter stays.',
    isHeldToUsage: true,
    answers: { 200: { description: 'The failed run.', schema: 'AnewRun', example: rerunAnswer } },
    errors: {
      400: [
        [
          'wrong_state',
          'The failure function is CALLBACK_SUCCESS. Only a failure function with the state CALLBACK_FAIL can be run again.',
        ],
      ],
      404: [noSuchEntry],
      503: [busy],
    },
  },
  'DELETE /v2/workflows/dlq/callback/{dlqId}': {
    id: 'cancelFailureFunction',
    summary: 'Cancel the failure function of a run',
    description: 'Only while it is in progress. A delivery in flight may still arrive, but none after it.',
    answers: { 200: { description: 'It is cancelled.', schema: 'Nothing', example: {} } },
    errors: {
      400: [
        [
          'wrong_state',
          'The failure function is CALLBACK_SUCCESS. Only a failure function with the state CALLBACK_INPROGRESS can be cancelled.',
        ],
      ],
      404: [noSuchEntry],
      503: [busy],
    },
  },
}));
