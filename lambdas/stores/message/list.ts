/** Lists messages as they are configured, without their bodies. */
import { timeOfId } from '../../domain/ids.ts';
import { isOver } from '../../domain/message/isOver.ts';
import type { AttemptState, Message } from '../../domain/message/message.ts';
import { settings } from '../../settings.ts';
import { getRows, queryRows } from '../dynamodb.ts';
import { idBounds, isBehind, rowsPerRead, type Ordered, type Range } from '../shards.ts';
import {
  endOf,
  isAttempt,
  isEnd,
  keyOf,
  lastAttemptOf,
  listedAttributes,
  messageIdOf,
  ownMessageOf,
  projectionOf,
  stateOf,
  type End,
  type LastAttempt,
  type MessageKey,
} from './rows.ts';

/** A message as the log tells of it: without its body. */
export interface LoggedMessage extends Ordered {
  readonly message: Message;
  readonly end: End | undefined;
}

/** A message in a list, and how it stands. */
export interface ListedMessage extends LoggedMessage {
  /** It will see no further attempt. */
  readonly isOver: boolean;
  /** The attempt that was recorded last. */
  readonly last: LastAttempt | undefined;
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
const standing = ['end', 'attempt', 'state', 'recordedAt', 'nextDeliveryAt'];

/**
 * Lists the messages of one shard, newest first. The rows behind a message come before it in this order, and tell how it
 * stands.
 */
export async function* listMessages(shard: string, range: Range): AsyncGenerator<ListedMessage> {
  const bounds = idBounds('msg', range);
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
    if (isEnd(row)) recorded.end = endOf(row);
    else if (isAttempt(row)) {
      recorded.last ??= lastAttemptOf(row);
      recorded.attempts.push({ state: stateOf(row) });
    } else {
      const { end, last } = recorded;
      const time = timeOfId(messageId);
      const listed = {
        message: ownMessageOf(row),
        end,
        last,
        isOver: isOver(recorded),
        id: messageId,
        time,
      };
      if (isBehind(listed, range.behind)) yield listed;
    }
  }
}

/** The facts that the rows behind a message tell, collected until its own row comes. */
interface Recorded {
  readonly messageId: string;
  end: End | undefined;
  last: LastAttempt | undefined;
  readonly attempts: { readonly state: AttemptState }[];
}

const nothingRecorded = (messageId: string): Recorded => ({
  messageId,
  end: undefined,
  last: undefined,
  attempts: [],
});
