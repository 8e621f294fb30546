import * as z from 'zod/mini';
import { epochSeconds, now } from '../shared/clock.ts';
import { timeOfId } from '../shared/ids.ts';
import { stored as storedOptions } from '../options/options.ts';
import { eachBody } from './bodies.ts';
import { storedBody, type StoredBody } from './message.ts';
import type { Message, OpenAttempt } from './message.ts';
import { unrecorded } from './history.ts';
import type { AttemptOutline } from './status.ts';
import { settings } from '../aws/settings.ts';
import { getRows, queryItems, type Row } from '../aws/dynamodb.ts';
import { ListedItem } from '../table/listedItem.ts';
import { idBounds, isBehind, rowsPerRead, type Ordered, type Range } from '../table/shards.ts';
import {
  attemptId,
  endedAtOf,
  endOf,
  keyOf,
  listedAttributes,
  messageIdOf,
  openOf,
  outlineOf,
  ownMessageOf,
  projectionOf,
  type End,
  type MessageKey,
} from './rows.ts';

export interface LoggedMessage extends Ordered {
  readonly message: Message;
  readonly end: End | undefined;
  /** Reads texts of a row without parsing all of it. */
  readonly textsOf?: (name: string) => readonly string[];
}

export interface ListedMessage extends LoggedMessage {
  /** By number. */
  readonly attempts: readonly AttemptOutline[];
  readonly open: OpenAttempt | undefined;
  /** When the message was cancelled. */
  readonly endedAt: number | undefined;
  /** Whether it belongs to a run, without parsing the message. */
  readonly isOfRun: boolean;
}

/**
 * Reads the rows of an account's messages, eventually consistent, at half the cost.
 *
 * @param messageIds no id twice
 * @returns by id; expired rows are missing
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

/**
 * Finds messages by texts in their bodies, as UTF-8. Redacted and expired bodies never match.
 *
 * @param messageIds no id twice
 * @param texts one of them must match
 */
export async function findInBodies(
  accountId: string,
  messageIds: readonly string[],
  texts: readonly string[],
): Promise<ReadonlySet<string>> {
  const keys = messageIds.map((messageId) => keyOf({ accountId, messageId }));
  const searchedRow = z.object({
    body: storedBody,
    redaction: storedOptions.redaction,
    expiresAt: z.number(),
  });
  const attributes = ['shard', 'id', ...Object.keys(searchedRow.shape)];
  const rows = await getRows(settings.messagesTable, keys, projectionOf(attributes));
  const kept = new Map(
    rows.flatMap((row): [string, StoredBody][] => {
      const { body, redaction, expiresAt } = searchedRow.parse(row);
      const isHidden = redaction?.body === true || expiresAt <= epochSeconds(now());
      return isHidden ? [] : [[messageIdOf(row), body]];
    }),
  );
  const wanted = texts.map((text) => Buffer.from(text));
  const found = new Set<string>();
  await eachBody(kept, (messageId, body) => {
    const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
    if (wanted.some((text) => bytes.includes(text))) found.add(messageId);
  });
  return found;
}

/** Finds which messages are stored, strongly consistent. */
export async function storedMessages(keys: readonly MessageKey[]): Promise<ReadonlySet<string>> {
  const reading = { ...projectionOf(['shard', 'id']), ConsistentRead: true };
  const rows = await getRows(
    settings.messagesTable,
    keys.map((key) => keyOf(key)),
    reading,
  );
  return new Set(rows.map(messageIdOf));
}

/**
 * Reads the answers to attempts, eventually consistent.
 *
 * @returns by message id
 */
export async function loadAnswers(
  accountId: string,
  attempts: readonly (readonly [messageId: string, attempt: number])[],
): Promise<ReadonlyMap<string, AttemptOutline['response']>> {
  const keys = attempts.map(([messageId, attempt]) =>
    keyOf({ accountId, messageId }, attemptId(messageId, attempt)),
  );
  const rows = await getRows(settings.messagesTable, keys, projectionOf(['shard', ...outlined]));
  return new Map(rows.map((row) => [messageIdOf(row), outlineOf(row).response]));
}

const statusAttributes = [
  'held',
  'open',
  'startedAt',
  'until',
  'end',
  'endedAt',
  'attempt',
  'state',
  'recordedAt',
  'after',
  'nextDeliveryAt',
  'response.status',
];

/**
 * Lists messages with their attempts. If newest first, the rows with a message's status come before its own.
 */
export async function* listMessages(
  shard: string,
  range: Range,
  /** @param more attributes of attempts to read */
  more: readonly string[] = [],
): AsyncGenerator<ListedMessage> {
  const bounds = idBounds('msg', range);
  const isEarliestFirst = range.order === 'earliestFirst';
  // DynamoDB refuses a range whose end is before its beginning.
  if (bounds.first > bounds.last) return;
  const items = queryItems({
    TableName: settings.messagesTable,
    KeyConditionExpression: '#shard = :shard AND #id BETWEEN :first AND :last',
    ...projectionOf([...listedAttributes(), ...statusAttributes, ...more]),
    ExpressionAttributeValues: {
      ':shard': { S: shard },
      ':first': { S: bounds.first },
      ':last': { S: bounds.last },
    },
    ScanIndexForward: isEarliestFirst,
    Limit: rowsPerRead,
  });
  let recorded = new Recorded('');
  const isWhole = (): boolean => recorded.own !== undefined && isBehind(recorded, range);
  for await (const item of items) {
    const listed = new ListedItem(item);
    const [id = ''] = listed.textsOf('id');
    const messageId = id.replace(/~.*$/, '');
    // The row of a message may be gone. Its other rows must not be taken for the next message's.
    if (recorded.id !== messageId) {
      if (isEarliestFirst && isWhole()) yield recorded;
      recorded = new Recorded(messageId);
    }
    recorded.add(listed);
    if (!isEarliestFirst && isWhole()) yield recorded;
  }
  if (isEarliestFirst && isWhole()) yield recorded;
}

class Recorded implements ListedMessage {
  readonly id: string;
  readonly time: number;
  own: ListedItem | undefined;
  readonly #attempts: ListedItem[] = [];
  #ended: Row | undefined;
  #open: OpenAttempt | undefined;
  #message: Message | undefined;
  #outlines: readonly AttemptOutline[] | undefined;

  constructor(messageId: string) {
    this.id = messageId;
    this.time = messageId === '' ? 0 : timeOfId(messageId);
  }

  add(item: ListedItem): void {
    if (item.has('end')) this.#ended = item.only(['end', 'endedAt']);
    else if (item.has('attempt')) {
      this.#attempts.push(item);
      this.#outlines = undefined;
    } else if (item.has('open')) {
      const open = openOf(item.only(['open', 'startedAt', 'until']));
      if (this.#open === undefined || open.number > this.#open.number) this.#open = open;
    } else if (!item.has('held')) this.own = item;
  }

  get message(): Message {
    this.#message ??= ownMessageOf(this.own?.row ?? {});
    return this.#message;
  }

  get end(): End | undefined {
    return this.#ended && endOf(this.#ended);
  }

  get endedAt(): number | undefined {
    return this.#ended && endedAtOf(this.#ended);
  }

  get open(): OpenAttempt | undefined {
    return unrecorded(this.#open, this.attempts);
  }

  get attempts(): readonly AttemptOutline[] {
    this.#outlines ??= this.#attempts
      .map((item) => outlineOf(item.only(outlined)))
      .sort((one, other) => one.number - other.number);
    return this.#outlines;
  }

  get isOfRun(): boolean {
    return this.own?.has('workflow') === true;
  }

  textsOf(name: string): readonly string[] {
    return this.own?.textsOf(name) ?? [];
  }
}

export const outlined = ['id', 'attempt', 'state', 'recordedAt', 'after', 'nextDeliveryAt', 'response'];
