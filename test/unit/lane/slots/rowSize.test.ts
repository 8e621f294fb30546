import { expect, it } from 'vitest';
import { join, spill } from '../../../../lambdas/lane/rules/line.ts';
import { mostLeases, newLane, withLease, type Lane } from '../../../../lambdas/lane/lane.ts';
import { keepFor } from '../../../../lambdas/lane/rules/leaving.ts';
import { useWorld } from '../../../support/useWorld.ts';

let saveLane: Awaited<ReturnType<typeof importStore>>['saveLane'];
const importStore = () => import('../../../../lambdas/lane/store/lanes.ts');

useWorld(async () => {
  ({ saveLane } = await importStore());
});

const idOf = (number: number): string => String(number).padStart(26, '0');
const upTo = (count: number): readonly number[] => Array.from({ length: count }, (_, number) => number);

it('a queue’s row holds as many slots as there may be, however many callbacks they are kept for', async () => {
  const time = 1_700_000_000_000;
  let lane: Lane = newLane({ accountId: 'acct', kind: 'queue', name: 'q'.repeat(128) }, time, {
    parallelism: 10_000,
  });
  for (const number of upTo(mostLeases)) {
    lane = withLease(lane, `${idOf(number)}/0s`, { slots: 1, until: time, ticket: 'a1b2c3d4' });
  }
  // A message has as many callbacks that are not over as it has had attempts.
  for (const number of upTo(mostLeases)) {
    const callbacks = upTo(101).map((attempt) => `msg_${idOf(1_000 * number + attempt)}`);
    lane = keepFor(lane, `${idOf(number)}/0s`, callbacks);
  }
  for (const number of upTo(100)) lane = { ...lane, line: join(lane.line, `${idOf(number)}/0s`) };
  expect(spill(lane.line).pages.length).toBeGreaterThan(0);
  expect(await saveLane(lane)).toBeUndefined();
});
