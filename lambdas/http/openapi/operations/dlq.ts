import { made } from '../../../options/option.ts';
import type { RouteTable } from '../../route.ts';
import { deadLetter, deadLetterCount, deadLetterPage, dlqId, messageId } from '../parts/examples.ts';
import { overBudget, overDay, type Errors } from '../parts/errors.ts';
import type { Operations } from '../parts/operation.ts';
import { counting } from '../parts/parameters.ts';

const noSuchEntry = /* @__PURE__ */ made(
  () => ['dead_letter_not_found', `There is no dead letter "${dlqId}".`] as const,
);
const badFilter = ['field_invalid', 'count is "500"; allowed is a whole number from 1 to 100.'] as const;
const ids = { required: false, schema: 'DlqIds', example: { dlqIds: [dlqId] } } as const;

const overrides =
  'Headers of the request change its settings. It is sent as a new message, and leaves the dead letter queue once that message is accepted.';
const badOverride: Errors = {
  400: [['field_invalid', 'Svc-Retries is "many"; allowed is a whole number from 0 to 5.']],
  403: [
    [
      'destination_not_allowed',
      'Svc-Callback is "http://10.0.0.1/", which is not a public address; this deployment refuses it.',
    ],
  ],
  412: [['retries_over_limit', "Svc-Retries is 6, but the account's limit max_retries is 5."]],
};

/**
 * The end of the refusal of a bulk retry, which sends as many dead letters as the account's daily limit and
 * budget allow.
 */
const sentBefore = 'Already sent again: 42 dead letters.';

export const dlqRoutes = {
  'GET /v2/dlq': { access: 'read' },
  'GET /v2/dlq/count': { access: 'read' },
  'DELETE /v2/dlq': { access: 'write', audit: 'dlq.delete' },
  'POST /v2/dlq/retry': { access: 'write', audit: 'dlq.retry' },
  'POST /v2/dlq/retry/{dlqId}': { access: 'write', audit: 'dlq.retry' },
  'GET /v2/dlq/{dlqId}': { access: 'read' },
  'DELETE /v2/dlq/{dlqId}': { access: 'write', audit: 'dlq.delete' },
} as const satisfies RouteTable;

export const dlq = /* @__PURE__ */ made((): Operations<typeof dlqRoutes> => ({
  'GET /v2/dlq': {
    id: 'listDeadLetters',
    summary: 'List the dead letters',
    description:
      'Newest first, without the messages’ bodies. Filters are ANDed, and the values of one filter are ORed. With `source=workflow` it lists failed workflow runs, like `/v2/workflows/dlq` and with the same filters.',
    filters: 'listedDlq',
    answers: {
      200: { description: 'A page of them.', schema: 'DeadLetterPage', example: deadLetterPage },
    },
    errors: { 400: [badFilter] },
  },
  'GET /v2/dlq/count': {
    id: 'countDeadLetters',
    summary: 'Count the dead letters',
    description: `Counts the dead letters that a bulk deletion or retry with the same parameters would affect. ${counting}`,
    counts: 'dlq',
    answers: {
      200: {
        description: 'Their number, also by host and by status.',
        schema: 'DeadLetterCount',
        example: deadLetterCount,
      },
    },
    errors: { 400: [['field_invalid', 'label is empty; a filter must have a value.']] },
  },
  'DELETE /v2/dlq': {
    id: 'deleteDeadLetters',
    summary: 'Delete many dead letters',
    description:
      'Either those with the given ids, in the query or in the body, or all that match the filters. Safe to repeat.',
    filters: 'dlq',
    body: ids,
    answers: {
      200: {
        description: 'They are deleted. With a cursor if some are left.',
        schema: 'Deleted',
        example: { deleted: 42 },
      },
    },
    errors: { 400: [badFilter] },
  },
  'POST /v2/dlq/retry': {
    id: 'retryDeadLetters',
    summary: 'Send many dead letters again',
    description: `Either those with the given ids, in the query or in the body, or all that match the filters. ${overrides}`,
    configuration: 'retry',
    filters: 'dlq',
    isHeldToUsage: true,
    body: ids,
    answers: {
      201: {
        description: 'The new messages’ ids. With a cursor if some dead letters are left.',
        schema: 'RetriedPage',
        example: { responses: [{ messageId }] },
      },
    },
    errors: {
      ...badOverride,
      400: [badFilter, ...(badOverride[400] ?? [])],
      412: [['budget_reached', `${overBudget} ${sentBefore}`], ...(badOverride[412] ?? [])],
      429: [['daily_limit_reached', `${overDay} ${sentBefore}`]],
    },
  },
  'POST /v2/dlq/retry/{dlqId}': {
    id: 'retryDeadLetter',
    summary: 'Send a dead letter again',
    description: overrides,
    configuration: 'retry',
    isHeldToUsage: true,
    answers: { 201: { description: 'The new message’s id.', schema: 'Retried', example: { messageId } } },
    errors: {
      ...badOverride,
      404: [noSuchEntry],
      503: [['not_stored', `The dead letter "${dlqId}" could not be sent again; it is still there.`]],
    },
  },
  'GET /v2/dlq/{dlqId}': {
    id: 'getDeadLetter',
    summary: 'Get a dead letter',
    answers: {
      200: {
        description: 'The message, and the last answer to it.',
        schema: 'DeadLetter',
        example: deadLetter,
      },
    },
    errors: { 404: [noSuchEntry] },
  },
  'DELETE /v2/dlq/{dlqId}': {
    id: 'deleteDeadLetter',
    summary: 'Delete a dead letter',
    answers: { 200: { description: 'It is deleted.', schema: 'Deleted', example: { deleted: 1 } } },
    errors: { 404: [noSuchEntry] },
  },
}));
