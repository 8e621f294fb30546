import { failedCallbackBody } from '../../delivery/callbackBody.ts';
import type { CallbackDetails } from '../../message/kinds.ts';
import { valuesOf, type Header } from '../../shared/headers.ts';
import type { AttemptState } from '../../message/message.ts';
import { branded } from '../rules/brands.ts';
import type { Entry } from '../rules/entry.ts';
import type { FailureFunctionState } from '../../wire/states.ts';
import type { Features } from '../rules/features.ts';
import { listBody } from '../runs/listBody.ts';
import type { Run } from '../run.ts';

/**
 * The run's payload, or for old clients the list of entries.
 *
 * @param entries those of the failed delivery
 */
export function failureSource(entries: readonly Entry[], features: Features): Uint8Array {
  if (!features.has('InitialBody')) return listBody(entries);
  return entries[0]?.body ?? new Uint8Array();
}

/**
 * Makes the body of a failure callback: that of an ordinary callback, with the run. A response too long for
 * `maxBytes` is shortened so that JSON can still be parsed. The source is never shortened, because it is the
 * run's input.
 *
 * @param details of the failed delivery; its `body` is the source
 */
export const failureBody = (run: Run, details: CallbackDetails, maxBytes: number): Uint8Array =>
  failedCallbackBody(
    details,
    { url: run.url, workflowRunId: run.runId, workflowCreatedAt: run.createdAt },
    maxBytes,
  );

const afterAttempt = {
  DELIVERED: 'CALLBACK_SUCCESS',
  RETRY: 'CALLBACK_INPROGRESS',
  FAILED: 'CALLBACK_FAIL',
  CANCELED: 'CALLBACK_CANCELED',
} as const satisfies Record<AttemptState, FailureFunctionState>;

/** Whether an endpoint answered that it has no failure function. */
export const hasNoFunction = (prefix: string, headers: readonly Header[]): boolean =>
  branded(prefix, { 'workflow-failure-callback-notfound': 'true' }).some(([name, value]) =>
    valuesOf(headers, name).some((given) => given.toLowerCase() === value),
  );

/**
 * @param prefix the header prefix of the run's dialect
 * @param headers of the answer
 * @returns undefined if the endpoint has no failure function
 */
export const failureFunctionStateAfter = (
  state: AttemptState,
  prefix: string,
  headers: readonly Header[],
): FailureFunctionState | undefined =>
  state === 'DELIVERED' && hasNoFunction(prefix, headers) ? undefined : afterAttempt[state];
