import { beforeEach, describe, expect, it } from 'vitest';
import { chunksOf } from '../../../../lambdas/shared/lists.ts';
import { lastStep } from '../../../../lambdas/workflow/rules/placing.ts';
import { itAtEachDeath, type Fate } from '../../../support/faults.ts';
import { attemptsIn, openRunActs, type RunActs } from '../../../support/runActs.ts';
import { openRunFixture, resultOf, type RunFixture, type WrittenStep } from '../../../support/runFixture.ts';
import { endpoint } from '../../../support/startSettings.ts';
import { useFixture } from '../../../support/useFixture.ts';
import { type Fixture } from '../../../support/fixture.ts';

/** Submissions are recorded once, in one order, whichever process dies and however many write. */

let fixture: Fixture;
let runFixture: RunFixture;
let acts: RunActs;
useFixture(async (opened) => {
  fixture = opened;
  runFixture = await openRunFixture(fixture);
  acts = await openRunActs(fixture);
});
beforeEach(() => fixture.drain());

/** An ordinary run tries each death, because there are few. */
const each = { ordinary: 1, thorough: 1 };

const ended = expect.objectContaining({ status: 400 }) as Error;
const refused = expect.objectContaining({ status: 412 }) as Error;

const plansOf = (first: number, count: number): readonly WrittenStep[] =>
  Array.from({ length: count }, (_, index) => ({
    stepId: 0,
    targetStep: first + index,
    stepName: `step ${first + index}`,
    stepType: 'Run',
    concurrent: count,
  }));
const branchOf = (stepId: number, concurrent: number): WrittenStep =>
  resultOf(stepId, '"done"', { concurrent });

const stepsOf = async (runId: string): Promise<readonly string[]> =>
  (await acts.records(runId)).flatMap((record) =>
    record.kind === 'steps' ? record.entries.map(({ step }) => `${step?.kind} ${step?.stepId}`) : [],
  );

async function isAcceptedWhole(runId: string, fate: Fate, config: Record<string, string>): Promise<void> {
  await runFixture.start(runId);
  await fixture.drain();
  const [first, second] = await acts.twice(fate, () => runFixture.submit(runId, plansOf(1, 12), config));
  expect(await stepsOf(runId)).toEqual(plansOf(1, 12).map(({ targetStep }) => `plan ${targetStep}`));
  const ids = second.map(({ messageId }) => messageId);
  if (first !== undefined) expect(first.map(({ messageId }) => messageId)).toEqual(ids);
  expect(attemptsIn(await fixture.drain()).toSorted()).toEqual(ids.toSorted());
}

describe('a submission', () => {
  itAtEachDeath(
    'that dies at any of its AWS calls is accepted once when it is sent again',
    async (fate) => {
      const runId = `wfr_dies_${fate.name}`;
      await runFixture.start(runId);
      await fixture.drain();
      const [first, [second]] = await acts.twice(fate, () => runFixture.submit(runId, [resultOf(1)]));
      expect(await stepsOf(runId)).toEqual(['result 1']);
      if (first !== undefined) expect(second).toEqual({ messageId: first[0]?.messageId, isDuplicate: true });
      expect(attemptsIn(await fixture.drain())).toEqual([second?.messageId]);
    },
    { every: each },
  );

  itAtEachDeath(
    'of a group that dies at any of its AWS calls is accepted whole and once',
    (fate) => isAcceptedWhole(`wfr_group_${fate.name}`, fate, {}),
    { every: each },
  );

  itAtEachDeath(
    'of a group with several records that dies at any of its AWS calls is accepted whole and once',
    (fate) => isAcceptedWhole(`wfr_records_${fate.name}`, fate, { 'forward-x-large': 'x'.repeat(70_000) }),
    { every: each },
  );

  it('keeps the first of two results of one step', async () => {
    await runFixture.start('wfr_twice');
    const both = await Promise.all(
      ['1', '2'].map((out) => runFixture.submit('wfr_twice', [resultOf(1, out)])),
    );
    const answers = both.flat();
    expect(new Set(answers.map(({ messageId }) => messageId)).size).toBe(1);
    expect(answers.map(({ isDuplicate }) => isDuplicate).toSorted()).toEqual([false, true]);
    expect(await stepsOf('wfr_twice')).toEqual(['result 1']);
  });

  it('of 20 branches at once are all recorded', async () => {
    await runFixture.start('wfr_many');
    await runFixture.submit('wfr_many', plansOf(1, 20));
    await Promise.all(
      Array.from({ length: 20 }, (_, index) => runFixture.submit('wfr_many', [branchOf(index + 1, 20)])),
    );
    const results = (await stepsOf('wfr_many')).slice(20);
    expect(results.toSorted()).toEqual(
      Array.from({ length: 20 }, (_, index) => `result ${index + 1}`).toSorted(),
    );
    expect((await runFixture.snapshotOf('wfr_many')).steps).toEqual({ plan: '', result: '1-20' });
    // The group is over, so another step or group may follow.
    await runFixture.submit('wfr_many', [resultOf(21)]);
    expect(await stepsOf('wfr_many')).toHaveLength(41);
  });

  it('of a group that is repeated, even after its branches have ended, costs no more than the first time', async () => {
    await runFixture.start('wfr_again');
    fixture.reset();
    const first = await runFixture.submit('wfr_again', plansOf(1, 200));
    const calls = fixture.calls();
    await runFixture.submit('wfr_again', [branchOf(7, 200)]);
    fixture.reset();
    const second = await runFixture.submit('wfr_again', plansOf(1, 200));
    expect(fixture.calls()).toBeLessThanOrEqual(calls + 1);
    expect(second.map(({ messageId }) => messageId)).toEqual(first.map(({ messageId }) => messageId));
    expect(second.every(({ isDuplicate }) => isDuplicate)).toBe(true);
  });

  it('of a large group takes as many records as DynamoDB requires', async () => {
    const config = { 'forward-x-large': 'x'.repeat(2_000) };
    await expect(runFixture.submit('wfr_other', plansOf(1, 200), config)).rejects.toThrow(ended);
    await runFixture.start('wfr_larger');
    const submitted = await runFixture.submit('wfr_larger', plansOf(1, 200), config);
    const records = (await acts.records('wfr_larger')).filter(({ kind }) => kind === 'steps');
    expect(records.length).toBeGreaterThan(1);
    expect(await stepsOf('wfr_larger')).toEqual(
      plansOf(1, 200).map(({ targetStep }) => `plan ${targetStep}`),
    );
    expect(submitted.every(({ isDuplicate }) => !isDuplicate)).toBe(true);
    await runFixture.start('wfr_largest');
    const largest = { 'forward-x-large': 'x'.repeat(400_000) };
    await expect(runFixture.submit('wfr_largest', plansOf(1, 2), largest)).rejects.toThrow(refused);
    expect(await stepsOf('wfr_largest')).toEqual([]);
  });

  it.each([
    ['stepName', { stepName: 'a\ud83d' }],
    ['stepName', { stepName: 'x'.repeat(400_000) }],
    ['sleepUntil', { stepType: 'SleepUntil', sleepUntil: 1e308 }],
    ['sleepFor', { stepType: 'SleepFor', sleepFor: 1e308 }],
  ])('with a %s that no store accepts is refused, so that its run fails visibly', async (field, more) => {
    const runId = `wfr_${field}_${Math.random()}`;
    await runFixture.start(runId);
    const named = expect.objectContaining({
      status: 412,
      message: expect.stringContaining(field) as unknown,
    }) as Error;
    await expect(runFixture.submit(runId, [resultOf(1, '"done"', more)])).rejects.toThrow(named);
    expect(await stepsOf(runId)).toEqual([]);
    await runFixture.submit(runId, [
      resultOf(1, '"done"', { ...more, sleepUntil: 5e-324, stepName: '漢'.repeat(1_024), sleepFor: 5e-324 }),
    ]);
    expect(await stepsOf(runId)).toEqual(['result 1']);
  });

  it('of a group that is partly recorded is refused, and so is one in place of a step', async () => {
    await runFixture.start('wfr_part');
    await runFixture.submit('wfr_part', [resultOf(1)]);
    await expect(runFixture.submit('wfr_part', plansOf(1, 2))).rejects.toThrow(refused);
    await runFixture.submit('wfr_part', plansOf(2, 2));
    await expect(runFixture.submit('wfr_part', plansOf(2, 3))).rejects.toThrow(refused);
    expect(await stepsOf('wfr_part')).toEqual(['result 1', 'plan 2', 'plan 3']);
  });

  it('to an ended or unknown run is answered with that, valid or not', async () => {
    await runFixture.start('wfr_over');
    await acts.end('wfr_over');
    for (const runId of ['wfr_over', 'wfr_nobody']) {
      await expect(runFixture.submit(runId, [resultOf(1)])).rejects.toThrow(ended);
      await expect(runFixture.submit(runId, [resultOf(9)])).rejects.toThrow(ended);
    }
  });

  it('at the same time as an end is either recorded before the end or refused', async () => {
    for (let round = 0; round < 10; round += 1) {
      const runId = `wfr_end_${round}`;
      await runFixture.start(runId);
      const [submitted] = await Promise.allSettled([
        runFixture.submit(runId, [resultOf(1)]),
        acts.end(runId),
      ]);
      const kinds = (await acts.records(runId)).map(({ kind }) => kind);
      expect(kinds).toEqual(submitted.status === 'fulfilled' ? ['start', 'steps', 'end'] : ['start', 'end']);
      if (submitted.status === 'rejected') expect(submitted.reason).toMatchObject({ status: 400 });
      expect(await acts.listed(runId)).toEqual(['RUN_SUCCESS']);
    }
  });
});

describe('a long run', () => {
  it('of 1,000 steps makes as many AWS calls for the last one as for the first, and writes as much', async () => {
    const runId = 'wfr_long';
    await runFixture.start(runId);
    await runFixture.submit(runId, [resultOf(1)]);
    const callsOf = { step: new Set<number>(), call: new Set<number>() };
    const lengths: number[] = [];
    const goOn = async (from: number, to: number): Promise<void> => {
      for (let stepId = from; stepId <= to; stepId += 1) {
        const isCall = stepId % 2 === 0;
        fixture.reset();
        if (isCall) await acts.call(runId, stepId, endpoint);
        await runFixture.submit(runId, [resultOf(stepId)]);
        callsOf[isCall ? 'call' : 'step'].add(fixture.calls());
        lengths.push(JSON.stringify(await runFixture.snapshotOf(runId)).length);
      }
    };
    await goOn(2, 9);
    await skipTo(runId, 990);
    await goOn(991, 1_000);
    expect([callsOf.step.size, callsOf.call.size]).toEqual([1, 1]);
    // Only the numbers have more digits at the end.
    expect(Math.max(...lengths) - Math.min(...lengths)).toBeLessThan(30);
  });
});

async function skipTo(runId: string, last: number): Promise<void> {
  const [start] = await acts.records(runId);
  if (start?.kind !== 'start') throw new Error('The journal begins with no start.');
  const next = lastStep((await runFixture.snapshotOf(runId)).steps, 'result') + 1;
  const steps = Array.from({ length: last - next + 1 }, (_, index) => next + index);
  for (const some of chunksOf(steps, 100)) {
    const entries = some.map((stepId) => ({
      ...start.entry,
      step: { kind: 'result' as const, stepId, stepName: 'step', stepType: 'Run' as const, concurrent: 1 },
    }));
    await runFixture.append(runId, { kind: 'steps', at: 1, entries });
  }
}
