/** Lists messages as they are configured, without their bodies. */
import { timeOfId } from '../../domain/ids.ts';
import type { Message } from '../../domain/message/message.ts';
import type { AttemptOutline } from '../../domain/message/standing.ts';
import { settings } from '../../settings.ts';
import { getRows, queryRows, type Row } from '../dynamodb.ts';
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
 * Lists the messages of one shard. The rows behind a message tell how it stands: newest first, they come before it, and else
 * after it.
 */
export async function* listMessages(shard: string, range: Range): AsyncGenerator<ListedMessage> {
  const bounds = idBounds('msg', range);
  const isEarliestFirst = range.order === 'earliestFirst';
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
    ScanIndexForward: isEarliestFirst,
    Limit: rowsPerRead,
  });
  let recorded = nothingRecorded('');
  const isWhole = (): boolean =>
    recorded.own !== undefined && isBehind({ id: recorded.messageId, time: timeOfId(recorded.messageId) }, range);
  for await (const row of rows) {
    const messageId = messageIdOf(row);
    // A message's own row may be gone while rows behind it are left: they say nothing of the next message.
    if (recorded.messageId !== messageId) {
      if (isEarliestFirst && isWhole()) yield listedOf(recorded);
      recorded = nothingRecorded(messageId);
    }
    if (isEnd(row)) {
      recorded.end = endOf(row);
      recorded.endedAt = endedAtOf(row);
    } else if (isAttempt(row)) recorded.attempts.push(outlineOf(row));
    else if (!isHeld(row)) {
      recorded.own = row;
      if (!isEarliestFirst && isWhole()) yield listedOf(recorded);
    }
  }
  if (isEarliestFirst && isWhole()) yield listedOf(recorded);
}

/** A message's own row, and the facts that the rows behind it tell, collected until all have come. */
interface Recorded {
  readonly messageId: string;
  own: Row | undefined;
  end: End | undefined;
  endedAt: number | undefined;
  /** In the order in which they came. */
  readonly attempts: AttemptOutline[];
}

function listedOf({ messageId, own = {}, end, endedAt, attempts }: Recorded): ListedMessage {
  return {
    message: ownMessageOf(own),
    end,
    endedAt,
    attempts: attempts.sort((one, other) => one.number - other.number),
    id: messageId,
    time: timeOfId(messageId),
  };
}

const nothingRecorded = (messageId: string): Recorded => ({
  messageId,
  own: undefined,
  end: undefined,
  endedAt: undefined,
  attempts: [],
});
