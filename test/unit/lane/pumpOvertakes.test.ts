import { expect, it } from 'vitest';
import { enter } from '../../../lambdas/lane/rules/arrival.ts';
import { formatEntry } from '../../../lambdas/lane/rules/entry.ts';
import { newLane, withLease, type Lane, type LaneKey } from '../../../lambdas/lane/lane.ts';
import { createLanes, type Lanes } from '../../../lambdas/lane/slots/lanes.ts';
import type { LaneStore } from '../../../lambdas/lane/slots/laneStore.ts';
import { noTenants } from '../../support/noTenants.ts';

/** A pump is sent before its lane is written, so it may arrive first. */

const key: LaneKey = { accountId: 'acct', kind: 'key', name: 'narrow' };
const start = 1_700_000_000_000;
const slotEndsAt = start + 5;

const waiting = formatEntry({ messageId: 'msg_01J00000000000000000000000', attempt: 0, queue: 'short' });

it('starts an attempt even if its pump arrived before the attempt was in the line', async () => {
  let time = start;
  let row: Lane = {
    ...withLease(newLane(key, start, { parallelism: 1 }), 'dead', { slots: 1, until: slotEndsAt }),
    version: 1,
  };
  let beforeSave = (): Promise<void> => Promise.resolve();
  const store: LaneStore = {
    load: () => Promise.resolve(row),
    save: async (lane) => {
      await beforeSave();
      if (lane.version !== row.version) return { current: row };
      row = { ...lane, version: lane.version + 1 };
      return undefined;
    },
    loadPage: () => Promise.resolve([]),
    savePages: () => Promise.resolve(),
    ...noTenants,
  };
  const pumps: number[] = [];
  const granted: string[] = [];
  const startProcess = (): Lanes =>
    createLanes({
      store,
      jobs: {
        sendGranted: (_key, all) => {
          granted.push(...all.map(formatEntry));
          return Promise.resolve();
        },
        sendPump: (_key, dueAt, keeps) => {
          if (!keeps) pumps.push(dueAt);
          return Promise.resolve();
        },
      },
      now: () => time,
      sleep: () => Promise.resolve(),
      random: () => 0,
    });

  async function pumpAll(): Promise<void> {
    for (const dueAt of pumps.splice(0)) {
      time = Math.max(time, dueAt);
      await startProcess().update(key, (lane) => lane);
    }
  }

  beforeSave = async () => {
    beforeSave = () => Promise.resolve();
    await pumpAll();
  };
  const arrival = {
    entry: waiting,
    isYoung: false,
    until: start + 40_000,
    hasWaited: false,
    mayHaveStarted: false,
  };
  expect(await startProcess().change(key, (lane, now) => enter(lane, arrival, now))).toBe('waits');
  await pumpAll();
  expect(granted).toEqual([waiting]);
  expect([...row.leases.keys()]).toContain(waiting);
});
