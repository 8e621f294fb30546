import { GetItemCommand } from '@aws-sdk/client-dynamodb';
import { expect, it } from 'vitest';
import { joinLine } from '../../../../lambdas/lane/rules/arrival.ts';
import { join, spill } from '../../../../lambdas/lane/rules/line.ts';
import { mostLeases, newLane, withLease, type Lane } from '../../../../lambdas/lane/lane.ts';
import { keepFor } from '../../../../lambdas/lane/rules/leaving.ts';
import { itemBytes } from '../../../support/itemSize.ts';
import { LanesInMemory } from '../../../support/lanesInMemory.ts';
import { useFixture } from '../../../support/useFixture.ts';
import type { Fixture } from '../../../support/fixture.ts';

let fixture: Fixture;
let store: Awaited<ReturnType<typeof importStore>>;
const importStore = () => import('../../../../lambdas/lane/store/lanes.ts');

useFixture(async (opened) => {
  fixture = opened;
  store = await importStore();
});

const idOf = (number: number): string => String(number).padStart(26, '0');
const upTo = (count: number): readonly number[] => Array.from({ length: count }, (_, number) => number);

it('a queue’s row has room for the maximum number of slots, however many callbacks they are kept for', async () => {
  const time = 1_700_000_000_000;
  let lane: Lane = newLane({ accountId: 'acct', kind: 'queue', name: 'q'.repeat(128) }, time, {
    parallelism: 10_000,
  });
  for (const number of upTo(mostLeases)) {
    lane = withLease(lane, `${idOf(number)}/0s`, { slots: 1, until: time, ticket: 'a1b2c3d4' });
  }
  // A message has at most one unfinished callback for each of its attempts.
  for (const number of upTo(mostLeases)) {
    const callbacks = upTo(101).map((attempt) => `msg_${idOf(1_000 * number + attempt)}`);
    lane = keepFor(lane, `${idOf(number)}/0s`, callbacks);
  }
  for (const number of upTo(100)) lane = { ...lane, line: join(lane.line, `${idOf(number)}/0s`) };
  expect(spill(lane.line).pages.length).toBeGreaterThan(0);
  expect(await store.saveLane(lane)).toBeUndefined();
});

it('a lane’s row stays small, however many attempts it has admitted, even if all their workers died', async () => {
  const key = { accountId: 'acct', kind: 'key', name: 'k'.repeat(128) } as const;
  const table = new LanesInMemory();
  const limits = { parallelism: 5, rate: 10, periodMs: 60_000 };
  for (const number of upTo(1_000)) {
    table.time += 30_000;
    await table.lanes.update(key, (lane) => joinLine({ ...lane, ...limits }, `${idOf(number)}/0s`));
  }
  expect(table.sent).toHaveLength(1_000);
  expect(await store.saveLane({ ...table.lane(key), version: 0 })).toBeUndefined();
  const { Item: item } = await fixture.dynamodb.send(
    new GetItemCommand({
      TableName: fixture.settings.lanesTable,
      Key: { lane: { S: `acct#key#${key.name}` }, part: { S: 'lane' } },
    }),
  );
  if (item === undefined) throw new Error('The row is not there.');
  expect(itemBytes(item)).toBeLessThan(1_024);
});
