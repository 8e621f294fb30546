import { describe, expect, it } from 'vitest';
import { formatEntry } from '../../../lambdas/lane/rules/entry.ts';
import { closeCircuit } from '../../../lambdas/lane/rules/circuitLane.ts';
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
  AcquireFixture,
  queue,
  rated,
} from '../../support/acquireFixture.ts';

describe('an attempt whose account has no room', () => {
  async function waiting(more: Partial<DueAttempt> = {}) {
    const fixture = new AcquireFixture();
    await fixture.occupy(account, 2, 2);
    const accountLimits = { parallelism: 2, version: 1 };
    const attempt = attemptOf(1, { flowControl: rated, accountLimits, ...more });
    expect(await fixture.laneGate.acquire(attempt)).toBe('waits');
    return { fixture, attempt };
  }

  it('waits in the account’s line, even without a key', async () => {
    const { fixture, attempt } = await waiting({ flowControl: undefined });
    expect(fixture.lane(account).line.back).toEqual([formatEntry(attempt)]);
  });

  it('keeps its key’s slot for a day, and its start no longer counts', async () => {
    const { fixture, attempt } = await waiting();
    expect(fixture.leaseOf(key, attempt)?.until).toBe(fixture.time + 24 * 60 * minuteMs);
    expect(fixture.lane(key).starts).toEqual([]);
  });

  it('keeps its counted start if its job was redelivered, because the first job may have started', async () => {
    const { fixture } = await waiting({ isAgain: true });
    expect(fixture.lane(key).starts).toEqual([{ at: fixture.time, count: 1 }]);
  });

  it('starts when its account grants it a slot, with leases as long as its request may take', async () => {
    const { fixture, attempt } = await waiting();
    fixture.time += 10 * minuteMs;
    await fixture.leave(account);
    const admittedTo = fixture.grantOf(attempt);
    expect(admittedTo).toMatchObject({ lane: 'account', name: '' });
    const acquired = await fixture.pass({ ...attempt, admittedTo });
    expect(fixture.lane(key).starts).toEqual([{ at: fixture.time, count: 1 }]);
    expect(fixture.leaseOf(key, attempt)?.until).toBeGreaterThanOrEqual(endOfRequest(fixture));
    expect(fixture.leaseOf(account, attempt)).toBeDefined();
    await acquired.release();
    expect([key, account].map((lane) => fixture.lane(lane).leases.size)).toEqual([0, 0]);
  });

  it('passes when its account grants it a slot, if its key had granted it one before', async () => {
    const fixture = new AcquireFixture();
    await fixture.occupy(account, 1, 1);
    const attempt = await fixture.grantedByKey(attemptOf(1, { flowControl: rated }));
    expect(await fixture.laneGate.acquire(attempt)).toBe('waits');
    await fixture.leave(account);
    await fixture.pass({ ...attempt, admittedTo: fixture.grantOf(attempt) });
  });

  it('gives back the account’s slot and waits for its key if it has lost its key’s slot', async () => {
    const { fixture, attempt } = await waiting();
    fixture.time += 10 * minuteMs;
    await fixture.occupy(key, 1, 1);
    await fixture.lanes.update(key, (lane) => withLease(lane, formatEntry(attempt), undefined));
    await fixture.lanes.update(key, (lane) => ({ ...lane, isPinnedParallelism: true }));
    await fixture.leave(account);
    const admittedTo = fixture.grantOf(attempt);
    expect(await fixture.laneGate.acquire({ ...attempt, admittedTo })).toBe('waits');
    expect(fixture.lane(account).leases.size).toBe(0);
    expect(fixture.lane(key).line.back).toEqual([formatEntry(attempt)]);
  });
});

describe('an attempt whose host is down', () => {
  it('waits for its host first, without a slot of its key or its account', async () => {
    const fixture = new AcquireFixture();
    await fixture.openCircuit();
    fixture.time += 2_000;
    expect(await fixture.laneGate.acquire(attemptOf(1, { flowControl, circuit: guarded(fixture) }))).toBe(
      'held',
    );
    expect([key, account].map((lane) => fixture.lane(lane).version)).toEqual([0, 0]);
  });

  it.each([
    { isAgain: false, counted: 0 },
    { isAgain: true, counted: 1 },
  ])(
    'gives back its key’s slot and keeps $counted counted starts, if its job was redelivered: $isAgain',
    async ({ isAgain, counted }) => {
      const fixture = new AcquireFixture();
      const attempt = await fixture.grantedByKey(attemptOf(1, { flowControl: rated }));
      await fixture.openCircuit();
      const held = { ...attempt, isAgain, circuit: guarded(fixture) };
      expect(await fixture.laneGate.acquire(held)).toBe('held');
      expect([key, account].map((lane) => fixture.lane(lane).leases.size)).toEqual([0, 0]);
      expect(fixture.lane(key).starts.reduce((sum, { count }) => sum + count, 0)).toBe(counted);
    },
  );

  it('gives back its account’s slot, and its start under a key that has a rate only', async () => {
    const fixture = new AcquireFixture();
    await fixture.occupy(account, 1, 1);
    const attempt = attemptOf(1, { flowControl: { ...rated, parallelism: undefined } });
    expect(await fixture.laneGate.acquire(attempt)).toBe('waits');
    await fixture.leave(account);
    await fixture.openCircuit();
    const held = { ...attempt, admittedTo: fixture.grantOf(attempt), circuit: guarded(fixture) };
    expect(await fixture.laneGate.acquire(held)).toBe('held');
    expect(fixture.lane(account).leases.size).toBe(0);
    expect(fixture.lane(key).starts).toEqual([]);
  });

  it('gives back the circuit’s slot even if the circuit was closed after it was admitted', async () => {
    const fixture = new AcquireFixture();
    await fixture.openCircuit();
    const attempt = attemptOf(1, { circuit: guarded(fixture) });
    expect(await fixture.laneGate.acquire(attempt)).toBe('held');
    fixture.time += minuteMs;
    await fixture.lanes.update(circuit, (lane) => lane);
    const admittedTo = fixture.grantOf(attempt);
    await fixture.lanes.update(circuit, closeCircuit);
    const acquired = await fixture.pass({ ...attempt, admittedTo });
    await acquired.release();
    expect(fixture.lane(circuit).leases.size).toBe(0);
  });

  it('gives up the probe that it was admitted for if it has to wait for its key', async () => {
    const fixture = new AcquireFixture();
    await fixture.openCircuit();
    const attempt = attemptOf(1, {
      flowControl: { ...flowControl, parallelism: 1 },
      circuit: guarded(fixture),
    });
    expect(await fixture.laneGate.acquire(attempt)).toBe('held');
    fixture.time += minuteMs;
    await fixture.lanes.update(circuit, (lane) => lane);
    const admittedTo = fixture.grantOf(attempt);
    expect(admittedTo).toMatchObject({ lane: 'circuit', name: host });
    await fixture.occupy(key, 1, 1);
    expect(await fixture.laneGate.acquire({ ...attempt, admittedTo })).toBe('waits');
    expect(fixture.lane(circuit).leases.size).toBe(0);
    expect(fixture.lane(circuit).circuit?.failedProbes).toBe(0);
  });
});

describe('an attempt of a suspended account', () => {
  it('waits in the account’s paused line, and gives back its circuit’s slot', async () => {
    const fixture = new AcquireFixture();
    const attempt = attemptOf(1);
    await fixture.lanes.update(circuit, (lane) => withLease(lane, formatEntry(attempt), { slots: 1 }));
    const admittedTo = { lane: 'circuit', name: host, ticket: 't', sentAt: fixture.time } as const;
    expect(await fixture.laneGate.waitForAccount({ ...attempt, admittedTo })).toBe('waits');
    expect(fixture.lane(account)).toMatchObject({ isPaused: true, line: { back: [formatEntry(attempt)] } });
    expect(fixture.lane(circuit).leases.size).toBe(0);
  });

  it('waits in its queue first', async () => {
    const fixture = new AcquireFixture();
    await fixture.occupy(queue, 1, 1);
    expect(await fixture.laneGate.waitForAccount(attemptOf(1, { queueName: queue.name }))).toBe('waits');
    expect(fixture.lane(account).version).toBe(0);
  });
});

describe('a declined grant', () => {
  it.each([
    { kind: queue, reason: 'goesOn', left: 1 },
    { kind: queue, reason: 'over', left: 0 },
    { kind: key, reason: 'goesOn', left: 0 },
    { kind: account, reason: 'goesOn', left: 0 },
  ] as const)(
    'of a $kind.kind leaves $left slots if its message is $reason',
    async ({ kind, reason, left }) => {
      const fixture = new AcquireFixture();
      const attempt = attemptOf(1, { attempt: kind === queue ? 0 : 2 });
      const admittedTo = { lane: kind.kind, name: kind.name, ticket: 't', sentAt: fixture.time };
      await fixture.lanes.update(kind, (lane) =>
        withLease(lane, formatEntry(attempt), { slots: 1, ticket: 't' }),
      );
      expect(await fixture.laneGate.decline({ ...attempt, admittedTo }, reason)).toBe(true);
      expect(fixture.lane(kind).leases.size).toBe(left);
    },
  );
});

describe('the slot of a worker that died after it recorded the attempt', () => {
  it('is freed in the account, and in the key and the circuit if there are any', async () => {
    const fixture = new AcquireFixture();
    const attempt = attemptOf(1);
    for (const lane of [account, key, circuit]) {
      await fixture.lanes.update(lane, (found) => withLease(found, formatEntry(attempt), { slots: 1 }));
    }
    const slots = () => [account, key, circuit].map((lane) => fixture.lane(lane).leases.size);
    fixture.time += minuteMs;
    const read: string[] = [];
    fixture.onRead = ({ kind }) => read.push(kind);
    await fixture.laneGate.leaveAgain({ ...attempt, key: undefined, host: undefined });
    expect(read).toEqual(['account']);
    expect(slots()).toEqual([0, 1, 1]);
    await fixture.laneGate.leaveAgain({ ...attempt, key: key.name, host });
    expect(slots()).toEqual([0, 0, 0]);
  });
});
