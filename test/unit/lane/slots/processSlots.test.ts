import { expect, it } from 'vitest';
import { newLane, type Lane, type LaneKey } from '../../../../lambdas/lane/lane.ts';
import { LaneBusy, type Lanes } from '../../../../lambdas/lane/slots/lanes.ts';
import { createProcessSlots } from '../../../../lambdas/lane/slots/processSlots.ts';

/** The slots that a process keeps for itself, where its lease cannot be written. */

const key: LaneKey = { accountId: 'acct', kind: 'account', name: '' };

/** A lane in memory, whose next write fails when a test says so. */
function startLane(parallelism: number) {
  let lane: Lane = newLane(key, 0, { parallelism });
  let fail: (() => void) | undefined;
  let isFailing = false;
  const lanes: Lanes = {
    change: async (_key, change) => {
      if (isFailing) {
        await new Promise<void>((resolve) => (fail = resolve));
        throw new LaneBusy('It is written by too many at once.');
      }
      const outcome = change(lane, 0);
      lane = outcome.lane;
      return outcome.result;
    },
    update: (_key, to) => {
      lane = to(lane);
      return Promise.resolve();
    },
  };
  return {
    lanes,
    failWrites: () => {
      isFailing = true;
    },
    endFailure: () => {
      isFailing = false;
      fail?.();
    },
    leased: () => [...lane.leases.values()].reduce((sum, { slots }) => sum + slots, 0),
  };
}

it('of attempts that asked while a lease could not be written are nobody’s, and are not kept', async () => {
  const { lanes, failWrites, endFailure, leased } = startLane(4);
  const slots = createProcessSlots({
    lanes,
    process: 'process#1',
    now: () => 0,
    sleep: async () => {},
    report: () => {},
  });
  const take = () => slots.take(key, (lane) => lane);
  failWrites();
  const asked = [take()];
  await new Promise(setImmediate);
  // The write is under way: these ask for the next one, which is not made.
  asked.push(take(), take());
  await new Promise(setImmediate);
  endFailure();
  for (const one of await Promise.allSettled(asked)) expect(one.status).toBe('rejected');

  const slot = await take();
  expect(slot).toBeDefined();
  expect(leased()).toBe(1);
  await slot?.release();
});
