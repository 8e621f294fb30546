import { QueryCommand } from '@aws-sdk/client-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { createHash } from 'node:crypto';
import * as z from 'zod/mini';
import { shardCounts } from '../../shared/ids.ts';
import { epochSeconds } from '../../shared/clock.ts';
import { runStates, type RunState } from '../../wire/states.ts';
import { settings } from '../../aws/settings.ts';
import { dynamodb, getRow, putAll, queryRows, scanRows, type Row } from '../../aws/dynamodb.ts';
import { isBehind, momentsOf, rowsPerRead, type Ordered, type Range } from '../../table/shards.ts';
import type { Readable } from '../../options/option.ts';
import { update, putNew } from '../../aws/writes.ts';

const listedRow = z.object({
  accountId: z.string(),
  runId: z.string(),
  createdAt: z.number(),
  /** The place of the run's start in its journal. */
  startSeq: z.number(),
  url: z.string(),
  labels: z._default(z.array(z.string()), []),
  callerIp: z.string(),
  flowControlKey: z.optional(z.string()),
  state: z.enum(runStates),
});
export type ListedRun = Readable<z.infer<typeof listedRow>>;

/** The partition of a run: an account's runs are spread over several. */
const shardOf = (runId: string): number =>
  createHash('sha256').update(runId).digest().readUInt8(0) % shardCounts.usual;

const ownerOf = (accountId: string, shard: number): string => `runs#${accountId}#${shard}`;

export const runShardsOf = (accountId: string): readonly string[] =>
  Array.from({ length: shardCounts.usual }, (_, shard) => ownerOf(accountId, shard));

const idOf = (createdAt: number, runId: string): string => `${String(createdAt).padStart(15, '0')}#${runId}`;

const keyOf = ({ accountId, runId, createdAt }: Pick<ListedRun, 'accountId' | 'runId' | 'createdAt'>) => ({
  owner: ownerOf(accountId, shardOf(runId)),
  id: idOf(createdAt, runId),
});

const rowOf = ({ labels, ...run }: ListedRun, keptUntil: number): object => ({
  ...run,
  ...keyOf(run),
  labels: labels.length === 0 ? undefined : labels,
  expiresAt: epochSeconds(keptUntil),
});

/**
 * Adds a run to the list, unless it has a row, because it may have ended since.
 *
 * @param keptUntil Unix milliseconds
 */
export async function listRun(run: ListedRun, keptUntil: number): Promise<void> {
  await putNew(settings.workflowsTable, rowOf(run, keptUntil));
}

/**
 * Shows the end of a run in the list. A run may end before the process that started it has written its row.
 * So the row is written as a whole.
 *
 * @param keptUntil Unix milliseconds
 */
export const listEnd = (run: ListedRun, keptUntil: number): Promise<void> =>
  putAll(settings.workflowsTable, [rowOf(run, keptUntil)]);

/** @param keptUntil Unix milliseconds; ignored if the row is kept longer */
export async function extendListed(
  run: Pick<ListedRun, 'accountId' | 'runId' | 'createdAt'>,
  keptUntil: number,
): Promise<void> {
  await update(settings.workflowsTable, keyOf(run), 'SET expiresAt = :expiresAt', {
    onlyIf: 'attribute_exists(id) AND expiresAt < :expiresAt',
    values: { expiresAt: epochSeconds(keptUntil) },
  });
}

function rangeQuery(shard: string, range: Range) {
  const { first: earliest, last: latest } = momentsOf(range);
  const first = idOf(Math.max(0, earliest), '');
  // `~` sorts after all characters of a key.
  const last = latest === Infinity ? '~' : `${String(Math.max(0, latest)).padStart(15, '0')}~`;
  return {
    TableName: settings.workflowsTable,
    KeyConditionExpression: '#owner = :owner AND #id BETWEEN :first AND :last',
    ExpressionAttributeNames: { '#owner': 'owner', '#id': 'id' },
    ExpressionAttributeValues: {
      ':owner': { S: shard },
      ':first': { S: first },
      // DynamoDB refuses a range that ends before it begins.
      ':last': { S: last < first ? first : last },
    },
    ScanIndexForward: range.order === 'earliestFirst',
  };
}

function orderedRun(row: Row): ListedRun & Ordered {
  const run = listedRow.parse(row);
  return { ...run, time: run.createdAt, id: run.runId };
}

async function* orderedRuns(rows: AsyncIterable<Row>): AsyncGenerator<ListedRun & Ordered> {
  for await (const row of rows) yield orderedRun(row);
}

export async function* listRuns(
  shard: string,
  range: Range,
  isConsistent = false,
): AsyncGenerator<ListedRun & Ordered> {
  const rows = queryRows({ ...rangeQuery(shard, range), ConsistentRead: isConsistent, Limit: rowsPerRead });
  for await (const run of orderedRuns(rows)) if (isBehind(run, range)) yield run;
}

const active: RunState = 'RUN_STARTED';

function activeQuery(shard: string, range: Range) {
  const query = rangeQuery(shard, range);
  return {
    ...query,
    FilterExpression: '#state = :active',
    ExpressionAttributeNames: { ...query.ExpressionAttributeNames, '#state': 'state' },
    ExpressionAttributeValues: { ...query.ExpressionAttributeValues, ':active': { S: active } },
  };
}

/**
 * Lists active runs, newest first, strongly consistent. Each read is as large as DynamoDB allows, because
 * active runs may be rare.
 *
 * @param until when to stop reading
 */
export function listActiveRuns(
  shard: string,
  range: Pick<Range, 'fromDate' | 'toDate'>,
  until: number,
): AsyncGenerator<ListedRun & Ordered> {
  return orderedRuns(queryRows({ ...activeQuery(shard, range), ConsistentRead: true }, dynamodb, until));
}

interface ActivePart {
  /** Newest first. */
  readonly runs: readonly (ListedRun & Ordered)[];
  /** The place at which reading stopped, if the partition has older runs. */
  readonly oldest: Ordered | undefined;
}

/** Reads the active runs among the newest megabyte of a partition's rows. Eventually consistent. */
export async function newestActiveRuns(shard: string): Promise<ActivePart> {
  const { Items = [], LastEvaluatedKey: last } = await dynamodb.send(
    new QueryCommand(activeQuery(shard, {})),
  );
  const [createdAt = '', ...rest] = last?.['id']?.S?.split('#') ?? [];
  return {
    runs: Items.map((item) => orderedRun(unmarshall(item))),
    oldest: last && { time: Number(createdAt), id: rest.join('#') },
  };
}

export async function* allActiveRuns(): AsyncGenerator<ListedRun> {
  const rows = scanRows({
    TableName: settings.workflowsTable,
    FilterExpression: '#state = :active AND begins_with(#owner, :lists)',
    ExpressionAttributeNames: { '#state': 'state', '#owner': 'owner' },
    ExpressionAttributeValues: { ':active': { S: active }, ':lists': { S: 'runs#' } },
  });
  for await (const row of rows) yield orderedRun(row);
}

/** Strongly consistent. */
export async function loadListedRun(
  run: Pick<ListedRun, 'accountId' | 'runId' | 'createdAt'>,
): Promise<(ListedRun & Ordered) | undefined> {
  const row = await getRow(settings.workflowsTable, keyOf(run), true);
  return row && orderedRun(row);
}
