import { randomUUID } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { formatEntry } from '../../../../lambdas/lane/rules/entry.ts';
import { enter, joinLine } from '../../../../lambdas/lane/rules/arrival.ts';
import { newLane, type LaneKey } from '../../../../lambdas/lane/lane.ts';
import { leave } from '../../../../lambdas/lane/rules/leaving.ts';
import { lengthOf } from '../../../../lambdas/lane/rules/line.ts';
import type { Granted } from '../../../../lambdas/lane/slots/applyChanges.ts';
import type { Lanes } from '../../../../lambdas/lane/slots/changeLanes.ts';
import { handOverCalls } from '../../../../local/stage/standIns.ts';
import { Clock } from '../../../support/simulatedClock.ts';
import { useStandIns } from '../../../support/useStandIns.ts';

const standIns = useStandIns();

const importAll = async () => {
  const [store, tenants, service] = await Promise.all([
    import('../../../../lambdas/lane/store/laneRows.ts'),
    import('../../../../lambdas/lane/store/tenants.ts'),
    import('../../../../lambdas/lane/slots/changeLanes.ts'),
  ]);
  return { ...store, ...tenants, ...service };
};
let lambdas: Awaited<ReturnType<typeof importAll>>;
beforeAll(async () => {
  // The SDK’s work at each call would block the other processes, which share this thread.
  handOverCalls(standIns());
  lambdas = await importAll();
});

/**
 * The time of all processes. It passes only while they sleep or wait for the table, so that the speed of the
 * machine does not matter.
 */
let clock = new Clock();
const callMs = 5;
let calls = 0;

beforeEach(() => {
  clock = new Clock();
  clock.now = Date.now();
});

const timed =
  <Args extends unknown[], Result>(call: (...args: Args) => Promise<Result>) =>
  async (...args: Args): Promise<Result> => {
    calls += 1;
    try {
      return await call(...args);
    } finally {
      calls -= 1;
      await clock.sleep(callMs);
    }
  };

/** Waits until every process sleeps or has ended, and all calls are answered. */
async function settle(): Promise<void> {
  // Work that is due at the same time happens in parallel.
  if (clock.nextAt === clock.now) return;
  for (let quiet = 0; quiet < 2; quiet = calls === 0 ? quiet + 1 : 0) await setImmediate();
}

const inTime = async (work: Promise<unknown>): Promise<void> => {
  await Promise.all([work, clock.run(undefined, settle)]);
};

const processes = 12;
const changesEach = 8;

function startProcess(onAdmitted: (granted: readonly Granted[]) => void = () => {}) {
  let saves = 0;
  const lanes: Lanes = lambdas.createLanes({
    store: {
      load: timed(lambdas.loadLane),
      save: timed((lane) => {
        saves += 1;
        return lambdas.saveLane(lane);
      }),
      loadPage: timed(lambdas.loadPage),
      savePages: timed(lambdas.savePages),
      loadTenants: timed(lambdas.loadTenants),
      saveTenants: timed(lambdas.saveTenants),
    },
    jobs: {
      sendGranted: (_key, granted) => {
        onAdmitted(granted);
        return Promise.resolve();
      },
      sendPump: () => Promise.resolve(),
    },
    now: () => clock.now,
    sleep: clock.sleep,
    random: Math.random,
  });
  return { lanes, saves: () => saves };
}

const entryOf = (number: number): string =>
  formatEntry({ messageId: `msg_01${String(number).padStart(24, '0')}`, attempt: 0, queue: 'short' });

const keyOf = (): LaneKey => ({ accountId: 'acct', kind: 'queue', name: randomUUID() });

const range = (count: number): readonly number[] => Array.from({ length: count }, (_, index) => index);

describe(`${processes} processes that change one lane at once`, () => {
  it('make all their changes without a failure', async () => {
    const key = keyOf();
    await lambdas.saveLane({ ...newLane(key, clock.now, { parallelism: 1 }), isPaused: true });
    const all = range(processes).map(() => startProcess());
    await inTime(
      Promise.all(
        all.map(async ({ lanes }, process) => {
          for (const change of range(changesEach)) {
            await lanes.update(key, (lane) => joinLine(lane, entryOf(process * changesEach + change)));
          }
        }),
      ),
    );
    const lane = await lambdas.loadLane(key);
    if (lane === undefined) throw new Error('The lane is not there.');
    // Each change was a separate write. Few failed, because a process reads again after a pause.
    expect(lane.version).toBe(1 + processes * changesEach);
    const saves = all.reduce((sum, process) => sum + process.saves(), 0);
    expect(saves).toBeGreaterThan(processes * changesEach);
    expect(saves).toBeLessThan(6 * processes * changesEach);
    const { front, back, firstPage, nextPage } = lane.line;
    const pages = await Promise.all(
      range(nextPage - firstPage).map((page) => lambdas.loadPage(key, firstPage + page)),
    );
    const line = [...front, ...pages.flat(), ...back];
    expect(lengthOf(lane.line)).toBe(processes * changesEach);
    expect([...line].sort()).toEqual(
      range(processes * changesEach)
        .map(entryOf)
        .sort(),
    );
    // Each process joined its entries in order, so the line has them in that order.
    for (const process of range(processes)) {
      const own = range(changesEach).map((change) => entryOf(process * changesEach + change));
      expect(line.filter((entry) => own.includes(entry))).toEqual(own);
    }
  });

  it('grant each attempt its slot once, and never exceed the number of slots', async () => {
    const key = keyOf();
    const parallelism = 3;
    const arrivalsEach = 4;
    const total = processes * arrivalsEach;
    await lambdas.saveLane(newLane(key, clock.now, { parallelism }));
    const starts: string[] = [];
    let inFlight = 0;
    let most = 0;
    const isAlone = (): boolean => most === 1 && starts.length < total;
    const handled: Promise<void>[] = [];
    const all = range(processes).map(() =>
      startProcess((granted) => {
        for (const one of granted) handled.push(arrive(formatEntry(one), one.ticket));
      }),
    );
    const someProcess = (): Lanes => {
      const process = all[Math.floor(Math.random() * processes)];
      if (process === undefined) throw new Error('There is no process.');
      return process.lanes;
    };

    /** Lets an attempt arrive at some process. It is retried while its grant is not written. */
    async function arrive(entry: string, ticket?: string): Promise<void> {
      const lanes = someProcess();
      const arrival = {
        entry,
        ticket,
        isYoung: ticket !== undefined,
        until: undefined,
        hasWaited: false,
        mayHaveStarted: false,
      };
      for (;;) {
        if (starts.includes(entry)) return;
        const grant = await lanes.change(key, (lane, time) => enter(lane, arrival, time));
        if (grant === 'in') break;
        if (grant !== 'early') return;
        await clock.sleep(20);
      }
      starts.push(entry);
      inFlight += 1;
      most = Math.max(most, inFlight);
      // Waits for a second attempt, or until all others that may start have started.
      do await clock.sleep(5);
      while (isAlone());
      inFlight -= 1;
      await lanes.update(key, (lane) => leave(lane, entry));
    }

    await inTime(
      Promise.all(
        range(processes).map(async (process) => {
          for (const one of range(arrivalsEach)) await arrive(entryOf(process * arrivalsEach + one));
        }),
      ),
    );
    // A handled attempt may start others. A failed one rejects here.
    for (const one of handled) await one;
    expect([...starts].sort()).toEqual(range(total).map(entryOf).sort());
    expect(most).toBeLessThanOrEqual(parallelism);
    expect(most).toBeGreaterThan(1);
    const lane = await lambdas.loadLane(key);
    expect([lane?.leases.size, lane && lengthOf(lane.line)]).toEqual([0, 0]);
  });
});
