import { describe, expect, it } from 'vitest';
import { formatEntry, leaseMarginMs } from '../../../lambdas/lane/rules/entry.ts';
import { withLease } from '../../../lambdas/lane/lane.ts';
import type { DueAttempt } from '../../../lambdas/lane/slots/dueAttempt.ts';
import {
  account,
  attemptOf,
  circuit,
  endOfRequest,
  flowControl,
  guarded,
  key,
  minuteMs,
  AcquireFixture,
  queue,
  rated,
  timeoutMs,
} from '../../support/acquireFixture.ts';

describe('an attempt that passes its lanes', () => {
  it('has its queue’s slot until its message is over, and its key’s slot as long as its request may take', async () => {
    const fixture = new AcquireFixture();
    await fixture.lanes.update(queue, (lane) => ({ ...lane, parallelism: 1 }));
    const attempt = attemptOf(1, { queueName: queue.name, flowControl });
    const acquired = await fixture.pass(attempt);
    expect(fixture.leaseOf(queue, attempt)?.until).toBeUndefined();
    expect(fixture.leaseOf(key, attempt)?.until).toBe(endOfRequest(fixture));
    expect([...fixture.lane(account).leases.keys()]).toEqual(['process#1']);
    await acquired.release();
    expect([queue, key, account].map((lane) => fixture.lane(lane).leases.size)).toEqual([1, 0, 0]);
  });

  it('reads no other lanes, and reports its host’s answer to the circuit, if there is one', async () => {
    const fixture = new AcquireFixture();
    const read: string[] = [];
    fixture.onRead = ({ kind }) => read.push(kind);
    const enter = () => fixture.pass(attemptOf(1, { circuit: guarded(fixture) }));
    await (await enter()).release();
    expect(read).toEqual(['account']);
    expect(fixture.lane(circuit).version).toBe(0);
    const acquired = await enter();
    acquired.report({ says: 'down', status: 503, error: undefined, notBefore: undefined });
    await acquired.release();
    expect(fixture.lane(circuit).circuit).toMatchObject({ failures: 1, lastStatus: 503 });
  });

  it('gives back its slots once if it is released twice', async () => {
    const fixture = new AcquireFixture();
    const attempt = attemptOf(1, { flowControl });
    const acquired = await fixture.pass(attempt);
    await acquired.release();
    const written = fixture.written.length;
    await fixture.lanes.update(key, (lane) => withLease(lane, formatEntry(attempt), { slots: 1 }));
    await acquired.release();
    expect(fixture.written.length).toBe(written + 1);
  });

  it('passes a full queue if its message already has a slot there', async () => {
    const fixture = new AcquireFixture();
    await fixture.occupy(queue, 1, 1);
    const queueName = queue.name;
    expect(await fixture.laneGate.acquire(attemptOf(1, { queueName }))).toBe('waits');
    const admittedTo = { lane: 'account', name: '', ticket: 't', sentAt: 0 } as const;
    await fixture.pass(attemptOf(2, { queueName, attempt: 1 }));
    await fixture.pass(attemptOf(3, { queueName, admittedTo, accountLimits: { version: 1 } }));
    expect(fixture.lane(queue).line.back).toHaveLength(1);
  });

  it('is not held back by a queue that was deleted', async () => {
    const fixture = new AcquireFixture();
    await fixture.occupy(queue, 1, 1);
    await fixture.lanes.update(queue, (lane) => ({ ...lane, isDeleted: true }));
    await fixture.pass(attemptOf(1, { queueName: queue.name }));
  });

  it('is cancelled if its queue was deleted during its delay, even if the queue was created again', async () => {
    for (const isDeleted of [true, false]) {
      const fixture = new AcquireFixture();
      const deletedAt = fixture.time;
      await fixture.lanes.update(queue, (lane) => ({ ...lane, isDeleted, deletedAt }));
      fixture.time += minuteMs;
      const delayed = { queueName: queue.name, createdAt: deletedAt - minuteMs, notBefore: fixture.time };
      expect(await fixture.laneGate.acquire(attemptOf(1, delayed))).toBe('deleted');
      expect(await fixture.laneGate.acquire(attemptOf(2, { ...delayed, isAgain: true }))).toBe('deleted');
      expect(fixture.lane(queue).leases.size).toBe(0);
      // Retries and attempts that had their slot before continue.
      await fixture.pass(attemptOf(3, { ...delayed, attempt: 1, accountLimits: { version: 1 } }));
      await fixture.pass(
        attemptOf(4, { ...delayed, createdAt: deletedAt + 1, accountLimits: { version: 1 } }),
      );
    }
  });

  it('has a lease with its own name in the account if its job is redelivered, so that a second job sees it', async () => {
    const fixture = new AcquireFixture();
    const attempt = attemptOf(1, { accountLimits: { parallelism: 5, version: 1 }, isAgain: true });
    await fixture.pass(attempt);
    expect(fixture.leaseOf(account, attempt)?.until).toBe(endOfRequest(fixture));
    expect(fixture.lane(account)).toMatchObject({ parallelism: 5 });
  });

  it.each([queue, key, account])(
    'is retried for a minute while its grant of the $kind is not written, and then arrives anew',
    async ({ kind, name }) => {
      const fixture = new AcquireFixture();
      const admittedTo = { lane: kind, name, ticket: 'never written', sentAt: fixture.time } as const;
      const attempt = attemptOf(1, { queueName: queue.name, flowControl, admittedTo });
      await fixture.lanes.update(queue, (lane) => ({ ...lane, parallelism: 1 }));
      fixture.time += minuteMs - 1;
      expect(await fixture.laneGate.acquire(attempt)).toBe('early');
      expect(await fixture.laneGate.decline({ ...attempt, admittedTo }, 'over')).toBe(false);
      fixture.time += 1;
      expect(await fixture.laneGate.decline({ ...attempt, admittedTo }, 'over')).toBe(true);
      await fixture.pass(attempt);
    },
  );

  it.each(['key', 'account'] as const)(
    'has slots for as long as its request may take, even if the first change of its %s takes long',
    async (slow) => {
      const fixture = new AcquireFixture();
      fixture.onRead = ({ kind }) => {
        // More than the margin of a lease.
        if (kind === slow && fixture.lane(kind === 'key' ? key : account).version === 0)
          fixture.time += 12_000;
      };
      const attempt = attemptOf(1, { flowControl: { ...flowControl, parallelism: 1 }, isAgain: true });
      await fixture.pass(attempt);
      for (const lane of [key, account]) {
        expect(fixture.leaseOf(lane, attempt)?.until, lane.kind).toBeGreaterThan(fixture.time + timeoutMs);
      }
    },
  );

  it('does not overtake an attempt that waits for the slot of a dead worker', async () => {
    const fixture = new AcquireFixture();
    const single = { ...flowControl, parallelism: 1 };
    await fixture.pass(attemptOf(1, { flowControl: single, accountLimits: { version: 1 } }));
    expect(await fixture.laneGate.acquire(attemptOf(2, { flowControl: single }))).toBe('waits');
    fixture.time += timeoutMs + leaseMarginMs;
    expect(await fixture.laneGate.acquire(attemptOf(3, { flowControl: single }))).toBe('waits');
    expect(fixture.sent.map(({ admitted }) => admitted.messageId)).toEqual([attemptOf(2).messageId]);
  });

  it('leaves its key’s slot unchanged if another job of the same attempt has its slot in the account', async () => {
    const fixture = new AcquireFixture();
    const attempt = attemptOf(1, { flowControl, isAgain: true });
    const lease = { slots: 1, until: fixture.time + minuteMs, ticket: 'other' };
    await fixture.lanes.update(account, (lane) => withLease(lane, formatEntry(attempt), lease));
    expect(await fixture.laneGate.acquire(attempt)).toBe('stale');
    expect(fixture.leaseOf(key, attempt)?.until).toBe(endOfRequest(fixture));
  });
});

describe('an attempt that waits for its account’s lane', () => {
  /**
   * Lets an attempt pass. Its account’s lane takes `ms` milliseconds to read, after its key has admitted it.
   *
   * @returns the starts of its key, and the number of writes of the key
   */
  async function after(ms: number, more: Partial<DueAttempt>) {
    const fixture = new AcquireFixture();
    const startedAt = fixture.time;
    fixture.onRead = ({ kind }) => {
      if (kind === 'account') fixture.time += ms;
    };
    const attempt = attemptOf(1, { accountLimits: { parallelism: 5, version: 1 }, ...more });
    await fixture.pass(attempt);
    const { starts } = fixture.lane(key);
    return { startedAt, starts, writes: fixture.written.filter((kind) => kind === 'key').length };
  }

  it.each([
    { ms: 100, isCountedAgain: false },
    { ms: 101, isCountedAgain: true },
  ])(
    'has a start that was counted $ms ms ago counted again: $isCountedAgain',
    async ({ ms, isCountedAgain }) => {
      const { starts, startedAt } = await after(ms, { flowControl: rated });
      expect(starts).toEqual([{ at: isCountedAgain ? startedAt + ms : startedAt, count: 1 }]);
    },
  );

  it('has a second start counted if another job may have made the first', async () => {
    const { starts, startedAt } = await after(101, { flowControl: { ...rated, rate: 2 }, isAgain: true });
    expect(starts.map(({ at }) => at)).toEqual([startedAt, startedAt + 101]);
  });

  it.each([
    { ms: leaseMarginMs / 2, writes: 1 },
    { ms: leaseMarginMs / 2 + 1, writes: 2 },
  ])('writes its key $writes times if it entered the key $ms ms ago', async ({ ms, writes }) => {
    expect(await after(ms, { flowControl })).toMatchObject({ writes });
  });

  it('has its start counted once if its key has a rate only', async () => {
    const { starts, startedAt } = await after(101, { flowControl: { ...rated, parallelism: undefined } });
    expect(starts).toEqual([{ at: startedAt + 101, count: 1 }]);
  });
});

describe('an attempt that arrives too late for its counted start', () => {
  /** Lets a granted attempt arrive after others have used the starts of this period. */
  async function late(rate: Partial<typeof rated>, usedAt: number) {
    const fixture = new AcquireFixture();
    const attempt = await fixture.grantedByKey(
      attemptOf(1, { flowControl: { ...rated, ...rate }, accountLimits: { version: 1 } }),
    );
    fixture.time += 3_000;
    const at = fixture.time + usedAt;
    await fixture.lanes.update(key, (lane) => ({ ...lane, starts: [{ at, count: 1 }] }));
    return { fixture, entered: await fixture.laneGate.acquire(attempt) };
  }

  it('waits for the next free start', async () => {
    const { fixture, entered } = await late({}, -500);
    expect(entered).toHaveProperty('release');
    expect(fixture.slept).toEqual([1_500]);
  });

  it('waits in the line if the next start is more than five seconds away', async () => {
    const { fixture, entered } = await late({ periodMs: 60_000 }, -500);
    expect(entered).toBe('waits');
    expect(fixture.slept).toEqual([]);
  });

  it('does not wait for a start that is free', async () => {
    const { fixture } = await late({}, -2_000);
    expect(fixture.slept).toEqual([]);
  });
});
