/** Measures the row of a lane: DynamoDB bills each write by kilobytes, and limits writes per second. */
import { GetItemCommand } from '@aws-sdk/client-dynamodb';
import { randomBytes, randomUUID } from 'node:crypto';
import { newId } from '../lambdas/shared/ids.ts';
import { endOfGrant, formatEntry } from '../lambdas/lane/rules/entry.ts';
import { newLane, type Lane } from '../lambdas/lane/lane.ts';
import type { LaneKind } from '../lambdas/job/job.ts';
import { pageSize } from '../lambdas/lane/rules/line.ts';
import { printTable } from './table.ts';
import { itemBytes, writeUnits } from './units.ts';

/** Write units per second for one row ("Partitions and key range throughput" in DynamoDB's documents). */
const unitsInSecond = 1_000;

const leaseCounts = [1, 10, 100];
const kinds = ['queue', 'key'] as const;

/** Prints the rows. Requires stand-ins for AWS. */
export async function printLaneRows(): Promise<readonly string[]> {
  // These modules read the environment.
  const { saveLane } = await import('../lambdas/lane/store/laneRows.ts');
  const { dynamodb } = await import('../lambdas/aws/dynamodb.ts');
  const { settings } = await import('../lambdas/aws/settings.ts');

  const entryOf = () => ({ messageId: newId('msg', Date.now()), attempt: 0, queue: 'short' as const });

  function laneWith(kind: LaneKind, leases: number, isLong: boolean): Lane {
    const now = Date.now();
    const key = { accountId: randomUUID(), kind, name: 'orders-of-shop' };
    const ticket = randomBytes(6).toString('base64url');
    const waiting = (): readonly string[] =>
      isLong ? Array.from({ length: pageSize }, () => formatEntry(entryOf())) : [];
    return {
      ...newLane(key, now, { parallelism: leases }),
      limitsMadeAt: kind === 'key' ? now : 0,
      leases: new Map(
        Array.from({ length: leases }, () => {
          const entry = entryOf();
          const until = kind === 'queue' ? undefined : endOfGrant(entry, now);
          return [formatEntry(entry), { slots: 1, until, ticket }];
        }),
      ),
      line: { front: waiting(), firstPage: 0, nextPage: isLong ? 100 : 0, back: waiting() },
      keepAt: isLong ? now : 0,
      pumpAt: isLong && kind === 'key' ? now : 0,
    };
  }

  /** @param isLong whether more attempts wait than fit into the row; otherwise none wait */
  async function measure(kind: LaneKind, leases: number, isLong: boolean) {
    const lane = laneWith(kind, leases, isLong);
    await saveLane(lane);
    const { Item: row = {} } = await dynamodb.send(
      new GetItemCommand({
        TableName: settings.lanesTable,
        Key: { lane: { S: `${lane.accountId}#${kind}#${lane.name}` }, part: { S: 'lane' } },
        ConsistentRead: true,
      }),
    );
    return { kind, leases, isLong, bytes: itemBytes(row), writeUnits: writeUnits(row) };
  }

  const rows: Awaited<ReturnType<typeof measure>>[] = [];
  for (const kind of kinds)
    for (const leases of leaseCounts)
      for (const isLong of [false, true]) rows.push(await measure(kind, leases, isLong));
  printTable('The row of a lane, and how many writes of it DynamoDB takes', rows, [
    ['lane', ({ kind }) => kind],
    ['leases', (row) => String(row.leases)],
    ['line', ({ isLong }) => (isLong ? 'long' : 'empty')],
    ['bytes', ({ bytes }) => String(bytes)],
    ['write units', (row) => String(row.writeUnits)],
    ['writes a second', (row) => String(Math.floor(unitsInSecond / row.writeUnits))],
  ]);
  return [];
}
