/**
 * The journals of runs. All runs of one id share a partition, in which records are numbered. Two concurrent
 * starts of an id, or submissions to a run, write the same key, so only one succeeds.
 */
import { QueryCommand } from '@aws-sdk/client-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import * as z from 'zod/mini';
import { now, epochSeconds } from '../../shared/clock.ts';
import {
  recordShape,
  snapshotShape,
  type JournalRecord,
  type RunKey,
  type Snapshot,
} from '../rules/journal.ts';
import type { PlacedBody } from '../rules/entry.ts';
import type { RunIdentity } from '../../wire/workflowFilters.ts';
import { hasEnded } from '../run.ts';
import { settings } from '../../aws/settings.ts';
import { dynamodb, getRow, getRows, putAll, queryRows } from '../../aws/dynamodb.ts';
import { putMarked, update, unlessRefused, ifNew } from '../../aws/writes.ts';

/** Account ids have no `#`. */
const ownerOf = ({ accountId, runId }: RunKey): string => `run#${accountId}#${runId}`;
const idOf = (seq: number): string => `record#${String(seq).padStart(9, '0')}`;

export interface JournalRow {
  readonly record: JournalRecord;
  readonly snapshot: Snapshot;
}

const headShape = z.object({ head: snapshotShape });
const rowShape = z.object({ record: recordShape, head: snapshotShape });

/** @throws if the attributes are not those of a record */
function journalRowOf(attributes: unknown): JournalRow {
  const { record, head } = rowShape.parse(attributes);
  return { record, snapshot: head };
}

const snapshotOf = (attributes: unknown): Snapshot => headShape.parse(attributes).head;

const rowOf = (key: RunKey, { record, snapshot }: JournalRow): object => ({
  owner: ownerOf(key),
  id: idOf(snapshot.seq),
  record,
  head: snapshot,
  expiresAt: epochSeconds(snapshot.keptUntil),
});

/**
 * If records have expired, the way in which the run ended may be lost, because DynamoDB removes expired rows
 * in any order. Then the run counts as cancelled.
 */
const unlessExpired = (snapshot: Snapshot): Snapshot =>
  hasEnded(snapshot.state) || snapshot.keptUntil > now()
    ? snapshot
    : { ...snapshot, state: 'RUN_CANCELED', waits: [], events: [] };

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

/** Reads the snapshot of an id's newest run. */
export async function loadSnapshot(key: RunKey): Promise<Snapshot | undefined> {
  const row = await newestItem(key, ['head']);
  return row && unlessExpired(snapshotOf(row));
}

/** Reads the last record of an id, with the snapshot after it. */
export async function loadNewest(key: RunKey): Promise<JournalRow | undefined> {
  const row = await newestItem(key, ['head', 'record']);
  const newest = row && journalRowOf(row);
  return newest && { ...newest, snapshot: unlessExpired(newest.snapshot) };
}

export async function loadRow(key: RunKey, seq: number): Promise<JournalRow | undefined> {
  const row = await getRow(settings.workflowsTable, { owner: ownerOf(key), id: idOf(seq) }, true);
  return row && journalRowOf(row);
}

export const loadRecord = async (key: RunKey, seq: number): Promise<JournalRecord | undefined> =>
  (await loadRow(key, seq))?.record;

export interface RecordKey extends RunKey {
  readonly seq: number;
}

/**
 * @param keys no key twice
 * @returns the records that were found, by key
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

/** Reads the journal of an id in order, beginning at a place. */
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
 * Writes a record after the last one.
 *
 * @returns undefined if it was written. If another record has this place, returns the snapshot after that one
 */
export async function appendRecord(key: RunKey, row: JournalRow): Promise<Snapshot | undefined> {
  const { isMade, row: found } = await putMarked(settings.workflowsTable, rowOf(key, row), ifNew);
  return isMade ? undefined : unlessExpired(snapshotOf(found));
}

export const putRecords = (key: RunKey, rows: readonly JournalRow[]): Promise<void> =>
  putAll(
    settings.workflowsTable,
    rows.map((row) => rowOf(key, row)),
  );

/**
 * Records in the start of a failed run which run resumes it. Does nothing if the start has expired.
 *
 * @param resumedAs a run that is already stored
 */
export const noteRerun = (key: RunKey, startSeq: number, resumedAs: RunIdentity): Promise<boolean> =>
  unlessRefused(
    update(
      settings.workflowsTable,
      { owner: ownerOf(key), id: idOf(startSeq) },
      'SET #record.resumedAs = :resumedAs',
      { onlyIf: 'attribute_exists(id)', values: { resumedAs } },
    ),
  );

/**
 * Records in the start of a run which run replaces it, unless one is already recorded.
 *
 * @returns the id of the recorded run; undefined if the run's records have expired
 */
export async function chooseReplacement(
  key: RunKey,
  startSeq: number,
  replacement: RunIdentity,
): Promise<string | undefined> {
  const { isMade, row } = await update(
    settings.workflowsTable,
    { owner: ownerOf(key), id: idOf(startSeq) },
    'SET #record.resumedAs = :replacement',
    { onlyIf: 'attribute_exists(id) AND attribute_not_exists(#record.resumedAs)', values: { replacement } },
  );
  if (isMade) return replacement.runId;
  const found = row && journalRowOf(row).record;
  return found?.kind === 'start' ? found.resumedAs?.runId : undefined;
}

/** A body that was copied; see `bodiesOf`. */
export type MovedBody = Pick<PlacedBody, 'path' | 'body'>;

/**
 * @param keptUntil Unix milliseconds; ignored if the record is kept longer
 * @param moved the copies of bodies that this needs
 */
export async function extendRecord(
  key: RunKey,
  seq: number,
  keptUntil: number,
  moved: readonly MovedBody[],
): Promise<void> {
  const paths = moved.map(
    ({ path }) =>
      `#record${path.map((part) => (typeof part === 'number' ? `[${part}]` : `.#${part}`)).join('')}`,
  );
  await update(
    settings.workflowsTable,
    { owner: ownerOf(key), id: idOf(seq) },
    `SET expiresAt = :expiresAt${paths.map((path, index) => `, ${path} = :body${index}`).join('')}`,
    {
      // Another process may have extended it further.
      onlyIf: 'attribute_exists(id) AND expiresAt < :expiresAt',
      values: {
        expiresAt: epochSeconds(keptUntil),
        ...Object.fromEntries(moved.map(({ body }, index) => [`body${index}`, body])),
      },
    },
  );
}
