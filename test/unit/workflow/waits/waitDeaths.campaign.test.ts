import { describe, expect, it } from 'vitest';
import { fixture, waitFixture, useWaits } from '../../../support/useRuns.ts';
import { setClockAhead } from '../../../support/clockAhead.ts';
import { itAtEachDeath, type Fate } from '../../../support/faults.ts';
import { attemptsIn, type Result, type WaitFixture } from '../../../support/waitFixture.ts';

/**
 * Kills the process that waits, notifies or ends a wait at each of its AWS calls. An answered request is never lost. An
 * unanswered one is repeated, or finished by an earlier job.
 */

useWaits();

const hourMs = 3_600_000;
let events = 0;
const newEvent = (): string => {
  events += 1;
  return `event ${events}`;
};

const diesAtEachCall = (way: (fate: Fate) => Promise<void>): void => {
  itAtEachDeath('loses nothing when its process dies at any of its AWS calls', way);
};

async function waiting(
  eventId: string,
  options: Parameters<WaitFixture['wait']>[2] = {},
): Promise<{ readonly runId: string; readonly seq: number }> {
  const runId = await waitFixture.start();
  await waitFixture.wait(runId, eventId, options);
  const [wait] = (await waitFixture.snapshotOf(runId)).waits;
  if (wait === undefined) throw new Error('The run does not wait.');
  await fixture.drain();
  return { runId, seq: wait.seq };
}

/** Expects that a run’s wait has ended once, with one message however often it was sent. */
async function expectOneEnd(runId: string, sent: readonly string[]): Promise<Result> {
  const [result, ...more] = await waitFixture.resultsOf(runId);
  if (result === undefined) throw new Error('The wait has not ended.');
  expect(more).toEqual([]);
  expect(new Set(sent)).toEqual(new Set([result.entry.messageId]));
  expect((await waitFixture.snapshotOf(runId)).waits).toEqual([]);
  return result;
}

describe('a wait', () => {
  diesAtEachCall(async (fate) => {
    const eventId = newEvent();
    const runId = await waitFixture.start();
    await fixture.drain();
    await fixture.again(fate, () => waitFixture.wait(runId, eventId));
    expect((await waitFixture.snapshotOf(runId)).waits).toHaveLength(1);
    expect(await waitFixture.listWaiters(fixture.account, eventId)).toHaveLength(1);
    // The wait can end by its event and by its deadline.
    const [{ seq } = { seq: 0 }] = (await waitFixture.snapshotOf(runId)).waits;
    setClockAhead(hourMs);
    await waitFixture.check(runId, seq);
    expect((await expectOneEnd(runId, attemptsIn(await fixture.drain()))).isTimeout).toBe(true);
  });
});

describe('a wait whose event was sent before', () => {
  diesAtEachCall(async (fate) => {
    const eventId = newEvent();
    const runId = await waitFixture.start();
    await waitFixture.notifyRun(fixture.account, { runId, eventId }, Buffer.from('first'));
    await waitFixture.notifyRun(fixture.account, { runId, eventId }, Buffer.from('second'));
    await fixture.drain();
    await fixture.again(fate, () => waitFixture.wait(runId, eventId));
    const { event } = await expectOneEnd(runId, attemptsIn(await fixture.drain()));
    expect(event).toBe('first');
    expect((await waitFixture.snapshotOf(runId)).events).toHaveLength(1);
  });
});

describe('a notification of a waiting run', () => {
  const notified = async (fate: Fate, finish: (seq: number, runId: string) => Promise<void>) => {
    const eventId = newEvent();
    const { runId, seq } = await waiting(eventId);
    const answer = await fixture.underFate(fate, () =>
      waitFixture.notifyRun(fixture.account, { runId, eventId }, Buffer.from('x')),
    );
    const hasEnded = (await waitFixture.resultsOf(runId)).length > 0;
    if (hasEnded) await finish(seq, runId);
    else {
      expect(answer).toBeUndefined();
      await waitFixture.notifyRun(fixture.account, { runId, eventId }, Buffer.from('x'));
    }
    await expectOneEnd(runId, attemptsIn(await fixture.drain()));
    expect(await waitFixture.rowsOf(eventId)).toEqual([]);
  };

  diesAtEachCall((fate) => notified(fate, (seq, runId) => waitFixture.check(runId, seq)));

  it('sends the job that checks the wait before it ends the wait', async () => {
    const eventId = newEvent();
    const { runId } = await waiting(eventId);
    fixture.refuse('SendMessageBatchCommand');
    await expect(
      waitFixture.notifyRun(fixture.account, { runId, eventId }, Buffer.from('x')),
    ).rejects.toThrow();
    expect(await waitFixture.resultsOf(runId)).toEqual([]);
  });
});

describe('a notification of a run that does not wait', () => {
  diesAtEachCall(async (fate) => {
    const eventId = newEvent();
    const runId = await waitFixture.start();
    await fixture.again(fate, () =>
      waitFixture.notifyRun(fixture.account, { runId, eventId }, Buffer.from('x')),
    );
    // A client without an answer repeats it, so the event may count twice.
    const { events: stored } = await waitFixture.snapshotOf(runId);
    expect(stored.length).toBeGreaterThanOrEqual(1);
    expect(stored.length).toBeLessThanOrEqual(fate.comesAt === undefined ? 1 : 2);
  });
});

describe('a notification of all waiting runs', () => {
  diesAtEachCall(async (fate) => {
    const eventId = newEvent();
    const runs = [await waiting(eventId), await waiting(eventId)];
    const answers: number[] = [];
    await fixture.again(fate, async () => {
      answers.push((await waitFixture.notify(fixture.account, eventId, Buffer.from('x'))).length);
    });
    // The jobs of the first try’s runs follow, because the second try no longer finds these runs.
    for (const { runId, seq } of runs) await waitFixture.check(runId, seq);
    const sent = attemptsIn(await fixture.drain());
    const own: string[] = [];
    for (const { runId } of runs) {
      const [result, ...more] = await waitFixture.resultsOf(runId);
      expect([result?.event, more]).toEqual(['x', []]);
      own.push(result?.entry.messageId ?? '');
    }
    expect(new Set(sent)).toEqual(new Set(own));
    expect(await waitFixture.rowsOf(eventId)).toEqual([]);
    expect(answers).toHaveLength(1);
    if (fate.comesAt === undefined) expect(answers).toEqual([2]);
  });
});

describe('a time-out', () => {
  diesAtEachCall(async (fate) => {
    const eventId = newEvent();
    // If a new day begins during the short wait, one more call reads its count.
    const { runId, seq } = await waiting(eventId, { timeout: '10s' });
    setClockAhead(10_000);
    await fixture.again(fate, () => waitFixture.check(runId, seq));
    const { isTimeout } = await expectOneEnd(runId, attemptsIn(await fixture.drain()));
    expect(isTimeout).toBe(true);
    expect(await waitFixture.rowsOf(eventId)).toEqual([]);
  });
});
