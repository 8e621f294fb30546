/**
 * The lanes of the largest account: its own, with a lease for every process of deliver, and a flow-control key with capacity.
 * Processes have separate lanes over one table, so another may have been faster.
 */
import type { Account } from '../../lambdas/account/account.ts';
import { secondMs } from '../../lambdas/shared/clock.ts';
import type { Lane, LaneKey } from '../../lambdas/lane/lane.ts';
import { renewalMs } from '../../lambdas/lane/slots/processSlots.ts';
import type { LaneStore } from '../../lambdas/lane/slots/laneStore.ts';
import type { CutOff } from './cutOff.ts';
import { randomFrom, type Scenario } from './scenario.ts';
import type { Service } from './service.ts';

/** The duration of an attempt to a destination that takes 100 ms. */
const attemptMs = 120;
/** Slots that a process leases: the attempts of its batch. */
const slotsOfProcess = 10;

export async function simulateLanes(
  service: Service,
  scenario: Scenario,
  tables: CutOff,
  { account, share }: { readonly account: Account; readonly share: number },
): Promise<void> {
  await simulateAccountLane(service, scenario, tables, account);
  await simulateKey(service, scenario, tables, account, share);
}

const nobodyWaits = (): Promise<never> => Promise.reject(new Error('Nobody waits in a lane that has room.'));

/** Lanes in memory. Saves are recorded as the store writes them. */
function storeOf(service: Service, onSave: () => void): LaneStore {
  const rows = new Map<string, Lane>();
  const nameOf = ({ accountId, kind, name }: LaneKey): string => [accountId, kind, name].join(' ');
  return {
    load: (key) => Promise.resolve(rows.get(nameOf(key))),
    save: async (lane) => {
      const current = rows.get(nameOf(lane));
      onSave();
      // A refused write is billed, and counts against the partition, too.
      await service.saveLane(lane);
      if ((current?.version ?? 0) !== lane.version) return { current };
      rows.set(nameOf(lane), { ...lane, version: lane.version + 1 });
      return undefined;
    },
    loadPage: nobodyWaits,
    savePages: nobodyWaits,
    loadTenants: nobodyWaits,
    saveTenants: nobodyWaits,
  };
}

function fleetOf(service: Service, size: number, store: LaneStore, now: () => number) {
  return Array.from({ length: size }, () =>
    service.createLanes({
      store,
      jobs: { sendGranted: nobodyWaits, sendPump: nobodyWaits },
      now,
      sleep: () => Promise.resolve(),
      random: randomFrom(1),
    }),
  );
}

/** Each process renews its lease every 20 s, at a different moment. All have one at the start. */
async function simulateAccountLane(
  service: Service,
  { deliverProcesses, seconds }: Scenario,
  tables: CutOff,
  account: Account,
): Promise<void> {
  const key: LaneKey = { accountId: account.id, kind: 'account', name: '' };
  const parallelism = account.limits.max_global_parallelism;
  const start = Date.now();
  let time = start;
  let isNoted = false;
  const noted = { ...service, saveLane: (lane: Lane) => (isNoted ? service.saveLane(lane) : noSave()) };
  const noSave = (): Promise<undefined> => Promise.resolve(undefined);
  const processes = fleetOf(
    service,
    deliverProcesses,
    storeOf(noted, () => undefined),
    () => time,
  );
  const renew = (index: number): Promise<number> | undefined =>
    processes[index]?.change(key, (lane, now) =>
      service.leaseTo(
        service.withNewestLimits(lane, { parallelism }, 1),
        {
          process: `${service.processPrefix}${String(index).padStart(36, '0')}`,
          slots: slotsOfProcess,
          until: now + 3.5 * renewalMs,
        },
        now,
      ),
    );
  const gapMs = renewalMs / deliverProcesses;
  const before = deliverProcesses;
  const renewals = before + Math.floor((seconds * secondMs) / gapMs);
  for (let made = 0; made < renewals; made += 1) {
    isNoted = made >= before;
    time = start + (made - before) * gapMs;
    tables.second = Math.max(0, Math.floor((time - start) / secondMs));
    await renew(made % deliverProcesses);
  }
}

/** Each message of the key enters its lane, and leaves it after its attempt. */
async function simulateKey(
  service: Service,
  { messagesPerSecond, seconds, keyShare, deliverProcesses, seed }: Scenario,
  tables: CutOff,
  account: Account,
  share: number,
): Promise<void> {
  const perSecond = messagesPerSecond * share * keyShare;
  const count = Math.floor(perSecond * seconds);
  const start = Date.now();
  let time = start;
  const random = randomFrom(seed);
  const laneGate = fleetOf(
    service,
    deliverProcesses,
    storeOf(service, () => undefined),
    () => time,
  ).map((lanes) =>
    service.createLaneGate({
      lanes,
      // The account has no circuits.
      circuits: service.createCircuits({
        lanes,
        load: service.loadLane,
        now: () => time,
        tell: () => {},
        report: () => {},
      }),
      // The account's slots are the process's, which need no write.
      slots: { take: () => Promise.resolve({ release: () => Promise.resolve() }) },
      now: () => time,
      sleep: () => Promise.resolve(),
      report: () => {},
    }),
  );
  const at = (moment: number): void => {
    time = start + moment;
    tables.second = Math.min(seconds - 1, Math.floor(moment / secondMs));
  };
  const leaving: { readonly at: number; readonly release: () => Promise<void> }[] = [];
  const leaveUntil = async (moment: number): Promise<void> => {
    for (let next = leaving[0]; next !== undefined && next.at <= moment; next = leaving[0]) {
      leaving.shift();
      at(next.at);
      await next.release();
    }
  };
  for (let made = 0; made < count; made += 1) {
    const moment = Math.floor(((made + random()) * secondMs) / perSecond);
    await leaveUntil(moment);
    at(moment);
    const { messageId, timeoutMs } = service.newMessage(account, time);
    const acquired = await laneGate[Math.floor(random() * laneGate.length)]?.acquire({
      ...{ accountId: account.id, messageId, attempt: 0, queue: 'short', timeoutMs },
      flowControl: { key: 'crm', parallelism: account.limits.max_parallelism, madeAt: start },
      accountLimits: { parallelism: account.limits.max_global_parallelism, version: 1 },
      queueName: undefined,
      circuit: undefined,
      createdAt: 0,
      notBefore: 0,
      admittedTo: undefined,
      isAgain: false,
    });
    if (typeof acquired !== 'object') throw new Error(`A lane with room answered ${acquired}.`);
    leaving.push({ at: moment + attemptMs, release: acquired.release });
  }
  await leaveUntil(Infinity);
}
