import { describe, expect, it } from 'vitest';
import { acts, fixture, runFixture, useRuns } from '../../../support/useRuns.ts';
import { itAtEachDeath } from '../../../support/faults.ts';
import { attemptsIn } from '../../../support/runActs.ts';
import { resultOf, type WrittenStep } from '../../../support/runFixture.ts';

/** Submissions are recorded once, in one order, whichever process dies and however many write. */

useRuns();

/** The client takes an answer with this beginning to mean that its run has ended. */
const ended = expect.objectContaining({
  status: 400,
  message: expect.stringMatching(/^can not append to a cancelled workflow: /) as string,
}) as Error;
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

describe('a submission', () => {
  itAtEachDeath('that dies at any of its AWS calls is accepted once when it is sent again', async (fate) => {
    const runId = `wfr_dies_${fate.name}`;
    await runFixture.start(runId);
    await fixture.drain();
    const [first, [second]] = await acts.twice(fate, () => runFixture.submit(runId, [resultOf(1)]));
    expect(await stepsOf(runId)).toEqual(['result 1']);
    if (first !== undefined) expect(second).toEqual({ messageId: first[0]?.messageId, isDuplicate: true });
    expect(attemptsIn(await fixture.drain())).toEqual([second?.messageId]);
  });

  itAtEachDeath(
    'of a group that takes several records and several sends is accepted whole wherever it dies',
    async (fate) => {
      const runId = `wfr_group_${fate.name}`;
      await runFixture.start(runId);
      await fixture.drain();
      const plans = plansOf(1, 104);
      const config = { 'forward-x-large': 'x'.repeat(800) };
      const [first, second] = await acts.twice(fate, () => runFixture.submit(runId, plans, config));
      expect(await stepsOf(runId)).toEqual(plans.map(({ targetStep }) => `plan ${targetStep}`));
      expect((await acts.records(runId)).length).toBeGreaterThan(2);
      const ids = second.map(({ messageId }) => messageId);
      if (first !== undefined) expect(first.map(({ messageId }) => messageId)).toEqual(ids);
      expect(attemptsIn(await fixture.drain()).toSorted()).toEqual(ids.toSorted());
      const { id: accountId } = fixture.account;
      const stored = await Promise.all(ids.map((messageId) => fixture.loadMessage({ accountId, messageId })));
      expect(stored).not.toContain(undefined);
    },
    { every: { ordinary: 15, thorough: 1 } },
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

  it('of nine branches at once are all recorded', async () => {
    await runFixture.start('wfr_many');
    const plans = plansOf(1, 9);
    await runFixture.submit('wfr_many', plans);
    await Promise.all(
      plans.map(({ targetStep = 0 }) => runFixture.submit('wfr_many', [branchOf(targetStep, 9)])),
    );
    const results = (await stepsOf('wfr_many')).slice(9);
    expect(results.toSorted()).toEqual(plans.map(({ targetStep }) => `result ${targetStep}`));
    expect((await runFixture.snapshotOf('wfr_many')).steps).toEqual({ plan: '', result: '1-9' });
    // The group is over, so another step or group may follow.
    await runFixture.submit('wfr_many', [resultOf(10)]);
    expect(await stepsOf('wfr_many')).toHaveLength(19);
  });

  it('of a group that is repeated, even after its branches have ended, costs no more than the first time', async () => {
    await runFixture.start('wfr_again');
    fixture.reset();
    const first = await runFixture.submit('wfr_again', plansOf(1, 30));
    const calls = fixture.calls();
    await runFixture.submit('wfr_again', [branchOf(7, 30)]);
    fixture.reset();
    const second = await runFixture.submit('wfr_again', plansOf(1, 30));
    expect(fixture.calls()).toBeLessThanOrEqual(calls + 1);
    expect(second.map(({ messageId }) => messageId)).toEqual(first.map(({ messageId }) => messageId));
    expect(second.every(({ isDuplicate }) => isDuplicate)).toBe(true);
  });

  it('that no store accepts, or of a group that is partly recorded, is refused and changes nothing', async () => {
    await runFixture.start('wfr_part');
    const largest = { 'forward-x-large': 'x'.repeat(400_000) };
    await expect(runFixture.submit('wfr_part', plansOf(1, 2), largest)).rejects.toThrow(refused);
    await runFixture.submit('wfr_part', [resultOf(1)]);
    await expect(runFixture.submit('wfr_part', plansOf(1, 2))).rejects.toThrow(refused);
    await runFixture.submit('wfr_part', plansOf(2, 2));
    await expect(runFixture.submit('wfr_part', plansOf(2, 3))).rejects.toThrow(refused);
    expect(await stepsOf('wfr_part')).toEqual(['result 1', 'plan 2', 'plan 3']);
  });

  it('that meets the end of its run is refused, and an end that meets a submission comes after it', async () => {
    await runFixture.start('wfr_met');
    fixture.reset();
    fixture.beforeCall('PutItemCommand', 1, () => acts.end('wfr_met'));
    await expect(runFixture.submit('wfr_met', [resultOf(1)])).rejects.toThrow(ended);
    await runFixture.start('wfr_meets');
    fixture.reset();
    fixture.beforeCall('PutItemCommand', 1, () => runFixture.submit('wfr_meets', [resultOf(1)]));
    await acts.end('wfr_meets');
    expect(await acts.kinds('wfr_met')).toEqual(['start', 'end']);
    expect(await acts.kinds('wfr_meets')).toEqual(['start', 'steps', 'end']);
  });

  it('to an ended or unknown run is answered with that, valid or not', async () => {
    await runFixture.start('wfr_over');
    await acts.end('wfr_over');
    for (const runId of ['wfr_over', 'wfr_nobody']) {
      await expect(runFixture.submit(runId, [resultOf(1)])).rejects.toThrow(ended);
      await expect(runFixture.submit(runId, [resultOf(9)])).rejects.toThrow(ended);
    }
  });
});
