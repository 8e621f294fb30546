/**
 * Answers the first read of a message from memory. A worker reads a message a moment after its row was written, and this read is
 * a quarter of what a message costs the database. All writes come from this process, so the answer is that of the database.
 *
 * The read finds a message's own row and those behind it. There are none behind that of a new id. Some ids are made again for the
 * same message, such as those of a schedule's fire: so an id is new when it was made a moment ago, after this process began, and
 * this process has not written it before.
 */
import * as z from 'zod/mini';
import type { tables } from '../../lambdas/aws/resources.ts';
import { idPattern } from '../../lambdas/shared/idPattern.ts';
import { timeOfId } from '../../lambdas/shared/ids.ts';
import { toJson, type Answer, type ClientCall, type SendForClient } from './connection.ts';

const table: keyof typeof tables = 'messages';

/** The greatest age of a new id, ms. */
const newForMs = 10_000;
/** The most rows that are kept, and the most characters of each: 8 MB together. */
const mostKept = 1_000;
const mostCharacters = 8_000;

/** A row that was written, or is being written. */
interface Known {
  readonly row: object;
  readonly isMade: Promise<boolean>;
}

/** @param now Unix milliseconds */
export function knownMessages(send: SendForClient, now: () => number): SendForClient {
  const known = new Map<string, Known>();
  const isNew = newIds(now);

  function write(call: ClientCall, key: string, row: object): Promise<Answer> {
    const answer = send(call);
    const isMade = answer.then(
      ({ status }) => status === 200,
      () => false,
    );
    known.set(key, { row, isMade });
    const [oldest] = known.keys();
    if (known.size > mostKept && oldest !== undefined) known.delete(oldest);
    return answer;
  }

  return async (call) => {
    const { operation, body } = call;
    if (!body.includes(`"${table}"`)) return send(call);
    if (operation === 'Query') {
      const found = known.get(keyRead(call) ?? '');
      return found !== undefined && (await found.isMade) ? answerOf(found.row) : send(call);
    }
    if (reads.has(operation)) return send(call);
    const written = rowWritten(call);
    if (written === undefined) {
      for (const [messageId] of body.matchAll(/msg_\w+/g)) isNew(messageId);
      known.clear();
      return send(call);
    }
    const { shard, messageId, row } = written;
    const key = keyOf(shard, messageId);
    // What another write leaves of a message is known to the database alone.
    known.delete(key);
    const isKept = isNew(messageId) && row !== undefined && body.length <= mostCharacters;
    return isKept ? write(call, key, row) : send(call);
  };
}

const reads = new Set(['GetItem', 'BatchGetItem', 'Query', 'Scan', 'DescribeTable']);

const keyOf = (shard: string, messageId: string): string => `${shard} ${messageId}`;

const answerOf = (row: object): Answer => {
  const output = { Items: [row], Count: 1, ScannedCount: 1 };
  return {
    status: 200,
    output,
    get body() {
      return Buffer.from(toJson(output));
    },
  };
};

const text = z.object({ S: z.string() });
const rowKey = z.object({ shard: text, id: text });
const singleWrite = z.object({
  TableName: z.literal(table),
  Item: z.optional(rowKey),
  Key: z.optional(rowKey),
});

interface Written {
  readonly shard: string;
  readonly messageId: string;
  /** The message's own row, where it is written without a condition. */
  readonly row?: object;
}

const writes = new Set(['PutItem', 'UpdateItem', 'DeleteItem']);
const ofPut: ReadonlySet<string> = new Set(['TableName', 'Item']);

/** @returns undefined for a write of several rows */
function rowWritten({ operation, input }: ClientCall): Written | undefined {
  const { data } = writes.has(operation) ? singleWrite.safeParse(input) : {};
  const key = data?.Item ?? data?.Key;
  if (key === undefined) return undefined;
  const shard = key.shard.S;
  const messageId = key.id.S.replace(/~.*$/, '');
  const isOwn = operation === 'PutItem' && messageId === key.id.S && hasOnly(input, ofPut);
  return { shard, messageId, ...(isOwn && 'Item' in input && isObject(input.Item) && { row: input.Item }) };
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

const hasOnly = (input: object, names: ReadonlySet<string>): boolean =>
  Object.entries(input).every(([name, value]) => value === undefined || names.has(name));

const query = z.object({
  KeyConditionExpression: z.literal('#shard = :shard AND #id BETWEEN :first AND :last'),
  ExpressionAttributeNames: z.object({ '#shard': z.literal('shard'), '#id': z.literal('id') }),
  ExpressionAttributeValues: z.object({ ':shard': text, ':first': text, ':last': text }),
});
const ofQuery: ReadonlySet<string> = new Set(['TableName', 'ConsistentRead', ...Object.keys(query.shape)]);

/** The message that a query reads with all rows behind its own; undefined for other queries. */
function keyRead({ input }: ClientCall): string | undefined {
  const { data } = hasOnly(input, ofQuery) ? query.safeParse(input) : {};
  if (data === undefined) return undefined;
  const { ':shard': shard, ':first': first, ':last': last } = data.ExpressionAttributeValues;
  return last.S === `${first.S}~end` ? keyOf(shard.S, first.S) : undefined;
}

const idOfMessage = new RegExp(`^msg_${idPattern}$`);

/** Makes a judge of ids. It must be asked at each write, of the id of each row's message. */
function newIds(now: () => number): (messageId: string) => boolean {
  // The clock may be set back. An id that counts as new is one that no earlier moment of this process can have written.
  let latest = now();
  const begunAt = latest;
  let turnAt = latest;
  let written = new Set<string>();
  let writtenBefore = new Set<string>();

  return (messageId) => {
    latest = Math.max(latest, now());
    if (latest - turnAt > newForMs) {
      turnAt = latest;
      writtenBefore = written;
      written = new Set();
    }
    if (!idOfMessage.test(messageId)) return false;
    const madeAt = timeOfId(messageId);
    const isYoung = madeAt >= begunAt && madeAt <= latest && latest - madeAt <= newForMs;
    const isFirst = !written.has(messageId) && !writtenBefore.has(messageId);
    written.add(messageId);
    return isYoung && isFirst;
  };
}
