/**
 * The journals of runs. All runs of one id share a partition, and number their records on: so two starts of one id, like two
 * submissions to one run, meet at the same key, and one of them comes first.
 */
import { PutItemCommand, QueryCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { randomBytes } from 'node:crypto';
import { now, epochSeconds } from '../../shared/clock.ts';
import type { JournalRecord, RunKey, Snapshot } from '../rules/journal.ts';
import type { PlacedBody } from '../rules/entry.ts';
import type { RunIdentity } from '../../wire/workflowFilters.ts';
import { hasEnded } from '../run.ts';
import { settings } from '../../aws/settings.ts';
import {
  conditionalWrite,
  dynamodb,
  getRow,
  getRows,
  putAll,
  queryRows,
  toItem,
  unlessRefused,
} from '../../aws/dynamodb.ts';
import { snapshotOf, journalRowOf, type JournalRow } from './rows.ts';

/** No account has a `#` in its id. */
const ownerOf = ({ accountId, runId }: RunKey): string => `run#${accountId}#${runId}`;
const idOf = (seq: number): string => `record#${String(seq).padStart(9, '0')}`;

const rowOf = (key: RunKey, { record, snapshot }: JournalRow): object => ({
  owner: ownerOf(key),
  id: idOf(snapshot.seq),
  record,
  head: snapshot,
  expiresAt: epochSeconds(snapshot.keptUntil),
});

/**
 * Expired rows of a run are removed one by one, the last ones perhaps first, so the rest does not tell how the run ended. Such a run
 * counts as cancelled.
 */
const unlessExpired = (snapshot: Snapshot): Snapshot =>
  hasEnded(snapshot.state) || snapshot.keptUntil > now()
    ? snapshot
    : { ...snapshot, state: 'RUN_CANCELED', waits: [], events: [] };

/** Reads attributes of the newest row of an id. */
async function newestItem(key: RunKey, attributes: readonly ('head' | 'record')[]) {
  const { Items = [] } = await dynamodb.send(
    new QueryCommand({
      TableName: settings.workflowsTable,
      ConsistentRead: true,
      KeyConditionExpression: '#owner = :owner',
      ProjectionExpression: attributes.map((name) => `#${name}`).join(', '),
      ExpressionAttributeNames: {
        '#owner': 'owner',
        ...Object.fromEntries(attributes.map((name) => [`#${name}`, name])),
      },
      ExpressionAttributeValues: { ':owner': { S: ownerOf(key) } },
      ScanIndexForward: false,
      Limit: 1,
    }),
  );
  const [item] = Items;
  return item && unmarshall(item);
}

/** Reads the snapshot of the newest run of an id; undefined when there is none. */
export async function loadSnapshot(key: RunKey): Promise<Snapshot | undefined> {
  const row = await newestItem(key, ['head']);
  return row && unlessExpired(snapshotOf(row));
}

/** Reads the last record of an id, with the snapshot after it; undefined when there is none. */
export async function loadNewest(key: RunKey): Promise<JournalRow | undefined> {
  const row = await newestItem(key, ['head', 'record']);
  const newest = row && journalRowOf(row);
  return newest && { ...newest, snapshot: unlessExpired(newest.snapshot) };
}

/** Reads one row; undefined when it is not there. */
export async function loadRow(key: RunKey, seq: number): Promise<JournalRow | undefined> {
  const row = await getRow(settings.workflowsTable, { owner: ownerOf(key), id: idOf(seq) }, true);
  return row && journalRowOf(row);
}

/** Reads one record; undefined when it is not there. */
export const loadRecord = async (key: RunKey, seq: number): Promise<JournalRecord | undefined> =>
  (await loadRow(key, seq))?.record;

/** The place of a record. */
export interface RecordKey extends RunKey {
  readonly seq: number;
}

/**
 * Reads records of many runs.
 *
 * @param keys all different
 * @returns those that are there, by their keys
 */
export async function loadRecords<K extends RecordKey>(
  keys: readonly K[],
): Promise<ReadonlyMap<K, JournalRecord>> {
  const idsOf = keys.map((key) => ({ owner: ownerOf(key), id: idOf(key.seq) }));
  const rows = await getRows(settings.workflowsTable, idsOf, { ConsistentRead: true });
  const found = new Map(rows.map((row) => [JSON.stringify([row['owner'], row['id']]), row]));
  return new Map(
    keys.flatMap((key): [K, JournalRecord][] => {
      const row = found.get(JSON.stringify([ownerOf(key), idOf(key.seq)]));
      return row === undefined ? [] : [[key, journalRowOf(row).record]];
    }),
  );
}

/** Reads the journal of one id from a place on, in order. */
export async function* readJournal(key: RunKey, from: number): AsyncGenerator<JournalRow> {
  const rows = queryRows({
    TableName: settings.workflowsTable,
    ConsistentRead: true,
    KeyConditionExpression: '#owner = :owner AND #id BETWEEN :first AND :last',
    ExpressionAttributeNames: { '#owner': 'owner', '#id': 'id' },
    ExpressionAttributeValues: {
      ':owner': { S: ownerOf(key) },
      ':first': { S: idOf(from) },
      ':last': { S: 'record#~' },
    },
  });
  for await (const row of rows) yield journalRowOf(row);
}

/**
 * Writes a record behind the last one.
 *
 * @returns undefined when it was written; else the snapshot after the record that is in its place
 */
export async function appendRecord(key: RunKey, row: JournalRow): Promise<Snapshot | undefined> {
  const mark = randomBytes(9).toString('base64url');
  const { isMade, row: found } = await conditionalWrite(
    dynamodb.send(
      new PutItemCommand({
        TableName: settings.workflowsTable,
        Item: toItem({ ...rowOf(key, row), mark }),
        ConditionExpression: 'attribute_not_exists(id)',
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      }),
    ),
  );
  // The SDK tries again when an answer is lost, and then finds its own record.
  return isMade || found?.['mark'] === mark ? undefined : unlessExpired(snapshotOf(found));
}

/** Writes records of a run that no other process knows yet, over those that an earlier try has left. */
export const putRecords = (key: RunKey, rows: readonly JournalRow[]): Promise<void> =>
  putAll(
    settings.workflowsTable,
    rows.map((row) => rowOf(key, row)),
  );

/**
 * Names in the start of a failed run the run that was made from it, unless its records are not kept any more.
 *
 * @param resumedAs a run that is stored
 */
export const noteRerun = (key: RunKey, startSeq: number, resumedAs: RunIdentity): Promise<boolean> =>
  unlessRefused(
    dynamodb.send(
      new UpdateItemCommand({
        TableName: settings.workflowsTable,
        Key: toItem({ owner: ownerOf(key), id: idOf(startSeq) }),
        UpdateExpression: 'SET #record.resumedAs = :resumedAs',
        ConditionExpression: 'attribute_exists(id)',
        ExpressionAttributeNames: { '#record': 'record' },
        ExpressionAttributeValues: toItem({ ':resumedAs': resumedAs }),
      }),
    ),
  );

/**
 * Names in the start of a run the run that takes its place, unless another one is named there.
 *
 * @returns the id of the run that is named there now; undefined where the records of the run are not kept any more
 */
export async function chooseReplacement(
  key: RunKey,
  startSeq: number,
  replacement: RunIdentity,
): Promise<string | undefined> {
  const { isMade, row } = await conditionalWrite(
    dynamodb.send(
      new UpdateItemCommand({
        TableName: settings.workflowsTable,
        Key: toItem({ owner: ownerOf(key), id: idOf(startSeq) }),
        UpdateExpression: 'SET #record.resumedAs = :replacement',
        ConditionExpression: 'attribute_exists(id) AND attribute_not_exists(#record.resumedAs)',
        ExpressionAttributeNames: { '#record': 'record' },
        ExpressionAttributeValues: toItem({ ':replacement': replacement }),
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      }),
    ),
  );
  if (isMade) return replacement.runId;
  const found = row && journalRowOf(row).record;
  return found?.kind === 'start' ? found.resumedAs?.runId : undefined;
}

/** A body with its new place; see `bodiesOf`. */
export type MovedBody = Pick<PlacedBody, 'path' | 'body'>;

/**
 * Extends the time to live of a record, unless it is as long already.
 *
 * @param keptUntil Unix milliseconds
 * @param moved the bodies that were copied for that
 */
export async function extendRecord(
  key: RunKey,
  seq: number,
  keptUntil: number,
  moved: readonly MovedBody[],
): Promise<void> {
  const names = new Map([['#record', 'record']]);
  const paths = moved.map(({ path }) => {
    const parts = path.map((part) => {
      if (typeof part === 'number') return `[${part}]`;
      names.set(`#${part}`, part);
      return `.#${part}`;
    });
    return `#record${parts.join('')}`;
  });
  const bodies = moved.map(({ body }, index) => [`:body${index}`, body] as const);
  await unlessRefused(
    dynamodb.send(
      new UpdateItemCommand({
        TableName: settings.workflowsTable,
        Key: toItem({ owner: ownerOf(key), id: idOf(seq) }),
        UpdateExpression: `SET expiresAt = :expiresAt${paths.map((path, index) => `, ${path} = :body${index}`).join('')}`,
        // Another process may have extended it further meanwhile.
        ConditionExpression: 'attribute_exists(id) AND expiresAt < :expiresAt',
        ExpressionAttributeNames: paths.length === 0 ? undefined : Object.fromEntries(names),
        ExpressionAttributeValues: toItem({
          ':expiresAt': epochSeconds(keptUntil),
          ...Object.fromEntries(bodies),
        }),
      }),
    ),
  );
}
