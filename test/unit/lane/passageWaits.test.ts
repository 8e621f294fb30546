import { describe, expect, it } from 'vitest';
import { formatEntry } from '../../../lambdas/lane/rules/entry.ts';
import { closeCircuit } from '../../../lambdas/lane/rules/circuits.ts';
import { withLease } from '../../../lambdas/lane/lane.ts';
import type { DueAttempt } from '../../../lambdas/lane/slots/dueAttempt.ts';
import {
  account,
  attemptOf,
  circuit,
  endOfRequest,
  flowControl,
  guarded,
  host,
  key,
  minuteMs,
  PassageScene,
  queue,
  rated,
} from '../../support/passageScene.ts';

/** An attempt that waits in one of its lanes, with the slots that it keeps meanwhile, or leaves one. */

describe('an attempt whose account has no room', () => {
  /** An attempt that waits for its account, and has a slot of its key. */
  async function waiting(more: Partial<DueAttempt> = {}) {
    const scene = new PassageScene();
    await scene.occupy(account, 2, 2);
    const accountLimits = { parallelism: 2, version: 1 };
    const attempt = attemptOf(1, { flowControl: rated, accountLimits, ...more });
    expect(await scene.laneGate.acquire(attempt)).toBe('waits');
    return { scene, attempt };
  }

  it('waits, also where it has no key', async () => {
    const { scene, attempt } = await waiting({ flowControl: undefined });
    expect(scene.lane(account).line.back).toEqual([formatEntry(attempt)]);
  });

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
    expect(scene.leaseOf(key, attempt)?.until).toBeGreaterThanOrEqual(endOfRequest(scene));
    expect(scene.leaseOf(account, attempt)).toBeDefined();
    await passage.release();
    expect([key, account].map((lane) => scene.lane(lane).leases.size)).toEqual([0, 0]);
  });

  it('goes on when it is admitted, though another admission has brought it to its account', async () => {
    const scene = new PassageScene();
    await scene.occupy(account, 1, 1);
    const attempt = await scene.admittedToKey(attemptOf(1, { flowControl: rated }));
    expect(await scene.laneGate.acquire(attempt)).toBe('waits');
    await scene.leave(account);
    await scene.pass({ ...attempt, admittedTo: scene.admissionOf(attempt) });
  });

  it('leaves the account to others where its key has given its slot away when it is admitted', async () => {
    const { scene, attempt } = await waiting();
    scene.time += 10 * minuteMs;
    await scene.occupy(key, 1, 1);
    await scene.lanes.update(key, (lane) => withLease(lane, formatEntry(attempt), undefined));
    await scene.lanes.update(key, (lane) => ({ ...lane, isPinnedParallelism: true }));
    await scene.leave(account);
    const admittedTo = scene.admissionOf(attempt);
    expect(await scene.laneGate.acquire({ ...attempt, admittedTo })).toBe('waits');
    expect(scene.lane(account).leases.size).toBe(0);
    expect(scene.lane(key).line.back).toEqual([formatEntry(attempt)]);
  });
});

describe('an attempt whose host is down', () => {
  it('waits for the host before it takes a slot of its key or its account', async () => {
    const scene = new PassageScene();
    await scene.openCircuit();
    scene.time += 2_000;
    expect(await scene.laneGate.acquire(attemptOf(1, { flowControl, circuit: guarded(scene) }))).toBe('held');
    expect([key, account].map((lane) => scene.lane(lane).version)).toEqual([0, 0]);
  });

  it.each([
    { isAgain: false, counted: 0 },
    { isAgain: true, counted: 1 },
  ])(
    'and which was admitted to its key gives back the slots, and $counted of its starts stays where its work came again: $isAgain',
    async ({ isAgain, counted }) => {
      const scene = new PassageScene();
      const attempt = await scene.admittedToKey(attemptOf(1, { flowControl: rated }));
      await scene.openCircuit();
      const held = { ...attempt, isAgain, circuit: guarded(scene) };
      expect(await scene.laneGate.acquire(held)).toBe('held');
      expect([key, account].map((lane) => scene.lane(lane).leases.size)).toEqual([0, 0]);
      expect(scene.lane(key).starts.reduce((sum, { count }) => sum + count, 0)).toBe(counted);
    },
  );

  it('and which was admitted to its account gives back that slot, and the start of a key that has a rate only', async () => {
    const scene = new PassageScene();
    await scene.occupy(account, 1, 1);
    const attempt = attemptOf(1, { flowControl: { ...rated, parallelism: undefined } });
    expect(await scene.laneGate.acquire(attempt)).toBe('waits');
    await scene.leave(account);
    await scene.openCircuit();
    const held = { ...attempt, admittedTo: scene.admissionOf(attempt), circuit: guarded(scene) };
    expect(await scene.laneGate.acquire(held)).toBe('held');
    expect(scene.lane(account).leases.size).toBe(0);
    expect(scene.lane(key).starts).toEqual([]);
  });

  it('and which was let go leaves the circuit, though somebody has closed that meanwhile', async () => {
    const scene = new PassageScene();
    await scene.openCircuit();
    const attempt = attemptOf(1, { circuit: guarded(scene) });
    expect(await scene.laneGate.acquire(attempt)).toBe('held');
    scene.time += minuteMs;
    await scene.lanes.update(circuit, (lane) => lane);
    const admittedTo = scene.admissionOf(attempt);
    await scene.lanes.update(circuit, closeCircuit);
    const passage = await scene.pass({ ...attempt, admittedTo });
    await passage.release();
    expect(scene.lane(circuit).leases.size).toBe(0);
  });

  it('and which was let go to probe leaves that to another while it waits for its key', async () => {
    const scene = new PassageScene();
    await scene.openCircuit();
    const attempt = attemptOf(1, {
      flowControl: { ...flowControl, parallelism: 1 },
      circuit: guarded(scene),
    });
    expect(await scene.laneGate.acquire(attempt)).toBe('held');
    scene.time += minuteMs;
    await scene.lanes.update(circuit, (lane) => lane);
    const admittedTo = scene.admissionOf(attempt);
    expect(admittedTo).toMatchObject({ lane: 'circuit', name: host });
    await scene.occupy(key, 1, 1);
    expect(await scene.laneGate.acquire({ ...attempt, admittedTo })).toBe('waits');
    expect(scene.lane(circuit).leases.size).toBe(0);
    expect(scene.lane(circuit).circuit?.failedProbes).toBe(0);
  });
});

describe('an attempt of an account that is not served', () => {
  it('waits in the account’s line, which is paused, and leaves the circuit that let it go', async () => {
    const scene = new PassageScene();
    const attempt = attemptOf(1);
    await scene.lanes.update(circuit, (lane) => withLease(lane, formatEntry(attempt), { slots: 1 }));
    const admittedTo = { lane: 'circuit', name: host, ticket: 't', sentAt: scene.time } as const;
    expect(await scene.laneGate.waitForAccount({ ...attempt, admittedTo })).toBe('waits');
    expect(scene.lane(account)).toMatchObject({ isPaused: true, line: { back: [formatEntry(attempt)] } });
    expect(scene.lane(circuit).leases.size).toBe(0);
  });

  it('waits there, too, where no lane has admitted it', async () => {
    const scene = new PassageScene();
    expect(await scene.laneGate.waitForAccount(attemptOf(1))).toBe('waits');
  });

  it('waits in its queue first', async () => {
    const scene = new PassageScene();
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
      const scene = new PassageScene();
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

describe('an admission of a cancelled message', () => {
  it('to a key gives back the start that was counted', async () => {
    const scene = new PassageScene();
    const attempt = await scene.admittedToKey(attemptOf(1, { flowControl: rated }));
    expect(scene.lane(key).starts).toHaveLength(1);
    expect(await scene.laneGate.decline(attempt, 'cancelled')).toBe(true);
    expect(scene.lane(key)).toMatchObject({ starts: [], leases: new Map() });
  });
});

describe('what a worker left that died after its record', () => {
  it('is freed in the account, the key and the circuit, where there are any', async () => {
    const scene = new PassageScene();
    const attempt = attemptOf(1);
    for (const lane of [account, key, circuit]) {
      await scene.lanes.update(lane, (found) => withLease(found, formatEntry(attempt), { slots: 1 }));
    }
    const slots = () => [account, key, circuit].map((lane) => scene.lane(lane).leases.size);
    scene.time += minuteMs;
    const read: string[] = [];
    scene.onRead = ({ kind }) => read.push(kind);
    await scene.laneGate.leaveAgain({ ...attempt, key: undefined, host: undefined });
    expect(read).toEqual(['account']);
    expect(slots()).toEqual([0, 1, 1]);
    await scene.laneGate.leaveAgain({ ...attempt, key: key.name, host });
    expect(slots()).toEqual([0, 0, 0]);
  });
});
