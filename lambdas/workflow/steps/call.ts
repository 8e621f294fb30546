import { limitsOf, type Account } from '../../account/account.ts';
import { now } from '../../shared/clock.ts';
import { newId } from '../../shared/ids.ts';
import { expiryOf, latestEndOf, type CallbackSettings, type Message } from '../../message/message.ts';
import { badRequest } from '../../error/httpError.ts';
import type { CallRecord, Snapshot, RunStart, StepsRecord, RunKey } from '../rules/journal.ts';
import { settingsOfAnswer } from '../rules/runSettings.ts';
import type { CallMessage } from '../rules/workflowMessage.ts';
import { storeBody } from '../../message/bodies.ts';
import { loadMessage } from '../../message/history.ts';
import { neededUntil } from '../runs/changeRun.ts';
import { findRecord, isStepsOf, resultIn, sendMessages } from '../runs/follow.ts';
import type { PreparedPart } from './prepare.ts';
import { beginStep, loadActiveRun, type Submitted } from './activeRun.ts';

/**
 * Makes a call to a third party. The endpoint gets the answer, and submits it as the step's result.
 *
 * @throws HttpError 400 if the run has ended or is unknown, 412 if the call can never be accepted
 */
export async function submitCall(account: Account, part: PreparedPart<CallMessage>): Promise<Submitted> {
  const { message, request } = part;
  const { step } = message;
  const { key, start } = await loadActiveRun(account, message, part.telling);
  const createdAt = now();
  const messageId = newId('msg', createdAt, account.shards);
  const call = (snapshot: Snapshot): Message =>
    callOf(account, key, snapshot, start, part, { messageId, createdAt });

  // The run's settings apply to the delivery of the answer.
  const deferredMs = deferralOfCall(part, start);
  const needed = neededUntil(account, start.settings, latestEndOf({ ...part.options, deferredMs }));
  const record: CallRecord = { kind: 'call', at: createdAt, step, messageId };
  const { active, isNew } = await beginStep(key, message, record, needed);
  if (isNew) {
    await send(call(active), request.body);
    return { messageId, isDuplicate: false };
  }
  const first = await firstOf(key, active, step.stepId);
  if (first.kind === 'steps') return { messageId: resultIn(first, step.stepId).messageId, isDuplicate: true };
  const begun = await loadMessage({ accountId: account.id, messageId: first.messageId });
  // If the call is repeated, the stored one is sent, even if the user's code asks for something different.
  if (begun === undefined) {
    await send({ ...call(active), messageId: first.messageId, createdAt: first.at }, request.body);
  } else await sendMessages([{ message: begun.message, stored: begun.body }], true);
  return { messageId: first.messageId, isDuplicate: true };
}

async function send(message: Message, body: Uint8Array): Promise<void> {
  await sendMessages([{ message, stored: await storeBody(message, body, message.createdAt) }], false);
}

function firstOf(key: RunKey, snapshot: Snapshot, stepId: number): Promise<CallRecord | StepsRecord> {
  const isResult = isStepsOf({ kind: 'result', stepId });
  return findRecord(
    key,
    snapshot,
    (record): record is CallRecord | StepsRecord =>
      isResult(record) || (record.kind === 'call' && record.step.stepId === stepId),
  );
}

/** A call without this setting uses that of its run. */
const deferralOfCall = ({ options }: Pick<PreparedPart<CallMessage>, 'options'>, start: RunStart) =>
  options.deferredMs ?? start.settings.deferredMs;

function callOf(
  account: Account,
  { accountId, runId }: RunKey,
  { createdAt: runCreatedAt, startSeq }: Snapshot,
  start: RunStart,
  part: PreparedPart<CallMessage>,
  { messageId, createdAt }: { readonly messageId: string; readonly createdAt: number },
): Message {
  const { options, url, request } = part;
  const deferredMs = deferralOfCall(part, start);
  const { callback, failureCallback: _failureCallback, deduplication: _deduplication, ...settings } = options;
  if (callback === undefined)
    throw badRequest('workflow_request_invalid', 'A call has no callback for its answer.');
  const features = new Set(start.features);
  const toEndpoint: CallbackSettings = {
    ...settingsOfAnswer(features, start.settings, callback),
    timeoutMs: start.settings.timeoutMs,
    delayMs: 0,
  };
  return {
    ...settings,
    redaction: settings.redaction ?? start.settings.redaction,
    deferredMs,
    url,
    callback: toEndpoint,
    messageId,
    accountId,
    prefix: request.prefix,
    createdAt,
    callerIp: request.callerIp,
    workflow: { role: 'call', runId, createdAt: runCreatedAt, startSeq },
    expiresAt: expiryOf({ ...settings, deferredMs }, limitsOf(account)),
  };
}
