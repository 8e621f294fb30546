import { beforeEach, describe, expect, it, vi } from 'vitest';
import { eachOf } from '../../../../lambdas/shared/lists.ts';
import { fateAt } from '../../../support/faults.ts';
import { setClockAhead } from '../../../support/clockAhead.ts';
import { sizeOf } from '../../../support/sample.ts';
import { attemptsIn, openWaitScene, type WaitScene } from '../../../support/waitScene.ts';
import { useWorld } from '../../../support/useWorld.ts';
import type { World } from '../../../support/world.ts';

/** Waits, notifications and time-outs that come at once. */

let world: World;
let scene: WaitScene;
useWorld(async (opened) => {
  world = opened;
  scene = await openWaitScene(world);
});
beforeEach(async () => {
  await world.drain();
});

const rounds = sizeOf({ ordinary: 10, thorough: 100 });
const numbers = (count: number): readonly number[] => Array.from({ length: count }, (_, index) => index);
const event = (number: number): Buffer => Buffer.from(`event ${number}`);

let names = 0;
const newEvent = (): string => {
  names += 1;
  return `event ${names}`;
};

async function seqOf(runId: string): Promise<number> {
  const [wait] = (await scene.snapshotOf(runId)).waits;
  if (wait === undefined) throw new Error('The run does not wait.');
  return wait.seq;
}

describe('two notifications of a run with one wait', () => {
  it('come both: one ends the wait, and the other is kept for the next', async () => {
    for (const _ of numbers(rounds)) {
      const eventId = newEvent();
      const runId = await scene.start();
      await scene.wait(runId, eventId);
      const answers = await Promise.all(
        [0, 1].map((number) => scene.notifyRun(world.account, { runId, eventId }, event(number))),
      );
      expect(answers.flat().filter(({ waiter }) => waiter !== undefined)).toHaveLength(1);
      expect((await scene.snapshotOf(runId)).events).toHaveLength(1);
      await scene.wait(runId, eventId, { stepId: 2 });
      const results = await scene.resultsOf(runId);
      expect(results.map((result) => result.event).toSorted()).toEqual(['event 0', 'event 1']);
    }
  });
});

describe('a notification of a run that comes with its wait', () => {
  it('ends it, whichever is first', async () => {
    for (const _ of numbers(rounds)) {
      const eventId = newEvent();
      const runId = await scene.start();
      await world.drain();
      await Promise.all([
        scene.wait(runId, eventId),
        scene.notifyRun(world.account, { runId, eventId }, event(0)),
      ]);
      const snapshot = await scene.snapshotOf(runId);
      expect([snapshot.waits, snapshot.events]).toEqual([[], []]);
      const [result, ...more] = await scene.resultsOf(runId);
      expect([result?.event, more]).toEqual(['event 0', []]);
      expect(attemptsIn(await world.drain())).toEqual([result?.entry.messageId]);
    }
  });

  it('is one of many, of which each ends one of as many waits', async () => {
    const eventId = newEvent();
    const runId = await scene.start();
    const count = 20;
    await scene.plan(runId, count);
    await Promise.all(
      numbers(count).flatMap((number) => [
        scene.wait(runId, eventId, { stepId: number + 1, concurrent: count }),
        scene.notifyRun(world.account, { runId, eventId }, event(number)),
      ]),
    );
    const snapshot = await scene.snapshotOf(runId);
    expect([snapshot.waits, snapshot.events]).toEqual([[], []]);
    const results = await scene.resultsOf(runId);
    expect(new Set(results.map((result) => result.event))).toEqual(
      new Set(numbers(count).map((number) => event(number).toString())),
    );
    expect(results).toHaveLength(count);
    expect(new Set(results.map(({ stepId }) => stepId)).size).toBe(count);
  });
});

describe('two notifications of all with one wait', () => {
  it('end it once, and one of them is told', async () => {
    for (const _ of numbers(rounds)) {
      const eventId = newEvent();
      const runId = await scene.start();
      await scene.wait(runId, eventId);
      await world.drain();
      const answers = await Promise.all(
        [0, 1].map((number) => scene.notify(world.account, eventId, event(number))),
      );
      const told = answers.flat();
      const [result, ...more] = await scene.resultsOf(runId);
      expect(more).toEqual([]);
      expect(told.map(({ messageId }) => messageId)).toEqual([result?.entry.messageId]);
      const won = answers.findIndex((answer) => answer.length > 0);
      expect(result?.event).toBe(event(won).toString());
      expect(attemptsIn(await world.drain())).toEqual([result?.entry.messageId]);
    }
  });

  it('that are the same are told the same', async () => {
    const waiting = async (eventId: string): Promise<string> => {
      const runId = await scene.start();
      await scene.wait(runId, eventId);
      world.reset();
      return runId;
    };
    const other = newEvent();
    await waiting(other);
    await scene.notify(world.account, other, event(0));
    const last = world.calls();
    const eventId = newEvent();
    const runId = await waiting(eventId);
    // Its row is removed last.
    await world.underFate(fateAt({ call: last, when: 'before' }), () =>
      scene.notify(world.account, eventId, event(0)),
    );
    const [result] = await scene.resultsOf(runId);
    expect(await scene.notify(world.account, eventId, event(1))).toEqual([]);
    expect(await scene.notify(world.account, eventId, event(0))).toMatchObject([
      { messageId: result?.entry.messageId, deduplicated: true, workflowRunId: runId },
    ]);
    expect(await scene.notify(world.account, eventId, event(0))).toEqual([]);
  });
});

describe('a notification at the deadline', () => {
  it('ends the wait, or the time-out does; an event that does not is kept', async () => {
    for (const _ of numbers(rounds)) {
      const eventId = newEvent();
      const runId = await scene.start();
      await scene.wait(runId, eventId, { timeout: '1s' });
      const seq = await seqOf(runId);
      await world.drain();
      setClockAhead(1_000);
      await Promise.all([
        scene.check(runId, seq),
        scene.notifyRun(world.account, { runId, eventId }, event(0)),
      ]);
      const [result, ...more] = await scene.resultsOf(runId);
      expect(more).toEqual([]);
      const { events } = await scene.snapshotOf(runId);
      expect(events).toHaveLength(result?.isTimeout === true ? 1 : 0);
      const sent = attemptsIn(await world.drain());
      expect(new Set(sent)).toEqual(new Set([result?.entry.messageId]));
      vi.restoreAllMocks();
    }
  });
});

describe('waits of one step that come at once', () => {
  it('begin once', async () => {
    const eventId = newEvent();
    const runId = await scene.start();
    const answers = await Promise.all(numbers(5).map(() => scene.wait(runId, eventId)));
    expect(new Set(answers.map(({ messageId }) => messageId)).size).toBe(1);
    expect(answers.filter(({ deduplicated }) => deduplicated === undefined)).toHaveLength(1);
    expect((await scene.snapshotOf(runId)).waits).toHaveLength(1);
  });
});

describe('hundreds who wait for one event', () => {
  it('are all woken, in the order in which they began to wait', async () => {
    const eventId = newEvent();
    const many = await scene.plan(await scene.start(), 100);
    const others = sizeOf({ ordinary: 200, thorough: 900 });
    const runs: string[] = [];
    await eachOf(numbers(others), 20, async () => {
      const runId = await scene.start();
      await scene.wait(runId, eventId);
      runs.push(runId);
    });
    await eachOf(numbers(100), 1, async (number) => {
      await scene.wait(many, eventId, { stepId: number + 1, concurrent: 100 });
    });
    expect((await scene.listWaiters(world.account, eventId)).length).toBe(100 + others);
    await world.drain();

    const order = await scene.rowsOf(eventId);
    const told = await scene.notify(world.account, eventId, event(0));
    expect(told.map(({ workflowRunId }) => workflowRunId)).toEqual(order);
    expect(order).toHaveLength(100 + others);
    expect(told.every(({ waiter, error }) => waiter !== undefined && error === '')).toBe(true);
    const ids = told.map(({ messageId }) => messageId);
    expect(new Set(ids).size).toBe(100 + others);
    expect(attemptsIn(await world.drain()).toSorted()).toEqual(ids.toSorted());
    const results = await scene.resultsOf(many);
    expect(results.map(({ stepId }) => stepId)).toEqual(numbers(100).map((number) => number + 1));
    expect(await scene.listWaiters(world.account, eventId)).toEqual([]);
    expect(await scene.rowsOf(eventId)).toEqual([]);
    expect(await scene.notify(world.account, eventId, event(0))).toEqual([]);
  });
});
