/** The table of lanes: a row for each lane, and its line's pages. Default values are left out. */
import * as z from 'zod/mini';
import { circuit } from '../../circuit/circuit.ts';
import { dayMs, now, secondMs, epochSeconds } from '../../shared/clock.ts';
import { holdsBack, processPrefix, type Lane, type LaneKey, type Lease } from '../lane.ts';
import { laneKinds, type LaneKind } from '../../job/job.ts';
import { isEmpty, type Page } from '../rules/line.ts';
import { lineShapes, rowOfLines, withLines, withoutDefaults } from './fairRows.ts';
import { log } from '../../aws/log.ts';
import { processLeases } from '../../aws/resources.ts';
import { settings } from '../../aws/settings.ts';
import { getRow, getRows, putAll, queryRows, scanRows, toItem, type Row } from '../../aws/dynamodb.ts';
import { putMarked, remove, unlessRefused, type Terms } from '../../aws/writes.ts';

const ownPart = 'lane';
const pagePart = (number: number, line = 'page'): string => `${line}#${String(number).padStart(12, '0')}`;

export const laneId = ({ accountId, kind, name }: LaneKey): string => `${accountId}#${kind}#${name}`;
const ownerOf = (accountId: string, kind: LaneKind): string => `${accountId}#${kind}`;
const keyOf = (key: LaneKey) => ({ lane: laneId(key), part: ownPart });

const flag = z._default(z.boolean(), false);
const number = z._default(z.number(), 0);

const leaseRow = z.object({
  by: z.string(),
  slots: z._default(z.number(), 1),
  until: z.optional(z.number()),
  startAt: z.optional(z.number()),
  ticket: z.optional(z.string()),
  callbacks: z.optional(z.array(z.string())),
  isOver: z.optional(z.boolean()),
});
const leaseRows = z._default(z.array(leaseRow), []);

const laneRow = z.object({
  parallelism: z.optional(z.number()),
  rate: z.optional(z.number()),
  periodMs: z.optional(z.number()),
  limitsMadeAt: number,
  isPinnedParallelism: flag,
  isPinnedRate: flag,
  isPaused: flag,
  isCircuitOn: z.optional(z.boolean()),
  leases: leaseRows,
  [processLeases]: leaseRows,
  starts: z._default(z.array(z.object({ at: z.number(), count: z.number() })), []),
  ...lineShapes,
  cancelled: number,
  pumpAt: number,
  keepAt: number,
  keptUntil: number,
  isDeleted: flag,
  deletedAt: z.optional(z.number()),
  deletedLines: z._default(
    z.array(z.object({ entries: z.array(z.string()), firstPage: z.number(), nextPage: z.number() })),
    [],
  ),
  depths: z.optional(z.string()),
  circuit: z.optional(circuit),
  hold: z.optional(
    z.object({
      by: z.string(),
      since: z.number(),
      reason: z.optional(z.string()),
      until: z.optional(z.number()),
      version: z.number(),
    }),
  ),
  createdAt: z.number(),
  updatedAt: z.number(),
  version: z.number(),
});

function laneOf({ accountId, kind, name }: LaneKey, row: Row): Lane {
  const { leases, [processLeases]: processRows, ...rest } = laneRow.parse(row);
  const all = [...leases, ...processRows].map(({ by, ...lease }): [string, Lease] => [by, lease]);
  return {
    accountId,
    kind,
    name,
    ...withLines(rest),
    leases: new Map(all),
  };
}

function rowOf(lane: Lane): object {
  const { accountId, kind, name, leases, version, circuit, isCircuitOn, ...others } = lane;
  const { line, fair, deletedFairLines, ...rest } = others;
  const rows = [...leases].map(([by, { slots, ...lease }]) => ({
    by,
    ...(slots !== 1 && { slots }),
    ...lease,
  }));
  const isOfProcess = ({ by }: { readonly by: string }): boolean => by.startsWith(processPrefix);
  return {
    ...withoutDefaults({
      ...rest,
      ...rowOfLines({ line, fair, deletedFairLines }),
      leases: rows.filter((row) => !isOfProcess(row)),
      [processLeases]: rows.filter(isOfProcess),
    }),
    isCircuitOn,
    ...(circuit && { circuit: withoutDefaults(circuit) }),
    ...keyOf(lane),
    ...(isListed(lane) && { owner: ownerOf(accountId, kind), name }),
    version: version + 1,
    expiresAt: expiryOf(lane),
  };
}

/** Whether lists show a lane. Account lanes have no name; deleted queues and closed circuits are left out. */
const isListed = (lane: Lane): boolean =>
  lane.name !== '' &&
  !lane.isDeleted &&
  ((lane.kind !== 'circuit' && lane.kind !== 'hold') || holdsBack(lane));

/** An unused flow-control key expires after this time, unless it is paused or pinned. */
export const unusedLifetimeMs = 30 * dayMs;
/** A circuit expires this long after its last failure, unless attempts wait in it. */
const circuitLifetimeMs = 2 * dayMs;

function expiryOf(lane: Lane): number | undefined {
  const isQueue = lane.kind === 'queue' && !lane.isDeleted;
  const isPaused = lane.isPaused && lane.hold?.until === undefined;
  const isKept = isQueue || isPaused || lane.isPinnedParallelism || lane.isPinnedRate;
  const isEnded = (lane.kind === 'circuit' || lane.kind === 'hold') && isEmpty(lane.line);
  const unusedUntil = now() + (isEnded ? circuitLifetimeMs : unusedLifetimeMs);
  return isKept ? undefined : epochSeconds(Math.max(unusedUntil, lane.keptUntil));
}

const expiryRow = z.object({ expiresAt: z.optional(z.number()) });

/**
 * Finds when a lane's row expires without another write. Eventually consistent, at half the cost.
 *
 * @returns Unix milliseconds; Infinity if the row does not expire, undefined if there is no row
 */
export async function laneLastsUntil(key: LaneKey): Promise<number | undefined> {
  const row = await getRow(settings.lanesTable, keyOf(key), false);
  if (row === undefined) return undefined;
  const { expiresAt = Infinity } = expiryRow.parse(row);
  return expiresAt * secondMs;
}

export async function loadLane(key: LaneKey): Promise<Lane | undefined> {
  const row = await getRow(settings.lanesTable, keyOf(key), true);
  return row && laneOf(key, row);
}

const ifVersionIs = ({ version }: Lane): Terms =>
  version === 0
    ? { onlyIf: 'attribute_not_exists(part)' }
    : { onlyIf: 'version = :version', values: { version } };

/**
 * @param lane as it was read, with its changes; or a new one (version 0)
 * @returns undefined after the write, or the lane in the table if another process wrote it
 */
export async function saveLane(lane: Lane): Promise<{ readonly current: Lane | undefined } | undefined> {
  const { isMade, row } = await putMarked(settings.lanesTable, rowOf(lane), ifVersionIs(lane));
  return isMade ? undefined : { current: row && laneOf(lane, row) };
}

/** @returns whether it was removed; false if it was written since it was read */
export const removeLane = (lane: Lane): Promise<boolean> =>
  unlessRefused(remove(settings.lanesTable, keyOf(lane), ifVersionIs(lane)));

const pageRow = z.object({ entries: z.array(z.string()) });

/** How long a page is kept. If its entries wait longer, it is written again. */
export const pageLifetimeMs = 60 * dayMs;

/** Reads a page of a lane's own line, or of a line in its fair line. */
export async function loadPage(key: LaneKey, page: number, line?: string): Promise<readonly string[]> {
  const row = await getRow(settings.lanesTable, { lane: laneId(key), part: pagePart(page, line) }, true);
  if (row !== undefined) return pageRow.parse(row).entries;
  // Unexpected, because pages are written before the row. The other entries continue.
  log.error('A page of a waiting line is missing', { ...key, page, line });
  return [];
}

/** Writes pages by number. A second write is harmless. */
export const savePages = (key: LaneKey, pages: readonly Page[]): Promise<void> =>
  putAll(
    settings.lanesTable,
    pages.map(({ number: page, line, entries }) => ({
      lane: laneId(key),
      part: pagePart(page, line),
      entries,
      expiresAt: epochSeconds(now() + pageLifetimeMs),
    })),
  );

const namedRow = z.object({ name: z.string() });

/**
 * Lists the names of an account's lanes of a kind, sorted, after `behind` if given. New lanes appear after a moment, because
 * DynamoDB's indexes lag behind their table.
 */
export async function* laneNames(accountId: string, kind: LaneKind, behind?: string): AsyncGenerator<string> {
  const rows = queryRows({
    TableName: settings.lanesTable,
    IndexName: 'names',
    KeyConditionExpression: `#owner = :owner${behind === undefined ? '' : ' AND #name > :behind'}`,
    ExpressionAttributeNames: { '#owner': 'owner', ...(behind !== undefined && { '#name': 'name' }) },
    ExpressionAttributeValues: toItem({ ':owner': ownerOf(accountId, kind), ':behind': behind }),
  });
  for await (const row of rows) yield namedRow.parse(row).name;
}

export async function* allLanes(): AsyncGenerator<Lane> {
  const rows = scanRows({
    TableName: settings.lanesTable,
    FilterExpression: 'part = :own',
    ExpressionAttributeValues: { ':own': { S: ownPart } },
  });
  for await (const row of rows) yield laneOf(laneKeyOf(row), row);
}

const laneKeyRow = z.object({ lane: z.string() });

function laneKeyOf(row: Row): LaneKey {
  const { lane } = laneKeyRow.parse(row);
  // Only the name, which is last, may contain `#`.
  const [, accountId = '', text, name = ''] = /^([^#]*)#([^#]*)#(.*)$/s.exec(lane) ?? [];
  const kind = laneKinds.find((known) => known === text);
  if (kind === undefined) throw new Error(`${lane} is not a lane.`);
  return { accountId, kind, name };
}

const lanesTogether = 100;

interface LaneListing {
  /** Lists only lanes whose name sorts after this one. */
  readonly behind?: string | undefined;
  readonly isWanted?: (name: string) => boolean;
  /** Whether eventually consistent reads are enough, at half the cost. */
  readonly mayBeOld?: boolean;
}

/** Lists lanes by name. New lanes appear after a moment. */
export async function* listLanes(
  accountId: string,
  kind: LaneKind,
  { behind, isWanted = () => true, mayBeOld = false }: LaneListing = {},
): AsyncGenerator<Lane> {
  let names: string[] = [];
  for await (const name of laneNames(accountId, kind, behind)) {
    if (!isWanted(name)) continue;
    names.push(name);
    if (names.length < lanesTogether) continue;
    yield* await loadLanes(accountId, kind, names, mayBeOld);
    names = [];
  }
  if (names.length > 0) yield* await loadLanes(accountId, kind, names, mayBeOld);
}

async function loadLanes(
  accountId: string,
  kind: LaneKind,
  names: readonly string[],
  mayBeOld: boolean,
): Promise<readonly Lane[]> {
  const keys = names.map((name) => ({ accountId, kind, name }));
  const rows = await getRows(settings.lanesTable, keys.map(keyOf), { ConsistentRead: !mayBeOld });
  const byId = new Map(rows.map((row) => [row['lane'], row]));
  return keys.flatMap((key) => {
    const row = byId.get(laneId(key));
    return row === undefined ? [] : [laneOf(key, row)];
  });
}
