/** Deletes rows past their time, as DynamoDB does: dynoxide keeps them for ever. */
import { setTimeout } from 'node:timers/promises';
import * as z from 'zod/mini';
import { tables, type TableShape } from '../../lambdas/aws/resources.ts';
import { jsonOrUndefined } from '../json.ts';
import { callOf, type SendForClient } from './connection.ts';

/** Attribute values as AWS JSON has them. */
type Item = Readonly<Record<string, unknown>>;
const page = z.object({
  Items: z._default(z.array(z.custom<Item>((value) => typeof value === 'object' && value !== null)), []),
  LastEvaluatedKey: z.optional(z.custom<Item>((value) => typeof value === 'object' && value !== null)),
});

/** Rows that are deleted at once: they share a commit. */
const together = 50;

export interface ExpiryOptions {
  readonly call: SendForClient;
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** Waits after each page, which has a megabyte of rows and took so many milliseconds: the service has the time between. */
  readonly pause: (tookMs: number) => Promise<void>;
}

/** Reads all tables once, and deletes the rows whose time has passed. Returns their number. */
export async function deleteExpired(options: ExpiryOptions): Promise<number> {
  let deleted = 0;
  for (const [table, shape] of Object.entries<TableShape>(tables)) {
    if (shape.ttl !== undefined)
      deleted += await deleteExpiredOf(table, { ...shape, ttl: shape.ttl }, options);
  }
  return deleted;
}

async function deleteExpiredOf(
  TableName: string,
  { ttl, partitionKey, sortKey }: TableShape & { readonly ttl: string },
  { call, now, pause }: ExpiryOptions,
): Promise<number> {
  const keys = sortKey === undefined ? [partitionKey] : [partitionKey, sortKey];
  const expired = {
    TableName,
    ExpressionAttributeNames: { '#ttl': ttl },
    ExpressionAttributeValues: { ':now': { N: String(Math.floor(now() / 1_000)) } },
  };
  const names = Object.fromEntries(keys.map((name, at) => [`#key${at}`, name]));
  let deleted = 0;
  let ExclusiveStartKey: Item | undefined;
  do {
    const startedAt = performance.now();
    const input = {
      ...expired,
      FilterExpression: '#ttl < :now',
      ProjectionExpression: Object.keys(names).join(', '),
      ExpressionAttributeNames: { ...expired.ExpressionAttributeNames, ...names },
      ...(ExclusiveStartKey !== undefined && { ExclusiveStartKey }),
    };
    const { status, body } = await call(callOf('Scan', input));
    if (status !== 200) throw new Error(`Rows past their time could not be read: ${textOf(body)}`);
    const { Items, LastEvaluatedKey } = page.parse(jsonOrUndefined(textOf(body)));
    for (let at = 0; at < Items.length; at += together) {
      await Promise.all(
        Items.slice(at, at + together).map(async (Key) => {
          // A row that was given more time since stays.
          const answer = await call(
            callOf('DeleteItem', { ...expired, Key, ConditionExpression: '#ttl < :now' }),
          );
          if (answer.status === 200) deleted += 1;
          else if (!textOf(answer.body).includes('ConditionalCheckFailed'))
            throw new Error(`A row past its time could not be deleted: ${textOf(answer.body)}`);
        }),
      );
    }
    await pause(performance.now() - startedAt);
    ExclusiveStartKey = LastEvaluatedKey;
  } while (ExclusiveStartKey !== undefined);
  return deleted;
}

const textOf = (body: Uint8Array): string => Buffer.from(body).toString();

/** The pause between two readings of all tables. */
const everyMs = 3_600_000;
/** The part of the time in which expiry uses the database is one of so many. */
const share = 10;

export interface Expiry {
  /** Reads all tables now, and quickly. Returns the number of deleted rows. */
  readonly expireNow: () => Promise<number>;
  /** Ends it, in the middle of a reading too. */
  readonly stop: () => Promise<void>;
}

/** @param deleteOthers deletes what is past its time elsewhere, after each reading */
export function startExpiry(
  options: Pick<ExpiryOptions, 'call' | 'now'> & {
    readonly deleteOthers: () => Promise<void>;
    readonly report: (error: unknown) => void;
  },
): Expiry {
  const stopping = new AbortController();
  const { signal } = stopping;
  const rest = (ms: number): Promise<void> => setTimeout(ms, undefined, { signal, ref: false });
  const run = async (): Promise<void> => {
    while (!signal.aborted) {
      try {
        await rest(everyMs / 60);
        await deleteExpired({ ...options, pause: (tookMs) => rest((share - 1) * tookMs) });
        await options.deleteOthers();
        await rest(everyMs);
      } catch (error) {
        if (!signal.aborted) options.report(error);
      }
    }
  };
  const running = run();
  return {
    expireNow: async () => {
      const deleted = await deleteExpired({ ...options, pause: () => Promise.resolve() });
      await options.deleteOthers();
      return deleted;
    },
    stop: async () => {
      stopping.abort();
      await running;
    },
  };
}
