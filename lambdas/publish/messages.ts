import type { Account } from '../account/account.ts';
import type * as answers from '../wire/answers.ts';
import type { Answer } from '../wire/answers.ts';
import { fitting } from '../wire/answerSize.ts';
import { holdsOfMessage } from '../lane/holds.ts';
import { circuitOf } from '../lane/hostCircuits.ts';
import { now } from '../shared/clock.ts';
import { badRequest, notFound, quote } from '../error/httpError.ts';
import { isOver, type WorkflowPart } from '../message/message.ts';
import { bodyRecord, messageRecord, statusRecord } from '../message/records.ts';
import { loadBody } from '../message/bodies.ts';
import { isHeldBack, loadMessage, type MessageHistory } from '../message/history.ts';
import { dueTimeOf, nextAttemptOf } from '../message/status.ts';
import { callbackIdsOf, dlqIdOf } from '../message/consequenceIds.ts';

export const noSuchMessage = (messageId: string): Error =>
  notFound('message_not_found', `There is no message ${quote(messageId)} that waits for its delivery.`);

export const ofRun = (messageId: string, { runId }: WorkflowPart): Error =>
  badRequest(
    'message_of_run',
    `The message ${quote(messageId)} belongs to the run ${quote(runId)}; cancel the run.`,
  );

/** @throws HttpError 404 if it does not exist or is over */
export async function loadWaiting(account: Account, messageId: string): Promise<MessageHistory> {
  const history = await loadMessage({ accountId: account.id, messageId });
  if (history === undefined || isOver(history)) throw noSuchMessage(messageId);
  return history;
}

/** @throws HttpError 404 if it does not exist or is over */
export async function getMessage(
  account: Account,
  messageId: string,
): Promise<Answer<typeof answers.message>> {
  const history = await loadWaiting(account, messageId);
  const { message, attempts } = history;
  const body = await loadBody(messageId, history.body);
  return fitting((bodies) => ({
    ...messageRecord(message),
    ...bodyRecord(body, message.redaction, bodies),
    retried: attempts.length,
    nextDeliveryTime: dueTimeOf(history, nextAttemptOf(history)),
  }));
}

/** @throws HttpError 404 if it does not exist, was not accepted, or is no longer kept */
export async function loadAccepted(account: Account, messageId: string): Promise<MessageHistory> {
  const history = await loadMessage({ accountId: account.id, messageId });
  if (history === undefined || history.end === 'REJECTED') {
    throw notFound('message_not_found', `There is no message ${quote(messageId)}, or it is no longer kept.`);
  }
  return history;
}

export const loadKeptBody = async ({ message, body }: MessageHistory): Promise<Uint8Array | undefined> =>
  message.expiresAt > now() ? loadBody(message.messageId, body) : undefined;

/** Reads the circuit and the holds for which the next attempt waits, if it does. */
async function holding(account: Account, history: MessageHistory) {
  const { message, attempts } = history;
  if (isOver(history)) return {};
  const [heldBy, holds] = await Promise.all([
    circuitOf(account, message.url),
    holdsOfMessage(account, message),
  ]);
  const isAny = heldBy !== undefined || holds !== undefined;
  return isAny && (await isHeldBack(message, attempts.length)) ? { heldBy, holds } : {};
}

/**
 * Includes the body while it is kept.
 *
 * @throws HttpError 404
 */
export async function getMessageInAnyState(
  account: Account,
  messageId: string,
): Promise<Answer<typeof answers.messageInAnyState>> {
  const history = await loadAccepted(account, messageId);
  const { message, attempts } = history;
  const last = attempts.at(-1);
  const [body, held] = await Promise.all([loadKeptBody(history), holding(account, history)]);
  return fitting((bodies) => ({
    ...messageRecord(message),
    ...(body && bodyRecord(body, message.redaction, bodies)),
    ...statusRecord(history),
    ...held,
    callbackIds: attempts.flatMap((attempt) => callbackIdsOf({ history, attempt })),
    // A dead letter of a run is not shown as the message's.
    dlqId:
      last?.state === 'FAILED' && message.workflow === undefined ? dlqIdOf(history, last.number) : undefined,
  }));
}
