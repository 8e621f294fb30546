/**
 * The rows of the messages table.
 *
 * A message has these rows in its partition, in this order: its own row, one for each attempt, and one for
 * its end if it was cancelled. Its own row changes only when its expiry, its body's place or the id of a
 * message made from it changes.
 */
import * as z from 'zod/mini';
import { shardOf, timeOfId } from '../shared/ids.ts';
import * as shapes from './message.ts';
import type { Attempt, LogSubject, Message, OpenAttempt } from './message.ts';
import { epochSeconds } from '../shared/clock.ts';
import type { AttemptOutline } from './status.ts';
import type { Row } from '../aws/dynamodb.ts';

const { number, state, recordedAt, nextDeliveryAt } = shapes.attempt.shape;
const outline = z.object({
  number,
  state,
  recordedAt,
  nextDeliveryAt,
  response: z.partial(z.pick(shapes.keptResponse, { status: true, error: true, body: true }), {
    error: true,
    body: true,
  }),
});

/** Ends that are not attempts: the message was cancelled, or not accepted after all. */
const ends = ['CANCELED', 'REJECTED'] as const;
export type End = (typeof ends)[number];
const endRow = z.object({ end: z.enum(ends), endedAt: z.number() });

export type MessageKey = Pick<Message, 'accountId' | 'messageId'>;

export type LastAttempt = Pick<Attempt, 'number' | 'recordedAt' | 'nextDeliveryAt'>;

export const keyOf = ({ accountId, messageId }: MessageKey, id = messageId) => ({
  shard: shardOf(accountId, messageId),
  id,
});

/** `~` sorts after all characters of an id, so these rows follow the message's own. */
export const attemptId = (messageId: string, attempt: number): string =>
  `${messageId}~${String(attempt).padStart(6, '0')}`;
/** Sorts right after {@link attemptId}. */
export const heldId = (messageId: string, attempt: number): string => `${attemptId(messageId, attempt)}~held`;
/** Sorts right after {@link heldId}. */
export const openId = (messageId: string, attempt: number): string => `${attemptId(messageId, attempt)}~open`;
/** Sorts after all attempts. */
export const endId = (messageId: string): string => `${messageId}~end`;

type Labelled = { readonly labels: readonly string[] };
const withoutEmptyLabels = (of: Labelled): object => ({
  ...of,
  labels: of.labels.length === 0 ? undefined : of.labels,
});
const callbackAttributes = (of: Labelled | undefined): object | undefined => of && withoutEmptyLabels(of);

/** The attributes of a message, for any table. */
export const messageAttributes = (of: Message): object => ({
  ...withoutEmptyLabels(of),
  callback: callbackAttributes(of.callback),
  failureCallback: callbackAttributes(of.failureCallback),
});

/** Left out, because the row's key has them, and writes are billed by the kilobyte. */
const impliedByKey = { messageId: undefined, accountId: undefined };

export const ownAttributes = (of: Message): object => ({
  ...messageAttributes(of),
  ...impliedByKey,
  ...keyOf(of),
  expiresAt: epochSeconds(of.expiresAt),
});

/** The attributes of an attempt's row that the log shows or filters. */
export const followingAttributes = (subject: LogSubject, of: Message, id: string): object => ({
  ...withoutEmptyLabels(subject),
  ...impliedByKey,
  ...keyOf(of, id),
  expiresAt: epochSeconds(of.expiresAt),
});

const key = z.object({ shard: z.string(), id: z.string() });

/**
 * In milliseconds. A delivery this soon after its message was accepted is prompt. Its record has the time
 * since then, `after`, instead of `recordedAt`. So it is not in the index `log`, where an entry would cost as
 * much as the record.
 */
export const promptMs = 2_000;

const promptRow = z.object({ id: z.string(), after: z.number() });

/** @returns Unix milliseconds; undefined for a message's own row */
export function recordedAtOf(row: Row): unknown {
  if (!('after' in row)) return row['recordedAt'];
  const { id, after } = promptRow.parse(row);
  return timeOfId(id.replace(/~.*$/, '')) + after;
}

export const messageIdOf = (row: Row): string => key.parse(row).id.replace(/~.*$/, '');

export const ownKeyOf = (row: Row): MessageKey => ({
  messageId: messageIdOf(row),
  accountId: key.parse(row).shard.replace(/#\d+$/, ''),
});

function withImplied(row: Row): Row {
  return { ...row, ...ownKeyOf(row) };
}

export function messageOf(attributes: Row): Message {
  const { expiresAt, ...rest } = shapes.message.parse(attributes);
  return { ...rest, expiresAt: expiresAt * 1000 };
}

export const ownMessageOf = (row: Row): Message => messageOf(withImplied(row));

export const subjectOf = (row: Row): LogSubject => shapes.logSubject.parse(withImplied(row));

export const isAttempt = (row: Row): boolean => 'attempt' in row;

const recorded = (row: Row): Row => ({ ...row, number: row['attempt'], recordedAt: recordedAtOf(row) });

export const attemptOf = (row: Row): Attempt => shapes.attempt.parse(recorded(row));

export const outlineOf = (row: Row): AttemptOutline => outline.parse(recorded(row));

export const isHeld = (row: Row): boolean => 'held' in row;

const heldRow = z.object({ held: z.number() });

export const heldAttemptOf = (row: Row): number => heldRow.parse(row).held;

export const isOpen = (row: Row): boolean => 'open' in row;

const openRow = z.object({
  open: z.number(),
  startedAt: z.number(),
  until: z.number(),
  isOffered: z.optional(z.boolean()),
});

export function openOf(row: Row): OpenAttempt {
  const { open, ...rest } = openRow.parse(row);
  return { number: open, ...rest };
}

export const isEnd = (row: Row): boolean => 'end' in row;

export const endOf = (row: Row): End => endRow.parse(row).end;

export const endedAtOf = (row: Row): number => endRow.parse(row).endedAt;

/** Makes a projection. `a.b` names a nested attribute. Names get a `#`, because DynamoDB reserves some. */
export const projectionOf = (attributes: readonly string[]) => ({
  ProjectionExpression: attributes.map((path) => path.replace(/[^.]+/g, '#$&')).join(', '),
  ExpressionAttributeNames: Object.fromEntries(
    attributes.flatMap((path) => path.split('.')).map((name) => [`#${name}`, name]),
  ),
});

/** All attributes of a message's row except its body. */
export const listedAttributes = (): readonly string[] => [
  ...Object.keys(key.shape),
  ...Object.keys(shapes.message.shape).filter((name) => !(name in impliedByKey)),
];
