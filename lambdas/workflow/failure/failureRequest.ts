import { limitsOf, type Account } from '../../account/account.ts';
import type { DestinationResponse } from '../../destination/response.ts';
import { accountCallbackSettings } from '../../delivery/accountCallbackSettings.ts';
import { expiryOf, type CallbackSettings, type Message, type WorkflowPart } from '../../message/message.ts';
import { failureBody, failureSource } from './failureBody.ts';
import { forwardedByRun, overlaid } from '../rules/forwarding.ts';
import { settings } from '../../aws/settings.ts';
import { storeBody } from '../../message/bodies.ts';
import { putMessage } from '../../message/messages.ts';
import { type RecordedAttempt } from '../../message/history.ts';
import { dueTimeOf } from '../../message/status.ts';
import { derivedId } from '../../shared/ids.ts';
import { ensureKeys } from '../../lane/ensureKeys.ts';
import type { LoadedRun } from '../runs/loadRun.ts';
import { loadEntryBodies } from '../runs/entryBodies.ts';
import type { RunKey, RunStart } from '../rules/journal.ts';
import { withTrace } from '../../request/traceContext.ts';

interface FailedDelivery {
  readonly message: Message;
  readonly response: DestinationResponse;
  readonly retried: number;
  readonly dlqId: string;
}

export const failureCallbackOf = (
  { failureCallback }: RunStart,
  account: Account,
): CallbackSettings | undefined =>
  failureCallback ?? accountCallbackSettings(account.failureCallback, account);

/**
 * Stores the failure callback of a run. It replaces one that an earlier try stored.
 *
 * @param request its id, and its time
 * @returns the message, whose job must still be sent; undefined if the failure is not reported
 */
export async function storeRequestOf(
  account: Account,
  run: LoadedRun,
  failed: FailedDelivery,
  request: { readonly messageId: string; readonly createdAt: number },
): Promise<Message | undefined> {
  const { start, key, snapshot, entries } = run;
  const callback = failureCallbackOf(start, account);
  if (callback === undefined) return undefined;
  const limits = limitsOf(account);
  const { delayMs, ...ofCallback } = callback;
  const features = new Set(start.features);
  const source = await loadEntryBodies(features.has('InitialBody') ? entries.slice(0, 1) : entries);
  // Clients before 1.0 read the user's headers from the body.
  const headers = overlaid(forwardedByRun(start.forwarded, settings.headerPrefixes), failed.message.headers);
  const details = {
    ...failed,
    message: { ...failed.message, headers },
    body: failureSource(source, features),
  };
  const identity = { runId: key.runId, createdAt: snapshot.createdAt, url: start.url };
  const notBefore = request.createdAt + delayMs;
  const deferredMs = ofCallback.deferredMs ?? start.settings.deferredMs;
  const message: Message = {
    ...ofCallback,
    headers: withTrace(ofCallback.headers, start.forwarded),
    // The body contains the run's payload and headers, so it is redacted if those are.
    redaction: start.settings.redaction && { ...start.settings.redaction, body: true },
    labels: start.settings.labels,
    deferredMs,
    ...request,
    accountId: key.accountId,
    prefix: start.prefix,
    notBefore,
    callerIp: start.callerIp,
    workflow: {
      role: 'failureRequest',
      runId: key.runId,
      createdAt: snapshot.createdAt,
      startSeq: snapshot.startSeq,
      dlqId: failed.dlqId,
    },
    expiresAt: expiryOf({ ...ofCallback, notBefore, deferredMs }, limits),
  };
  const body = failureBody(identity, details, limits.max_message_size);
  await ensureKeys(message);
  await putMessage(message, await storeBody(message, body, request.createdAt));
  return message;
}

export const keyOf = ({ history }: RecordedAttempt, { runId }: WorkflowPart): RunKey => ({
  accountId: history.message.accountId,
  runId,
});

/** The failure callback's id, derived from the failed attempt. */
export const requestIdOf = ({ history, attempt }: RecordedAttempt): string =>
  derivedId(
    'msg',
    dueTimeOf(history, attempt.number),
    `${history.message.messageId}/${attempt.number}/failure-request`,
  );
