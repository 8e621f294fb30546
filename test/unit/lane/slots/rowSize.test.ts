import { GetItemCommand } from '@aws-sdk/client-dynamodb';
import { expect, it } from 'vitest';
import { mostLeases, newLane, waitingIn, withLease, type Lane } from '../../../../lambdas/lane/lane.ts';
import { joinLine } from '../../../../lambdas/lane/rules/arrival.ts';
import { newTenant, type Tenant } from '../../../../lambdas/lane/rules/fairLine.ts';
import { withTenant } from '../../../../lambdas/lane/rules/tenants.ts';
import { mostAsked, mostTurns } from '../../../../lambdas/lane/slots/lineRows.ts';
import { keepFor, leave } from '../../../../lambdas/lane/rules/leaving.ts';
import { join, spill } from '../../../../lambdas/lane/rules/line.ts';
import { chunksOf } from '../../../../lambdas/shared/lists.ts';
import { priorities } from '../../../../lambdas/value/turn.ts';
import type { Fixture } from '../../../support/fixture.ts';
import { itemBytes } from '../../../support/itemSize.ts';
import { LanesInMemory } from '../../../support/lanesInMemory.ts';
import { useFixture } from '../../../support/useFixture.ts';

let fixture: Fixture;
let store: Awaited<ReturnType<typeof importStore>>;
const importStore = () => import('../../../../lambdas/lane/store/laneRows.ts');

useFixture(async (opened) => {
  fixture = opened;
  store = await importStore();
});

const idOf = (number: number): string => `${String(number).padStart(26, '0')}/0s`;
const upTo = (count: number): readonly number[] => Array.from({ length: count }, (_, number) => number);
const laneOf = (name: string): Lane =>
  newLane({ accountId: 'acct', kind: 'queue', name }, 1_700_000_000_000, { parallelism: 10_000 });

async function bytesOf(lane: Lane): Promise<number> {
  expect(await store.saveLane({ ...lane, version: 0 })).toBeUndefined();
  const { Item: item } = await fixture.dynamodb.send(
    new GetItemCommand({
      TableName: fixture.settings.lanesTable,
      Key: { lane: { S: `acct#${lane.kind}#${lane.name}` }, part: { S: 'lane' } },
    }),
  );
  if (item === undefined) throw new Error('The row is not there.');
  return itemBytes(item);
}

it('the row of a lane in which 1,000 tenants wait stays small, and each tenant gets its turn', async () => {
  const tenants = 1_000;
  const memory = new LanesInMemory();
  const { lanes } = memory;
  const key = { ...laneOf('crowded'), parallelism: 1, isPaused: true };
  memory.table.put({ ...key, version: 1 });
  const row = (): Lane => memory.lane(key);
  const all = upTo(2 * tenants).map((number) => ({
    entry: idOf(number),
    fairKey: `tenant ${String(number % tenants)}`.padEnd(64, '.'),
  }));
  let most = 0;
  for (const some of chunksOf(all, 20)) {
    await lanes.update(key, (lane) =>
      some.reduce((joined, { entry, fairKey }) => joinLine(joined, entry, { fairKey }), lane),
    );
    most = Math.max(
      most,
      JSON.stringify(row().fair, (_, value) => (value instanceof Map ? [...value] : (value as unknown)))
        .length,
    );
  }
  expect(waitingIn(row())).toBe(2 * tenants);
  expect(most).toBeLessThan(16_384);
  expect(await bytesOf(row())).toBeLessThan(16_384);

  // Each free slot goes to the next tenant.
  await lanes.update(key, (lane) => ({ ...lane, isPaused: false }));
  const came: string[] = [];
  while (came.length < 2 * tenants) {
    const [holder = ''] = row().leases.keys();
    came.push(holder);
    await lanes.update(key, (lane) => leave(lane, holder));
  }
  expect(came).toEqual(all.map(({ entry }) => entry));
  expect(row().fair).toBeUndefined();
  expect(await bytesOf({ ...row(), name: 'emptied' })).toBeLessThan(1_024);
});

it('a row holds the tenants of one write and all slots, even with the longest names', async () => {
  const line = (from: number) => ({
    front: upTo(9).map((number) => idOf(from + number)),
    firstPage: 1_000,
    nextPage: 2_000,
    back: upTo(7).map((number) => idOf(from + number)),
  });
  const tenant: Tenant = {
    ...newTenant,
    lines: { high: line(0), normal: line(100), low: line(200) },
    overtakes: 5,
    isInRing: true,
  };
  let lane = laneOf('q'.repeat(128));
  for (const number of upTo(mostLeases)) {
    lane = withLease(lane, idOf(number), { slots: 1, until: 1_700_000_000_000, ticket: 'a1b2c3d4' });
  }
  lane = joinLine(lane, idOf(1), { fairKey: 'one' });
  // The tenants that join with a write and its last change, those whose turn it is, and those that stay.
  for (const number of upTo(mostAsked + 20 + mostTurns + 4)) {
    const name = `${String(number)}${'\u{3042}'.repeat(61)}`;
    if (lane.fair !== undefined) lane = { ...lane, fair: withTenant(lane.fair, name, tenant) };
  }
  expect(priorities.every((priority) => tenant.lines[priority].front.length > 0)).toBe(true);
  expect(await bytesOf(lane)).toBeLessThan(400 * 1_024);
});

it('a queue’s row has room for the maximum number of slots, however many callbacks they are kept for', async () => {
  let lane = laneOf('s'.repeat(128));
  for (const number of upTo(mostLeases)) {
    lane = withLease(lane, idOf(number), { slots: 1, until: 1_700_000_000_000, ticket: 'a1b2c3d4' });
  }
  // A message has at most one unfinished callback for each of its attempts.
  for (const number of upTo(50)) {
    const callbacks = upTo(101).map((attempt) => `msg_${idOf(1_000 * number + attempt).slice(0, 26)}`);
    lane = keepFor(lane, idOf(number), callbacks);
  }
  for (const number of upTo(100)) lane = { ...lane, line: join(lane.line, idOf(number)) };
  expect(spill(lane.line).pages.length).toBeGreaterThan(0);
  expect(await store.saveLane(lane)).toBeUndefined();
});

it('a lane’s row stays small, however many attempts it has admitted, even if all their workers died', async () => {
  const key = { accountId: 'acct', kind: 'key', name: 'k'.repeat(128) } as const;
  const table = new LanesInMemory();
  const limits = { parallelism: 5, rate: 10, periodMs: 60_000 };
  for (const number of upTo(200)) {
    table.time += 30_000;
    await table.lanes.update(key, (lane) => joinLine({ ...lane, ...limits }, idOf(number)));
  }
  expect(table.sent).toHaveLength(200);
  expect(await bytesOf(table.lane(key))).toBeLessThan(1_024);
});
