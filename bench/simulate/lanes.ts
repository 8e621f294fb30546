/**
 * An account's own lane, with a lease for every process of deliver. Processes know separate states of the
 * lane, and write to one table, so another process may have been faster.
 */
import type { Account } from '../../lambdas/account/account.ts';
import { accountLane, type Lane, leaseTo, processPrefix, withNewestLimits } from '../../lambdas/lane/lane.ts';
import { createLanes } from '../../lambdas/lane/slots/changeLanes.ts';
import { renewalMs } from '../../lambdas/lane/slots/processSlots.ts';
import { saveLane } from '../../lambdas/lane/store/laneRows.ts';
import { secondMs } from '../../lambdas/shared/clock.ts';
import type { CutOff } from './cutOff.ts';
import { randomFrom, type Scenario } from './scenario.ts';

/** A process leases one slot for each attempt of a batch. */
const slotsOfProcess = 10;

const nobodyWaits = (): Promise<never> => Promise.reject(new Error('Nobody waits in a lane that has room.'));

/** Each process renews its lease every 20 s, at a different moment. All have one at the start. */
export async function simulateAccountLane(
  { processes, seconds }: Scenario,
  tables: CutOff,
  { id, limits }: Account,
): Promise<void> {
  const key = accountLane(id);
  const start = Date.now();
  let time = start;
  let isNoted = false;
  let row: Lane | undefined;
  const fleet = Array.from({ length: processes }, () =>
    createLanes({
      store: {
        load: () => Promise.resolve(row),
        save: async (lane) => {
          const current = row;
          // A refused write is billed, and counts against the partition, too.
          if (isNoted) await saveLane(lane);
          if ((current?.version ?? 0) !== lane.version) return { current };
          row = { ...lane, version: lane.version + 1 };
          return undefined;
        },
        loadPage: nobodyWaits,
        savePages: nobodyWaits,
        loadTenants: nobodyWaits,
        saveTenants: nobodyWaits,
      },
      jobs: { sendGranted: nobodyWaits, sendPump: nobodyWaits },
      now: () => time,
      sleep: () => Promise.resolve(),
      random: randomFrom(1),
    }),
  );
  const gapMs = renewalMs / processes;
  const renewals = processes + Math.floor((seconds * secondMs) / gapMs);
  for (let made = 0; made < renewals; made += 1) {
    isNoted = made >= processes;
    time = start + (made - processes) * gapMs;
    tables.second = Math.max(0, Math.floor((time - start) / secondMs));
    const index = made % processes;
    await fleet[index]?.change(key, (lane, now) =>
      leaseTo(
        withNewestLimits(lane, { parallelism: limits.max_global_parallelism }, 1),
        {
          process: `${processPrefix}${String(index).padStart(36, '0')}`,
          slots: slotsOfProcess,
          until: now + 3.5 * renewalMs,
        },
        now,
      ),
    );
  }
}
