import { logSubjectOf } from './logSubject.ts';
import { isEcho } from '../destination/echo.ts';
import { beginningOf } from '../shared/bytes.ts';
import type { Attempt, KeptResponse, Message, OpenAttempt } from './message.ts';
import { epochSeconds } from '../shared/clock.ts';
import { timeOfId } from '../shared/ids.ts';
import { settings } from '../aws/settings.ts';
import { putAll } from '../aws/dynamodb.ts';
import type { StoredBody } from './message.ts';
import {
  attemptId,
  endId,
  followingAttributes,
  heldId,
  openId,
  keyOf,
  ownAttributes,
  promptMs,
  type End,
  type MessageKey,
} from './rows.ts';
import { put, putMarked, update, putNew, unlessRefused, ifNew } from '../aws/writes.ts';

const toRow = (message: Message, body: StoredBody): object => ({ ...ownAttributes(message), body });

/** Writes a message's row. Replaces an existing one. */
export async function putMessage(message: Message, body: StoredBody): Promise<void> {
  await put(settings.messagesTable, toRow(message, body));
}

export const putMessages = (
  messages: readonly { readonly message: Message; readonly stored: StoredBody }[],
): Promise<void> =>
  putAll(
    settings.messagesTable,
    messages.map(({ message, stored }) => toRow(message, stored)),
  );

/**
 * Writes a version of a debounced message, unless its row has a later one.
 *
 * @throws if the write failed
 */
export async function putVersion(message: Message, body: StoredBody): Promise<void> {
  await put(settings.messagesTable, toRow(message, body), {
    onlyIf: 'attribute_not_exists(id) OR #debounce.#version < :version',
    values: { version: message.debounce?.version ?? 0 },
  });
}

/**
 * @param before the message as it was read
 * @returns false if the message was changed or removed since
 */
export async function replaceMessage(before: Message, after: Message, body: StoredBody): Promise<boolean> {
  const { change, retriedAs } = before;
  return unlessRefused(
    put(settings.messagesTable, toRow(after, body), {
      onlyIf: [
        'attribute_exists(id)',
        change === undefined ? 'attribute_not_exists(#change)' : '#change.id = :change',
        retriedAs === undefined ? 'attribute_not_exists(retriedAs)' : 'retriedAs = :retriedAs',
      ].join(' AND '),
      values: { change: change?.id, retriedAs },
    }),
  );
}

/** @param body the new place of its body */
export async function extendMessageRow(message: Message, body: StoredBody): Promise<void> {
  const { isMade } = await update(
    settings.messagesTable,
    keyOf(message),
    'SET #body = :body, expiresAt = :expiresAt',
    { onlyIf: 'attribute_exists(id)', values: { body, expiresAt: epochSeconds(message.expiresAt) } },
  );
  if (!isMade) throw new Error(`The row of the message ${message.messageId} is gone.`);
}

/** @param retriedAs a message that is already stored */
export async function noteRetry(message: MessageKey, retriedAs: string): Promise<void> {
  await update(settings.messagesTable, keyOf(message), 'SET retriedAs = :retriedAs', {
    onlyIf: 'attribute_exists(id)',
    values: { retriedAs },
  });
}

/**
 * @param keptBytes of the body of a successful answer; if 0, only its status is kept
 * @returns false if another process recorded the attempt first
 */
export async function recordAttempt(message: Message, attempt: Attempt, keptBytes = 0): Promise<boolean> {
  const { number, response, ...rest } = attempt;
  const kept = isWholeKept(message, attempt) ? response : keptOf(response, keptBytes);
  const after = attempt.recordedAt - timeOfId(message.messageId);
  const isPrompt = attempt.state === 'DELIVERED' && after >= 0 && after <= promptMs;
  const row = {
    ...followingAttributes(logSubjectOf(message), message, attemptId(message.messageId, number)),
    ...rest,
    ...(isPrompt && { recordedAt: undefined, after }),
    attempt: number,
    response: kept,
  };
  return unlessRefused(putMarked(settings.messagesTable, row, ifNew));
}

/**
 * Answers that are recorded in full. A failure function's answer is shown with its run, the callbacks of a
 * completion are made from it later, and the echo exists for its answer.
 */
const isWholeKept = ({ workflow, url }: Message, { state, isCompleted }: Attempt): boolean =>
  state !== 'DELIVERED' || isCompleted === true || workflow?.role === 'failureRequest' || isEcho(url);

const keptOf = ({ status, headers, body }: KeptResponse, bytes: number): KeptResponse => ({
  status,
  headers: bytes === 0 ? [] : headers,
  body: beginningOf(body, bytes),
});

/** Notes once that an attempt waits for its host. */
export async function noteHeld(message: Message, attempt: number, now: number): Promise<void> {
  await putNew(settings.messagesTable, {
    ...followingAttributes(logSubjectOf(message), message, heldId(message.messageId, attempt)),
    state: 'HELD',
    held: attempt,
    recordedAt: now,
  });
}

/** Notes once that an attempt is open. */
export async function noteOpen(message: Message, open: OpenAttempt, now: number): Promise<void> {
  const { number, ...rest } = open;
  await putNew(settings.messagesTable, {
    ...followingAttributes(logSubjectOf(message), message, openId(message.messageId, number)),
    ...rest,
    open: number,
    // This state is ignored when outcomes are counted.
    state: 'HELD',
    recordedAt: now,
  });
}

/**
 * Changes until when an attempt stays open, and so who works on it.
 *
 * @param onlyIf whether a client takes an offered attempt, or the client that took it extends its time
 * @returns false if the attempt is not open in that way
 */
export async function changeOpen(
  message: MessageKey,
  { number, startedAt, until }: OpenAttempt,
  onlyIf: 'offered' | 'open',
): Promise<boolean> {
  const isOffered =
    onlyIf === 'offered' ? 'isOffered = :true' : '(attribute_not_exists(isOffered) OR isOffered = :false)';
  const { isMade } = await update(
    settings.messagesTable,
    keyOf(message, openId(message.messageId, number)),
    'SET startedAt = :startedAt, #until = :until, isOffered = :false',
    {
      onlyIf: `attribute_exists(id) AND ${isOffered}`,
      values: { startedAt, until, false: false, true: onlyIf === 'offered' ? true : undefined },
    },
  );
  return isMade;
}

/**
 * Ends a message. No attempt is made after this row is found. The log shows only the end of a cancelled
 * message.
 *
 * @returns whether this is the first such end of the message
 */
export async function endMessage(message: Message, end: End, now: number): Promise<boolean> {
  return putNew(settings.messagesTable, {
    ...followingAttributes(logSubjectOf(message), message, endId(message.messageId)),
    end,
    endedAt: now,
    recordedAt: end === 'CANCELED' ? now : undefined,
  });
}
