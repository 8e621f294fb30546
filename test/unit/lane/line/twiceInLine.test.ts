import { expect, it } from 'vitest';
import { joinLine } from '../../../../lambdas/lane/rules/arrival.ts';
import { newLane, waitingIn, withLease, type Lane, type LaneKey } from '../../../../lambdas/lane/lane.ts';
import { leave } from '../../../../lambdas/lane/rules/leaving.ts';
import type { Granted } from '../../../../lambdas/lane/slots/applyChanges.ts';
import { createLanes } from '../../../../lambdas/lane/slots/lanes.ts';
import { noTenants } from '../../../support/noTenants.ts';

/** A message is in its line twice if its worker died after joining and the job was redelivered. */

const key: LaneKey = { accountId: 'acct', kind: 'queue', name: 'orders' };
const first = `${'0'.repeat(25)}1/0s`;
const second = `${'0'.repeat(25)}2/0s`;

it('is not granted a slot by the write that ends it, because its job would arrive before that write and be dropped', async () => {
  const empty: Lane = { ...newLane(key, 0, { parallelism: 1 }), version: 1 };
  let stored = joinLine(joinLine(withLease(empty, first, { slots: 1, ticket: 'one' }), first), second);
  const sent: Granted[] = [];
  const lanes = createLanes({
    store: {
      ...noTenants,
      load: () => Promise.resolve(stored),
      save: (lane) => {
        stored = lane;
        return Promise.resolve(undefined);
      },
      loadPage: () => Promise.resolve([]),
      savePages: () => Promise.resolve(),
    },
    jobs: {
      sendGranted: (_key, granted) => {
        sent.push(...granted);
        return Promise.resolve();
      },
      sendPump: () => Promise.resolve(),
    },
    now: () => 1_000,
    sleep: () => Promise.resolve(),
    random: () => 0,
  });
  await lanes.update(key, (lane) => leave(lane, first));
  expect(sent.map(({ messageId }) => messageId)).toEqual([`msg_${second.slice(0, 26)}`]);
  expect([...stored.leases.keys()]).toEqual([second]);
  expect(waitingIn(stored)).toBe(0);
});
