/** Lists messages as they are configured, without their bodies. */
import { timeOfId } from '../../domain/ids.ts';
import type { Message } from '../../domain/message/message.ts';
import type { AttemptOutline } from '../../domain/message/standing.ts';
import { settings } from '../../settings.ts';
import { getRows, queryRows } from '../dynamodb.ts';
import { idBounds, isBehind, rowsPerRead, type Ordered, type Range } from '../shards.ts';
import {
  endedAtOf,
  endOf,
  isAttempt,
  isEnd,
  isHeld,
  keyOf,
  listedAttributes,
  messageIdOf,
  outlineOf,
  ownMessageOf,
  projectionOf,
  type End,
  type MessageKey,
} from './rows.ts';

/** A message as the log tells of it: without its body. */
export interface LoggedMessage extends Ordered {
  readonly message: Message;
  readonly end: End | undefined;
}

/** A message in a list, with what tells how it stands. */
export interface ListedMessage extends LoggedMessage {
  /** By number. */
  readonly attempts: readonly AttemptOutline[];
  /** When it came to its end, in Unix milliseconds; undefined for a message without one. */
  readonly endedAt: number | undefined;
}

/**
 * Reads the own rows of many messages of an account, as they were a moment ago: for lists that show what messages are
 * configured with. A row of 4 KB costs half a read.
 *
 * @param messageIds each once
 * @returns by id; one whose row has expired is not among them
 */
export async function loadMessages(
  accountId: string,
  messageIds: readonly string[],
): Promise<ReadonlyMap<string, Message>> {
  const keys = messageIds.map((messageId) => keyOf({ accountId, messageId }));
  const rows = await getRows(settings.messagesTable, keys, projectionOf(listedAttributes()));
  return new Map(
    rows.map((row) => {
      const message = ownMessageOf(row);
      return [message.messageId, message];
    }),
  );
}

/** Finds out, strongly consistent, which messages have their rows. */
export async function storedMessages(keys: readonly MessageKey[]): Promise<ReadonlySet<string>> {
  const reading = { ...projectionOf(['shard', 'id']), ConsistentRead: true };
  const rows = await getRows(
    settings.messagesTable,
    keys.map((key) => keyOf(key)),
    reading,
  );
  return new Set(rows.map(messageIdOf));
}

/** The attributes of the rows behind a message that tell how it stands. */
const standing = [
  'held',
  'end',
  'endedAt',
  'attempt',
  'state',
  'recordedAt',
  'nextDeliveryAt',
  'response.status',
];

/**
 * Lists the messages of one shard, newest first. The rows behind a message come before it in this order, and tell how it
 * stands.
 */
export async function* listMessages(shard: string, range: Range): AsyncGenerator<ListedMessage> {
  const bounds = idBounds('msg', range);
  // DynamoDB refuses a range that ends before it begins: a cursor may lie before the first moment that is asked for.
  if (bounds.first > bounds.last) return;
  const rows = queryRows({
    TableName: settings.messagesTable,
    KeyConditionExpression: '#shard = :shard AND #id BETWEEN :first AND :last',
    ...projectionOf([...listedAttributes(), ...standing]),
    ExpressionAttributeValues: {
      ':shard': { S: shard },
      ':first': { S: bounds.first },
      ':last': { S: bounds.last },
    },
    ScanIndexForward: false,
    Limit: rowsPerRead,
  });
  let recorded = nothingRecorded('');
  for await (const row of rows) {
    const messageId = messageIdOf(row);
    // A message's own row may be gone while rows behind it are left: they say nothing of the next message.
    if (recorded.messageId !== messageId) recorded = nothingRecorded(messageId);
    if (isEnd(row)) {
      recorded.end = endOf(row);
      recorded.endedAt = endedAtOf(row);
    } else if (isAttempt(row)) recorded.attempts.push(outlineOf(row));
    else if (!isHeld(row)) {
      const { end, endedAt, attempts } = recorded;
      const listed = {
        message: ownMessageOf(row),
        end,
        endedAt,
        attempts: attempts.reverse(),
        id: messageId,
        time: timeOfId(messageId),
      };
      if (isBehind(listed, range.behind)) yield listed;
    }
  }
}

/** The facts that the rows behind a message tell, collected until its own row comes. */
interface Recorded {
  readonly messageId: string;
  end: End | undefined;
  endedAt: number | undefined;
  /** The last one first. */
  readonly attempts: AttemptOutline[];
}

const nothingRecorded = (messageId: string): Recorded => ({
  messageId,
  end: undefined,
  endedAt: undefined,
  attempts: [],
});
