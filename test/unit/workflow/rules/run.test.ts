import { describe, expect, it } from 'vitest';
import type { Reason } from '../../../../lambdas/error/errorCodes.ts';
import { HttpError } from '../../../../lambdas/error/httpError.ts';
import { asSubmissionRefusal } from '../../../../lambdas/workflow/rules/refusals.ts';
import { goingOnFrom } from '../../../../lambdas/workflow/rules/resuming.ts';
import { defaultRunRetries } from '../../../../lambdas/workflow/run.ts';

describe('a refusal', () => {
  it.each<[ordinary: Reason, ofSubmission: Reason]>([
    [
      [400, 'field_invalid'],
      [412, 'submission_refused'],
    ],
    [
      [403, 'destination_not_allowed'],
      [412, 'submission_refused'],
    ],
    [
      [404, 'url_group_not_found'],
      [412, 'submission_refused'],
    ],
    [
      [413, 'body_too_large'],
      [412, 'submission_refused'],
    ],
    [
      [412, 'budget_reached'],
      [412, 'budget_reached'],
    ],
    [
      [429, 'rate_limit_reached'],
      [429, 'rate_limit_reached'],
    ],
    [
      [500, 'service_failed'],
      [500, 'service_failed'],
    ],
  ])('of an ordinary message with %j is one of a submission with %j', (ordinary, [status, code]) => {
    const refusal = asSubmissionRefusal(new HttpError(...ordinary, 'because', { a: 'b' }));
    expect(refusal).toMatchObject({ status, code, message: 'because' });
  });
});

it('a run has three retries by default, or the number of its account', () => {
  expect([0, 2, 3, 5].map(defaultRunRetries)).toEqual([0, 2, 3, 3]);
});

describe('a failed run is resumed', () => {
  const step = (kind: 'plan' | 'result', stepId: number) => ({
    id: `${kind} ${stepId}`,
    step: { kind, stepId },
  });
  const result = (stepId: number) => step('result', stepId);
  const plan = (stepId: number) => step('plan', stepId);
  const initial = { id: 'init', step: undefined };

  it.each([
    ['at its start', [initial], ['init']],
    ['at its last step', [initial, result(1), result(2)], ['result 2']],
    ['at each open branch', [initial, result(1), plan(2), plan(3), plan(4), result(3)], ['plan 2', 'plan 4']],
    ['at the result of the last branch', [initial, plan(1), plan(2), result(2), result(1)], ['result 1']],
  ])('%s', (_name, entries, ids) => {
    expect(goingOnFrom(entries).map(({ id }) => id)).toEqual(ids);
  });
});
