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
  PassageScene,
  queue,
  rated,
  timeoutMs,
} from '../../support/passageScene.ts';

/** The lanes of an attempt, one after the other, in each of which it takes a slot. */

describe('an attempt that goes on', () => {
  it('has the slot of its queue for as long as its message lasts, and that of its key for as long as its request may take', async () => {
    const scene = new PassageScene();
    await scene.lanes.update(queue, (lane) => ({ ...lane, parallelism: 1 }));
    const attempt = attemptOf(1, { queueName: queue.name, flowControl });
    const passage = await scene.pass(attempt);
    expect(scene.leaseOf(queue, attempt)?.until).toBeUndefined();
    expect(scene.leaseOf(key, attempt)?.until).toBe(endOfRequest(scene));
    expect([...scene.lane(account).leases.keys()]).toEqual(['process#1']);
    await passage.release();
    expect([queue, key, account].map((lane) => scene.lane(lane).leases.size)).toEqual([1, 0, 0]);
  });

  it('reads no lane but those that it passes', async () => {
    const scene = new PassageScene();
    const read: string[] = [];
    scene.onRead = ({ kind }) => read.push(kind);
    const passage = await scene.pass(attemptOf(1, { circuit: guarded(scene) }));
    await passage.release();
    expect(read).toEqual(['account']);
  });

  it('says about its host what it has found, and nothing where it has found nothing', async () => {
    const scene = new PassageScene();
    const enter = () => scene.pass(attemptOf(1, { circuit: guarded(scene) }));
    await (await enter()).release();
    expect(scene.lane(circuit).version).toBe(0);
    const passage = await enter();
    passage.report({ says: 'down', status: 503, error: undefined, notBefore: undefined });
    await passage.release();
    expect(scene.lane(circuit).circuit).toMatchObject({ failures: 1, lastStatus: 503 });
  });

  it('gives back its slots once, though it is told twice', async () => {
    const scene = new PassageScene();
    const attempt = attemptOf(1, { flowControl });
    const passage = await scene.pass(attempt);
    await passage.release();
    const written = scene.written.length;
    await scene.lanes.update(key, (lane) => withLease(lane, formatEntry(attempt), { slots: 1 }));
    await passage.release();
    expect(scene.written.length).toBe(written + 1);
  });

  it('passes the queue whose slot its message has, though others fill it', async () => {
    const scene = new PassageScene();
    await scene.occupy(queue, 1, 1);
    const queueName = queue.name;
    expect(await scene.laneGate.acquire(attemptOf(1, { queueName }))).toBe('waits');
    const admittedTo = { lane: 'account', name: '', ticket: 't', sentAt: 0 } as const;
    await scene.pass(attemptOf(2, { queueName, attempt: 1 }));
    await scene.pass(attemptOf(3, { queueName, admittedTo, accountLimits: { version: 1 } }));
    expect(scene.lane(queue).line.back).toHaveLength(1);
  });

  it('is not held back by a queue that was deleted', async () => {
    const scene = new PassageScene();
    await scene.occupy(queue, 1, 1);
    await scene.lanes.update(queue, (lane) => ({ ...lane, isDeleted: true }));
    await scene.pass(attemptOf(1, { queueName: queue.name }));
  });

  it('stands for itself in its account where its work comes again, so that another is told', async () => {
    const scene = new PassageScene();
    const attempt = attemptOf(1, { accountLimits: { parallelism: 5, version: 1 }, isAgain: true });
    await scene.pass(attempt);
    expect(scene.leaseOf(account, attempt)?.until).toBe(endOfRequest(scene));
    expect(scene.lane(account)).toMatchObject({ parallelism: 5 });
  });

  it.each([queue, key, account])(
    'comes again for a minute while its admission to the $kind is not written, and then arrives anew',
    async ({ kind, name }) => {
      const scene = new PassageScene();
      const admittedTo = { lane: kind, name, ticket: 'never written', sentAt: scene.time } as const;
      const attempt = attemptOf(1, { queueName: queue.name, flowControl, admittedTo });
      await scene.lanes.update(queue, (lane) => ({ ...lane, parallelism: 1 }));
      scene.time += minuteMs;
      expect(await scene.laneGate.acquire(attempt)).toBe('early');
      expect(await scene.laneGate.decline({ ...attempt, admittedTo }, 'over')).toBe(false);
      scene.time += 1;
      expect(await scene.laneGate.decline({ ...attempt, admittedTo }, 'over')).toBe(true);
      await scene.pass(attempt);
    },
  );

  it('overtakes nobody who waits for the slot of one that has died', async () => {
    const scene = new PassageScene();
    const single = { ...flowControl, parallelism: 1 };
    await scene.pass(attemptOf(1, { flowControl: single, accountLimits: { version: 1 } }));
    expect(await scene.laneGate.acquire(attemptOf(2, { flowControl: single }))).toBe('waits');
    scene.time += timeoutMs + leaseMarginMs;
    expect(await scene.laneGate.acquire(attemptOf(3, { flowControl: single }))).toBe('waits');
    expect(scene.sent.map(({ admitted }) => admitted.messageId)).toEqual([attemptOf(2).messageId]);
  });

  it('leaves the slots of its key as they are where another stands for it in its account', async () => {
    const scene = new PassageScene();
    const attempt = attemptOf(1, { flowControl, isAgain: true });
    const lease = { slots: 1, until: scene.time + minuteMs, ticket: 'other' };
    await scene.lanes.update(account, (lane) => withLease(lane, formatEntry(attempt), lease));
    expect(await scene.laneGate.acquire(attempt)).toBe('stale');
    expect(scene.leaseOf(key, attempt)?.until).toBe(endOfRequest(scene));
  });
});

describe('an attempt whose account takes its time', () => {
  /** @returns the lanes after an attempt has entered, and its key first, so many milliseconds before the account let it in */
  async function after(ms: number, more: Partial<DueAttempt>) {
    const scene = new PassageScene();
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

  it('has its start counted once, also where its key has a rate only', async () => {
    const { starts, startedAt } = await after(101, { flowControl: { ...rated, parallelism: undefined } });
    expect(starts).toEqual([{ at: startedAt + 101, count: 1 }]);
  });

  it('has no key made where it has none', async () => {
    expect(await after(minuteMs, {})).toMatchObject({ writes: 0 });
  });
});

describe('an attempt that comes late for the start that was counted', () => {
  /** An attempt that was admitted to its key, and whose work comes when others have made the starts of this period. */
  async function late(rate: Partial<typeof rated>, usedAt: number) {
    const scene = new PassageScene();
    const attempt = await scene.admittedToKey(
      attemptOf(1, { flowControl: { ...rated, ...rate }, accountLimits: { version: 1 } }),
    );
    scene.time += 3_000;
    const at = scene.time + usedAt;
    await scene.lanes.update(key, (lane) => ({ ...lane, starts: [{ at, count: 1 }] }));
    return { scene, entered: await scene.laneGate.acquire(attempt) };
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
