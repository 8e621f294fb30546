/** Writes messages, the records of their attempts, and their ends. */
import { PutItemCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { logSubjectOf } from './logSubject.ts';
import type { Attempt, Message, OpenAttempt } from './message.ts';
import { epochSeconds } from '../shared/clock.ts';
import { settings } from '../aws/settings.ts';
import { dynamodb, putAll, putNew, toItem, unlessRefused } from '../aws/dynamodb.ts';
import type { StoredBody } from './bodies.ts';
import {
  attemptId,
  endId,
  followingAttributes,
  heldId,
  openId,
  keyOf,
  ownAttributes,
  type End,
  type MessageKey,
} from './rows.ts';

const toRow = (message: Message, body: StoredBody): object => ({ ...ownAttributes(message), body });

/** Writes a message's row, over one that may be there already. */
export async function putMessage(message: Message, body: StoredBody): Promise<void> {
  await dynamodb.send(
    new PutItemCommand({ TableName: settings.messagesTable, Item: toItem(toRow(message, body)) }),
  );
}

/** Writes the rows of many messages; see {@link putAll}. */
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
 * @throws where it could not be written
 */
export async function putVersion(message: Message, body: StoredBody): Promise<void> {
  await unlessRefused(
    dynamodb.send(
      new PutItemCommand({
        TableName: settings.messagesTable,
        Item: toItem(toRow(message, body)),
        ConditionExpression: 'attribute_not_exists(id) OR #debounce.#version < :version',
        ExpressionAttributeNames: { '#debounce': 'debounce', '#version': 'version' },
        ExpressionAttributeValues: toItem({ ':version': message.debounce?.version ?? 0 }),
      }),
    ),
  );
}

/**
 * Writes a changed message over its row.
 *
 * @param before the message as it was read
 * @returns false if it was changed since, or is not there any more
 */
export async function replaceMessage(before: Message, after: Message, body: StoredBody): Promise<boolean> {
  const { change, retriedAs } = before;
  const values = {
    ...(change !== undefined && { ':change': change.id }),
    ...(retriedAs !== undefined && { ':retriedAs': retriedAs }),
  };
  return unlessRefused(
    dynamodb.send(
      new PutItemCommand({
        TableName: settings.messagesTable,
        Item: toItem(toRow(after, body)),
        ConditionExpression: [
          'attribute_exists(id)',
          change === undefined ? 'attribute_not_exists(#change)' : '#change.id = :change',
          retriedAs === undefined ? 'attribute_not_exists(retriedAs)' : 'retriedAs = :retriedAs',
        ].join(' AND '),
        ExpressionAttributeNames: { '#change': 'change' },
        ...(Object.keys(values).length > 0 && { ExpressionAttributeValues: toItem(values) }),
      }),
    ),
  );
}

/**
 * Extends the lifetime of a message's row.
 *
 * @param body the place of its body from now on
 */
export async function extendMessageRow(message: Message, body: StoredBody): Promise<void> {
  await dynamodb.send(
    new UpdateItemCommand({
      TableName: settings.messagesTable,
      Key: toItem(keyOf(message)),
      UpdateExpression: 'SET #body = :body, expiresAt = :expiresAt',
      ConditionExpression: 'attribute_exists(id)',
      ExpressionAttributeNames: { '#body': 'body' },
      ExpressionAttributeValues: toItem({ ':body': body, ':expiresAt': epochSeconds(message.expiresAt) }),
    }),
  );
}

/**
 * Names in a message the one that was made from it, unless the row is not kept any more.
 *
 * @param retriedAs the id of a message that is stored
 */
export async function noteRetry(message: MessageKey, retriedAs: string): Promise<void> {
  await unlessRefused(
    dynamodb.send(
      new UpdateItemCommand({
        TableName: settings.messagesTable,
        Key: toItem(keyOf(message)),
        UpdateExpression: 'SET retriedAs = :retriedAs',
        ConditionExpression: 'attribute_exists(id)',
        ExpressionAttributeValues: toItem({ ':retriedAs': retriedAs }),
      }),
    ),
  );
}

/**
 * Records a finished attempt. Where two workers made the same attempt, one records it.
 *
 * @returns whether this call did
 */
export async function recordAttempt(message: Message, attempt: Attempt): Promise<boolean> {
  const { number, response, ...rest } = attempt;
  // The log shows a destination's answer to a failed attempt; for a successful one, the status says enough. But the answer of a
  // failure function is shown nowhere else, and callbacks are still to be made of a completion.
  const kept =
    attempt.state === 'DELIVERED' &&
    attempt.isCompleted !== true &&
    message.workflow?.role !== 'failureRequest'
      ? { status: response.status, headers: [], body: new Uint8Array() }
      : response;
  return putNew(settings.messagesTable, 'id', {
    ...followingAttributes(logSubjectOf(message), message, attemptId(message.messageId, number)),
    ...rest,
    attempt: number,
    response: kept,
  });
}

/**
 * Notes for the log that an attempt waits for its host, unless that is noted.
 *
 * @param now Unix milliseconds
 */
export async function noteHeld(message: Message, attempt: number, now: number): Promise<void> {
  await putNew(settings.messagesTable, 'id', {
    ...followingAttributes(logSubjectOf(message), message, heldId(message.messageId, attempt)),
    state: 'HELD',
    held: attempt,
    recordedAt: now,
  });
}

/**
 * Notes that an attempt is open: its destination has answered 202. A second note changes nothing.
 *
 * @param now Unix milliseconds
 */
export async function noteOpen(message: Message, open: OpenAttempt, now: number): Promise<void> {
  const { number, ...rest } = open;
  await putNew(settings.messagesTable, 'id', {
    ...followingAttributes(logSubjectOf(message), message, openId(message.messageId, number)),
    ...rest,
    open: number,
    // Readers that count outcomes pass over it.
    state: 'HELD',
    recordedAt: now,
  });
}

/**
 * Ends a message: a worker that finds this row makes no attempt. The log shows the end of a message that was cancelled; one that was
 * not accepted is shown nowhere.
 *
 * @returns whether it had no such end before
 */
export async function endMessage(message: Message, end: End, now: number): Promise<boolean> {
  return putNew(settings.messagesTable, 'id', {
    ...followingAttributes(logSubjectOf(message), message, endId(message.messageId)),
    end,
    endedAt: now,
    recordedAt: end === 'CANCELED' ? now : undefined,
  });
}
