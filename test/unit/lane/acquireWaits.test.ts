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
  AcquireFixture,
  queue,
  rated,
} from '../../support/acquireFixture.ts';

/** An attempt that waits in one of its lanes, with the slots that it keeps meanwhile, or leaves one. */

describe('an attempt whose account has no room', () => {
  /** An attempt that waits for its account, and has a slot of its key. */
  async function waiting(more: Partial<DueAttempt> = {}) {
    const fixture = new AcquireFixture();
    await fixture.occupy(account, 2, 2);
    const accountLimits = { parallelism: 2, version: 1 };
    const attempt = attemptOf(1, { flowControl: rated, accountLimits, ...more });
    expect(await fixture.laneGate.acquire(attempt)).toBe('waits');
    return { fixture, attempt };
  }

  it('waits, also where it has no key', async () => {
    const { fixture, attempt } = await waiting({ flowControl: undefined });
    expect(fixture.lane(account).line.back).toEqual([formatEntry(attempt)]);
  });

  it('keeps the slot of its key for a day, and its start is not counted meanwhile', async () => {
    const { fixture, attempt } = await waiting();
    expect(fixture.leaseOf(key, attempt)?.until).toBe(fixture.time + 24 * 60 * minuteMs);
    expect(fixture.lane(key).starts).toEqual([]);
  });

  it('has its start stay counted where its work came again: what came before may have made it', async () => {
    const { fixture } = await waiting({ isAgain: true });
    expect(fixture.lane(key).starts).toEqual([{ at: fixture.time, count: 1 }]);
  });

  it('makes its start when it is granted a slot, with leases that last as long as its request may take', async () => {
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

  it('goes on when it is granted a slot, though another grant has brought it to its account', async () => {
    const fixture = new AcquireFixture();
    await fixture.occupy(account, 1, 1);
    const attempt = await fixture.grantedByKey(attemptOf(1, { flowControl: rated }));
    expect(await fixture.laneGate.acquire(attempt)).toBe('waits');
    await fixture.leave(account);
    await fixture.pass({ ...attempt, admittedTo: fixture.grantOf(attempt) });
  });

  it('leaves the account to others where its key has given its slot away when it is granted a slot', async () => {
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
  it('waits for the host before it takes a slot of its key or its account', async () => {
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
    'and which was admitted to its key gives back the slots, and $counted of its starts stays where its work came again: $isAgain',
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

  it('and which was admitted to its account gives back that slot, and the start of a key that has a rate only', async () => {
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

  it('and which was let go leaves the circuit, though somebody has closed that meanwhile', async () => {
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

  it('and which was let go to probe leaves that to another while it waits for its key', async () => {
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

describe('an attempt of an account that is not served', () => {
  it('waits in the account’s line, which is paused, and leaves the circuit that let it go', async () => {
    const fixture = new AcquireFixture();
    const attempt = attemptOf(1);
    await fixture.lanes.update(circuit, (lane) => withLease(lane, formatEntry(attempt), { slots: 1 }));
    const admittedTo = { lane: 'circuit', name: host, ticket: 't', sentAt: fixture.time } as const;
    expect(await fixture.laneGate.waitForAccount({ ...attempt, admittedTo })).toBe('waits');
    expect(fixture.lane(account)).toMatchObject({ isPaused: true, line: { back: [formatEntry(attempt)] } });
    expect(fixture.lane(circuit).leases.size).toBe(0);
  });

  it('waits there, too, where no lane has admitted it', async () => {
    const fixture = new AcquireFixture();
    expect(await fixture.laneGate.waitForAccount(attemptOf(1))).toBe('waits');
  });

  it('waits in its queue first', async () => {
    const fixture = new AcquireFixture();
    await fixture.occupy(queue, 1, 1);
    expect(await fixture.laneGate.waitForAccount(attemptOf(1, { queueName: queue.name }))).toBe('waits');
    expect(fixture.lane(account).version).toBe(0);
  });
});

describe('a grant that nobody needs', () => {
  it.each([
    { kind: queue, reason: 'goesOn', left: 1 },
    { kind: queue, reason: 'over', left: 0 },
    { kind: key, reason: 'goesOn', left: 0 },
    { kind: account, reason: 'goesOn', left: 0 },
  ] as const)(
    'to a $kind.kind leaves $left slots where its message is $reason',
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

describe('a grant of a cancelled message', () => {
  it('to a key gives back the start that was counted', async () => {
    const fixture = new AcquireFixture();
    const attempt = await fixture.grantedByKey(attemptOf(1, { flowControl: rated }));
    expect(fixture.lane(key).starts).toHaveLength(1);
    expect(await fixture.laneGate.decline(attempt, 'cancelled')).toBe(true);
    expect(fixture.lane(key)).toMatchObject({ starts: [], leases: new Map() });
  });
});

describe('what a worker left that died after its record', () => {
  it('is freed in the account, the key and the circuit, where there are any', async () => {
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
