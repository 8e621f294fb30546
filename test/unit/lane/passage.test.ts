import { describe, expect, it } from 'vitest';
import { formatEntry, leaseMarginMs } from '../../../lambdas/lane/rules/entry.ts';
import { circuitLane, withLease, type LaneKey } from '../../../lambdas/lane/lane.ts';
import { rulesOf } from '../../../lambdas/circuit/settings.ts';
import { createCircuits } from '../../../lambdas/lane/slots/circuits.ts';
import {
  accountLane,
  createLaneGate,
  keyLane,
  queueLane,
  type DueAttempt,
  type Acquired,
} from '../../../lambdas/lane/slots/acquire.ts';
import { createProcessSlots } from '../../../lambdas/lane/slots/processSlots.ts';
import type { AdmittedTo } from '../../../lambdas/job/job.ts';
import { LanesInMemory } from '../../support/lanesInMemory.ts';

/** The lanes of an attempt, one after the other, and the slots that it keeps while it waits in one of them. */

const accountId = 'acct';
const minuteMs = 60_000;
const timeoutMs = 30_000;
const host = 'down.example.com';
const [queue, key] = [queueLane(accountId, 'orders'), keyLane(accountId, 'crm')];
const [circuit, account] = [circuitLane(accountId, host), accountLane(accountId)];

const attemptOf = (number: number, more: Partial<DueAttempt> = {}): DueAttempt => ({
  messageId: `msg_${String(number).padStart(26, '0')}`,
  attempt: 0,
  queue: 'short',
  accountId,
  queueName: undefined,
  flowControl: undefined,
  circuit: undefined,
  accountLimits: { parallelism: 1, version: 1 },
  timeoutMs,
  admittedTo: undefined,
  isAgain: false,
  ...more,
});

/** One process, and the lanes of its account. */
class Scene extends LanesInMemory {
  readonly slept: number[] = [];
  /** Notes how long it is asked to sleep, and does not. */
  readonly #sleep = (ms: number): Promise<void> => {
    this.slept.push(ms);
    return Promise.resolve();
  };
  readonly laneGate = createLaneGate({
    lanes: this.lanes,
    slots: createProcessSlots({
      lanes: this.lanes,
      process: 'process#1',
      now: () => this.time,
      sleep: () => Promise.resolve(),
      report: () => {},
    }),
    circuits: createCircuits({
      lanes: this.lanes,
      load: (lane) => Promise.resolve(this.lane(lane)),
      now: () => this.time,
      tell: () => {},
      report: () => {},
    }),
    now: () => this.time,
    sleep: this.#sleep,
  });

  /** Lets an attempt go on. */
  async pass(attempt: DueAttempt): Promise<Acquired> {
    const entered = await this.laneGate.enter(attempt);
    if (typeof entered === 'string') throw new Error(`It is refused: ${entered}.`);
    return entered;
  }

  /** Makes a lane in which so many others have a slot. */
  occupy = (lane: LaneKey, slots: number, parallelism: number): Promise<void> =>
    this.lanes.update(lane, (found) =>
      withLease({ ...found, parallelism }, 'other', { slots, until: this.time + 1e9 }),
    );

  leave = (lane: LaneKey): Promise<void> =>
    this.lanes.update(lane, (found) => withLease(found, 'other', undefined));

  leaseOf = (lane: LaneKey, attempt: DueAttempt) => this.lane(lane).leases.get(formatEntry(attempt));

  /** Takes the admission of an attempt from what was sent. */
  admissionOf({ messageId }: DueAttempt): AdmittedTo {
    const found = this.sent.findLast(({ admitted }) => admitted.messageId === messageId);
    if (found === undefined) throw new Error('It was not admitted.');
    return found.admittedTo;
  }

  /** Opens the circuit of the host, which may be probed in a minute. */
  openCircuit = (): Promise<void> =>
    this.lanes.update(circuit, (lane) => ({
      ...lane,
      circuit: {
        failures: 5,
        failedAt: this.time,
        lastStatus: 500,
        openedAt: this.time,
        openUntil: this.time + minuteMs,
        failedProbes: 0,
        isExpiring: false,
        window: 1,
      },
    }));
}

const flowControl = { key: key.name, parallelism: 2, madeAt: 1 };
const rated = { key: key.name, parallelism: 2, rate: 1, periodMs: 2_000, madeAt: 1 };
const guarded = (scene: Scene) => ({ host, rules: rulesOf(undefined), dueAt: scene.time });

describe('an attempt that goes on', () => {
  it('has the slot of its queue for as long as its message lasts, and that of its key for as long as its request may take', async () => {
    const scene = new Scene();
    await scene.lanes.update(queue, (lane) => ({ ...lane, parallelism: 1 }));
    const attempt = attemptOf(1, { queueName: queue.name, flowControl });
    const passage = await scene.pass(attempt);
    expect(scene.leaseOf(queue, attempt)?.until).toBeUndefined();
    expect(scene.leaseOf(key, attempt)?.until).toBe(scene.time + timeoutMs + leaseMarginMs);
    await passage.release();
    expect([queue, key, account].map((lane) => scene.lane(lane).leases.size)).toEqual([1, 0, 0]);
  });

  it('gives back its slots once, though it is told twice', async () => {
    const scene = new Scene();
    const attempt = attemptOf(1, { flowControl });
    const passage = await scene.pass(attempt);
    await passage.release();
    const written = scene.written.length;
    await scene.lanes.update(key, (lane) => withLease(lane, formatEntry(attempt), { slots: 1 }));
    await passage.release();
    expect(scene.written.length).toBe(written + 1);
  });

  it('passes the queue whose slot its message has, though others fill it', async () => {
    const scene = new Scene();
    await scene.occupy(queue, 1, 1);
    const queueName = queue.name;
    expect(await scene.laneGate.enter(attemptOf(1, { queueName }))).toBe('waits');
    const admittedTo = { lane: 'account', name: '', ticket: 't', sentAt: 0 } as const;
    await scene.pass(attemptOf(2, { queueName, attempt: 1 }));
    await scene.pass(attemptOf(3, { queueName, admittedTo, accountLimits: { version: 1 } }));
    expect(scene.lane(queue).line.back).toHaveLength(1);
  });

  it('is not held back by a queue that was deleted', async () => {
    const scene = new Scene();
    await scene.occupy(queue, 1, 1);
    await scene.lanes.update(queue, (lane) => ({ ...lane, isDeleted: true }));
    await scene.pass(attemptOf(1, { queueName: queue.name }));
  });

  it('stands for itself in its account where its work comes again, so that another is told', async () => {
    const scene = new Scene();
    const attempt = attemptOf(1, { accountLimits: { parallelism: 5, version: 1 }, isAgain: true });
    await scene.pass(attempt);
    expect(scene.leaseOf(account, attempt)?.until).toBe(scene.time + timeoutMs + leaseMarginMs);
    expect(scene.lane(account)).toMatchObject({ parallelism: 5 });
  });

  it('comes again for a minute while its admission is not written, and then arrives anew', async () => {
    const scene = new Scene();
    const admittedTo = { lane: 'key', name: key.name, ticket: 'never written', sentAt: scene.time } as const;
    const attempt = attemptOf(1, { flowControl, admittedTo });
    scene.time += minuteMs;
    expect(await scene.laneGate.enter(attempt)).toBe('early');
    expect(await scene.laneGate.decline({ ...attempt, admittedTo }, 'over')).toBe(false);
    scene.time += 1;
    expect(await scene.laneGate.decline({ ...attempt, admittedTo }, 'over')).toBe(true);
    await scene.pass(attempt);
  });
});

describe('an attempt whose account has no room', () => {
  /** An attempt that waits for its account, and has a slot of its key. */
  async function waiting(more: Partial<DueAttempt> = {}) {
    const scene = new Scene();
    await scene.occupy(account, 1, 1);
    const attempt = attemptOf(1, { flowControl: rated, ...more });
    expect(await scene.laneGate.enter(attempt)).toBe('waits');
    return { scene, attempt };
  }

  it('keeps the slot of its key for a day, and its start is not counted meanwhile', async () => {
    const { scene, attempt } = await waiting();
    expect(scene.leaseOf(key, attempt)?.until).toBe(scene.time + 24 * 60 * minuteMs);
    expect(scene.lane(key).starts).toEqual([]);
  });

  it('has its start stay counted where its work came again: what came before may have made it', async () => {
    const { scene } = await waiting({ isAgain: true });
    expect(scene.lane(key).starts).toEqual([{ at: scene.time, count: 1 }]);
  });

  it('makes its start when it is admitted, with leases that last as long as its request may take', async () => {
    const { scene, attempt } = await waiting();
    scene.time += 10 * minuteMs;
    await scene.leave(account);
    const admittedTo = scene.admissionOf(attempt);
    expect(admittedTo).toMatchObject({ lane: 'account', name: '' });
    const passage = await scene.pass({ ...attempt, admittedTo });
    expect(scene.lane(key).starts).toEqual([{ at: scene.time, count: 1 }]);
    expect(scene.leaseOf(key, attempt)?.until).toBeGreaterThanOrEqual(scene.time + timeoutMs + leaseMarginMs);
    expect(scene.leaseOf(account, attempt)).toBeDefined();
    await passage.release();
    expect([key, account].map((lane) => scene.lane(lane).leases.size)).toEqual([0, 0]);
  });

  it('leaves the account to others where its key has given its slot away when it is admitted', async () => {
    const { scene, attempt } = await waiting();
    scene.time += 10 * minuteMs;
    await scene.occupy(key, 1, 1);
    await scene.lanes.update(key, (lane) => withLease(lane, formatEntry(attempt), undefined));
    await scene.lanes.update(key, (lane) => ({ ...lane, isPinnedParallelism: true }));
    await scene.leave(account);
    const admittedTo = scene.admissionOf(attempt);
    expect(await scene.laneGate.enter({ ...attempt, admittedTo })).toBe('waits');
    expect(scene.lane(account).leases.size).toBe(0);
    expect(scene.lane(key).line.back).toEqual([formatEntry(attempt)]);
  });
});

describe('an attempt whose account takes its time', () => {
  /** @returns the lanes after an attempt has entered, and its key first, so many milliseconds before the account let it in */
  async function after(ms: number, more: Partial<DueAttempt>) {
    const scene = new Scene();
    const startedAt = scene.time;
    scene.onRead = ({ kind }) => {
      if (kind === 'account') scene.time += ms;
    };
    const attempt = attemptOf(1, { accountLimits: { parallelism: 5, version: 1 }, ...more });
    await scene.pass(attempt);
    const { starts } = scene.lane(key);
    return { startedAt, starts, writes: scene.written.filter((kind) => kind === 'key').length };
  }

  it.each([
    { ms: 100, isCountedAnew: false },
    { ms: 101, isCountedAnew: true },
  ])('has a start $ms ms ago counted anew: $isCountedAnew', async ({ ms, isCountedAnew }) => {
    const { starts, startedAt } = await after(ms, { flowControl: rated });
    expect(starts).toEqual([{ at: isCountedAnew ? startedAt + ms : startedAt, count: 1 }]);
  });

  it('has a start that other work may have made counted, too', async () => {
    const { starts, startedAt } = await after(101, { flowControl: { ...rated, rate: 2 }, isAgain: true });
    expect(starts.map(({ at }) => at)).toEqual([startedAt, startedAt + 101]);
  });

  it.each([
    { ms: leaseMarginMs / 2, writes: 1 },
    { ms: leaseMarginMs / 2 + 1, writes: 2 },
  ])(
    'has $writes writes of a key that it entered $ms ms ago, whose lease is to last',
    async ({ ms, writes }) => {
      expect(await after(ms, { flowControl })).toMatchObject({ writes });
    },
  );

  it('has no key made where it has none', async () => {
    expect(await after(minuteMs, {})).toMatchObject({ writes: 0 });
  });
});

describe('an attempt that comes late for the start that was counted', () => {
  /** An attempt that was admitted to its key, and whose work comes when others have made the starts of this period. */
  async function late(rate: Partial<typeof rated>, usedAt: number) {
    const scene = new Scene();
    await scene.lanes.update(key, (lane) => ({ ...lane, isPaused: true }));
    const attempt = attemptOf(1, { flowControl: { ...rated, ...rate }, accountLimits: { version: 1 } });
    expect(await scene.laneGate.enter(attempt)).toBe('waits');
    await scene.lanes.update(key, (lane) => ({ ...lane, isPaused: false }));
    const admittedTo = scene.admissionOf(attempt);
    scene.time += 3_000;
    const at = scene.time + usedAt;
    await scene.lanes.update(key, (lane) => ({ ...lane, starts: [{ at, count: 1 }] }));
    return { scene, entered: await scene.laneGate.enter({ ...attempt, admittedTo }) };
  }

  it('waits for the next one that is free', async () => {
    const { scene, entered } = await late({}, -500);
    expect(entered).toHaveProperty('release');
    expect(scene.slept).toEqual([1_500]);
  });

  it('waits in the line where that is more than five seconds away', async () => {
    const { scene, entered } = await late({ periodMs: 60_000 }, -500);
    expect(entered).toBe('waits');
    expect(scene.slept).toEqual([]);
  });

  it('does not wait for a start that is free', async () => {
    const { scene } = await late({}, -2_000);
    expect(scene.slept).toEqual([]);
  });
});

describe('an attempt whose host is down', () => {
  it('waits for the host before it takes a slot of its key or its account', async () => {
    const scene = new Scene();
    await scene.openCircuit();
    scene.time += 2_000;
    expect(await scene.laneGate.enter(attemptOf(1, { flowControl, circuit: guarded(scene) }))).toBe('held');
    expect([key, account].map((lane) => scene.lane(lane).version)).toEqual([0, 0]);
  });

  it.each([
    { isAgain: false, counted: 0 },
    { isAgain: true, counted: 1 },
  ])(
    'and which was admitted to its key gives back the slots, and $counted of its starts stays where its work came again: $isAgain',
    async ({ isAgain, counted }) => {
      const scene = new Scene();
      await scene.lanes.update(key, (lane) => ({ ...lane, isPaused: true }));
      const attempt = attemptOf(1, { flowControl: rated });
      expect(await scene.laneGate.enter(attempt)).toBe('waits');
      await scene.lanes.update(key, (lane) => ({ ...lane, isPaused: false }));
      await scene.openCircuit();
      const admittedTo = scene.admissionOf(attempt);
      const held = { ...attempt, admittedTo, isAgain, circuit: guarded(scene) };
      expect(await scene.laneGate.enter(held)).toBe('held');
      expect([key, account].map((lane) => scene.lane(lane).leases.size)).toEqual([0, 0]);
      expect(scene.lane(key).starts.reduce((sum, { count }) => sum + count, 0)).toBe(counted);
    },
  );

  it('and which was let go to probe leaves that to another while it waits for its key', async () => {
    const scene = new Scene();
    await scene.openCircuit();
    const attempt = attemptOf(1, {
      flowControl: { ...flowControl, parallelism: 1 },
      circuit: guarded(scene),
    });
    expect(await scene.laneGate.enter(attempt)).toBe('held');
    scene.time += minuteMs;
    await scene.lanes.update(circuit, (lane) => lane);
    const admittedTo = scene.admissionOf(attempt);
    expect(admittedTo).toMatchObject({ lane: 'circuit', name: host });
    await scene.occupy(key, 1, 1);
    expect(await scene.laneGate.enter({ ...attempt, admittedTo })).toBe('waits');
    expect(scene.lane(circuit).leases.size).toBe(0);
    expect(scene.lane(circuit).circuit?.failedProbes).toBe(0);
  });
});

describe('an attempt of an account that is not served', () => {
  it('waits in the account’s line, which is paused, and leaves the circuit that let it go', async () => {
    const scene = new Scene();
    const attempt = attemptOf(1);
    await scene.lanes.update(circuit, (lane) => withLease(lane, formatEntry(attempt), { slots: 1 }));
    const admittedTo = { lane: 'circuit', name: host, ticket: 't', sentAt: scene.time } as const;
    expect(await scene.laneGate.waitForAccount({ ...attempt, admittedTo })).toBe('waits');
    expect(scene.lane(account)).toMatchObject({ isPaused: true, line: { back: [formatEntry(attempt)] } });
    expect(scene.lane(circuit).leases.size).toBe(0);
  });

  it('waits in its queue first', async () => {
    const scene = new Scene();
    await scene.occupy(queue, 1, 1);
    expect(await scene.laneGate.waitForAccount(attemptOf(1, { queueName: queue.name }))).toBe('waits');
    expect(scene.lane(account).version).toBe(0);
  });
});

describe('an admission that nobody needs', () => {
  it.each([
    { kind: queue, reason: 'goesOn', left: 1 },
    { kind: queue, reason: 'over', left: 0 },
    { kind: key, reason: 'goesOn', left: 0 },
    { kind: account, reason: 'goesOn', left: 0 },
  ] as const)(
    'to a $kind.kind leaves $left slots where its message is $reason',
    async ({ kind, reason, left }) => {
      const scene = new Scene();
      const attempt = attemptOf(1, { attempt: kind === queue ? 0 : 2 });
      const admittedTo = { lane: kind.kind, name: kind.name, ticket: 't', sentAt: scene.time };
      await scene.lanes.update(kind, (lane) =>
        withLease(lane, formatEntry(attempt), { slots: 1, ticket: 't' }),
      );
      expect(await scene.laneGate.decline({ ...attempt, admittedTo }, reason)).toBe(true);
      expect(scene.lane(kind).leases.size).toBe(left);
    },
  );
});

describe('what a worker left that died after its record', () => {
  it('is freed in the account, the key and the circuit, where there are any', async () => {
    const scene = new Scene();
    const attempt = attemptOf(1);
    for (const lane of [account, key, circuit]) {
      await scene.lanes.update(lane, (found) => withLease(found, formatEntry(attempt), { slots: 1 }));
    }
    const slots = () => [account, key, circuit].map((lane) => scene.lane(lane).leases.size);
    await scene.laneGate.leaveAgain({ ...attempt, key: undefined, host: undefined });
    expect(slots()).toEqual([0, 1, 1]);
    await scene.laneGate.leaveAgain({ ...attempt, key: key.name, host });
    expect(slots()).toEqual([0, 0, 0]);
  });
});
