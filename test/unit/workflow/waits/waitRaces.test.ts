import { describe, expect, it, vi } from 'vitest';
import { fixture, waitFixture, useWaits } from '../../../support/useRuns.ts';
import { fateAt } from '../../../support/faults.ts';
import { setClockAhead } from '../../../support/clockAhead.ts';
import { sizeOf } from '../../../support/sample.ts';
import { attemptsIn } from '../../../support/waitFixture.ts';

useWaits();

const rounds = sizeOf({ ordinary: 2, thorough: 100 });
const numbers = (count: number): readonly number[] => Array.from({ length: count }, (_, index) => index);
const event = (number: number): Buffer => Buffer.from(`event ${number}`);

let names = 0;
const newEvent = (): string => {
  names += 1;
  return `event ${names}`;
};

async function seqOf(runId: string): Promise<number> {
  const [wait] = (await waitFixture.snapshotOf(runId)).waits;
  if (wait === undefined) throw new Error('The run does not wait.');
  return wait.seq;
}

describe('two notifications of a run with one wait', () => {
  it('are both kept: one ends the wait, and the other is for the next one', async () => {
    for (const _ of numbers(rounds)) {
      const eventId = newEvent();
      const runId = await waitFixture.start();
      await waitFixture.wait(runId, eventId);
      const answers = await Promise.all(
        [0, 1].map((number) => waitFixture.notifyRun(fixture.account, { runId, eventId }, event(number))),
      );
      expect(answers.flat().filter(({ waiter }) => waiter !== undefined)).toHaveLength(1);
      expect((await waitFixture.snapshotOf(runId)).events).toHaveLength(1);
      await waitFixture.wait(runId, eventId, { stepId: 2 });
      const results = await waitFixture.resultsOf(runId);
      expect(results.map((result) => result.event).toSorted()).toEqual(['event 0', 'event 1']);
    }
  });
});

describe('a notification of a run at the same time as its wait', () => {
  it('ends the wait, whichever is first', async () => {
    for (const _ of numbers(rounds)) {
      const eventId = newEvent();
      const runId = await waitFixture.start();
      await fixture.drain();
      await Promise.all([
        waitFixture.wait(runId, eventId),
        waitFixture.notifyRun(fixture.account, { runId, eventId }, event(0)),
      ]);
      const snapshot = await waitFixture.snapshotOf(runId);
      expect([snapshot.waits, snapshot.events]).toEqual([[], []]);
      const [result, ...more] = await waitFixture.resultsOf(runId);
      expect([result?.event, more]).toEqual(['event 0', []]);
      expect(attemptsIn(await fixture.drain())).toEqual([result?.entry.messageId]);
    }
  });

  it('ends one wait each, if there are as many of both', async () => {
    const eventId = newEvent();
    const runId = await waitFixture.start();
    const count = 6;
    await waitFixture.plan(runId, count);
    await Promise.all(
      numbers(count).flatMap((number) => [
        waitFixture.wait(runId, eventId, { stepId: number + 1, concurrent: count }),
        waitFixture.notifyRun(fixture.account, { runId, eventId }, event(number)),
      ]),
    );
    const snapshot = await waitFixture.snapshotOf(runId);
    expect([snapshot.waits, snapshot.events]).toEqual([[], []]);
    const results = await waitFixture.resultsOf(runId);
    expect(new Set(results.map((result) => result.event))).toEqual(
      new Set(numbers(count).map((number) => event(number).toString())),
    );
    expect(results).toHaveLength(count);
    expect(new Set(results.map(({ stepId }) => stepId)).size).toBe(count);
  });
});

describe('two notifications of an event with one waiting run', () => {
  it('end its wait once, and one of them reports it', async () => {
    for (const _ of numbers(rounds)) {
      const eventId = newEvent();
      const runId = await waitFixture.start();
      await waitFixture.wait(runId, eventId);
      await fixture.drain();
      const answers = await Promise.all(
        [0, 1].map((number) => waitFixture.notify(fixture.account, eventId, event(number))),
      );
      const told = answers.flat();
      const [result, ...more] = await waitFixture.resultsOf(runId);
      expect(more).toEqual([]);
      expect(told.map(({ messageId }) => messageId)).toEqual([result?.entry.messageId]);
      const won = answers.findIndex((answer) => answer.length > 0);
      expect(result?.event).toBe(event(won).toString());
      expect(attemptsIn(await fixture.drain())).toEqual([result?.entry.messageId]);
    }
  });

  it('that are the same get the same answer', async () => {
    const waiting = async (eventId: string): Promise<string> => {
      const runId = await waitFixture.start();
      await waitFixture.wait(runId, eventId);
      fixture.reset();
      return runId;
    };
    // Stopped, so that the second notification makes as many calls as the first one.
    vi.spyOn(Date, 'now').mockReturnValue(Date.now());
    const other = newEvent();
    await waiting(other);
    await waitFixture.notify(fixture.account, other, event(0));
    const last = fixture.calls();
    const eventId = newEvent();
    const runId = await waiting(eventId);
    // The wait’s row is removed last.
    await fixture.underFate(fateAt({ call: last, when: 'before' }), () =>
      waitFixture.notify(fixture.account, eventId, event(0)),
    );
    const [result] = await waitFixture.resultsOf(runId);
    expect(await waitFixture.notify(fixture.account, eventId, event(1))).toEqual([]);
    expect(await waitFixture.notify(fixture.account, eventId, event(0))).toMatchObject([
      { messageId: result?.entry.messageId, deduplicated: true, workflowRunId: runId },
    ]);
    expect(await waitFixture.notify(fixture.account, eventId, event(0))).toEqual([]);
  });
});

describe('a notification at the deadline', () => {
  it('ends the wait unless the timeout does, and is otherwise kept', async () => {
    for (const _ of numbers(rounds)) {
      const eventId = newEvent();
      const runId = await waitFixture.start();
      await waitFixture.wait(runId, eventId, { timeout: '1s' });
      const seq = await seqOf(runId);
      await fixture.drain();
      setClockAhead(1_000);
      await Promise.all([
        waitFixture.check(runId, seq),
        waitFixture.notifyRun(fixture.account, { runId, eventId }, event(0)),
      ]);
      const [result, ...more] = await waitFixture.resultsOf(runId);
      expect(more).toEqual([]);
      const { events } = await waitFixture.snapshotOf(runId);
      expect(events).toHaveLength(result?.isTimeout === true ? 1 : 0);
      const sent = attemptsIn(await fixture.drain());
      expect(new Set(sent)).toEqual(new Set([result?.entry.messageId]));
      vi.restoreAllMocks();
    }
  });
});

describe('simultaneous waits of one step', () => {
  it('begin once', async () => {
    const eventId = newEvent();
    const runId = await waitFixture.start();
    const answers = await Promise.all(numbers(5).map(() => waitFixture.wait(runId, eventId)));
    expect(new Set(answers.map(({ messageId }) => messageId)).size).toBe(1);
    expect(answers.filter(({ deduplicated }) => deduplicated === undefined)).toHaveLength(1);
    expect((await waitFixture.snapshotOf(runId)).waits).toHaveLength(1);
  });
});

describe('many runs that wait for one event', () => {
  it('are all woken, in the order of their waits', async () => {
    const eventId = newEvent();
    // One record wakes 25 waits of a run, and 200 waits are woken together.
    const inOne = sizeOf({ ordinary: 30, thorough: 100 });
    const others = sizeOf({ ordinary: 3, thorough: 200 });
    const many = await waitFixture.plan(await waitFixture.start(), inOne);
    for (let run = 0; run < others; run += 1) await waitFixture.wait(await waitFixture.start(), eventId);
    for (let stepId = 1; stepId <= inOne; stepId += 1) {
      await waitFixture.wait(many, eventId, { stepId, concurrent: inOne });
    }
    expect(await waitFixture.listWaiters(fixture.account, eventId)).toHaveLength(inOne + others);
    await fixture.drain();

    // Stopped, because a notification ends when its time is up.
    vi.spyOn(Date, 'now').mockReturnValue(Date.now());
    const order = await waitFixture.rowsOf(eventId);
    const told = await waitFixture.notify(fixture.account, eventId, event(0));
    expect(told.map(({ workflowRunId }) => workflowRunId)).toEqual(order);
    expect(told.every(({ waiter, error }) => waiter !== undefined && error === '')).toBe(true);
    const ids = told.map(({ messageId }) => messageId);
    expect(new Set(ids).size).toBe(inOne + others);
    expect(attemptsIn(await fixture.drain()).toSorted()).toEqual(ids.toSorted());
    const results = await waitFixture.resultsOf(many);
    expect(results.map(({ stepId }) => stepId)).toEqual(numbers(inOne).map((number) => number + 1));
    expect(await waitFixture.rowsOf(eventId)).toEqual([]);
    expect(await waitFixture.notify(fixture.account, eventId, event(0))).toEqual([]);
  });
});
