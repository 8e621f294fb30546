import { describe, expect, it, vi } from 'vitest';
import { imported } from '../../support/imported.ts';
import { fixture, runFixture, useRuns } from '../../support/useRuns.ts';
import { chunksOf } from '../../../lambdas/shared/lists.ts';
import { stepOf } from '../../support/runActs.ts';
import { resultOf } from '../../support/runFixture.ts';
import { watchWrites } from '../../support/writes.ts';

/** A step’s calls and writes do not increase with the run’s length. */

let writes: ReturnType<typeof watchWrites>;
useRuns(async () => {
  writes = watchWrites(fixture.dynamodb);
  await warmUp();
});
const lambdas = imported(() => import('../../../lambdas/workflow/steps/end.ts'));

/** Lets the process read and lease what it keeps for some seconds: the account, and a slot. */
async function warmUp(): Promise<void> {
  await fixture.send(fixture.receiver.inbox().url);
  await fixture.doJobs();
}

async function costOf(job: () => Promise<unknown>) {
  fixture.reset();
  writes.reset();
  // Stopped, because a delivery that takes long to begin reads its run again.
  const time = Date.now();
  const clock = vi.spyOn(Date, 'now').mockImplementation(() => time);
  await job();
  clock.mockRestore();
  const { workflowsTable, messagesTable } = fixture.settings;
  return {
    calls: fixture.operations(),
    units: { workflows: writes.unitsIn(workflowsTable), messages: writes.unitsIn(messagesTable) },
  };
}

const openEndpoint = () =>
  fixture.receiver.inbox((_delivery, response) =>
    response.writeHead(200, { 'Upstash-Workflow-Sdk-Version': '1' }).end(),
  );

const submission = {
  // Reads the run’s snapshot before the step, and again when the run is changed.
  calls: { QueryCommand: 2, PutItemCommand: 1, BatchWriteItemCommand: 1, SendMessageBatchCommand: 1 },
  units: { workflows: 1, messages: 1 },
};
/** Reads the message with its attempts, and the journal. */
const delivery = { calls: { QueryCommand: 2, PutItemCommand: 1 }, units: { workflows: 0, messages: 1 } };

/** Records the results of steps as if they had been submitted. */
async function skip(runId: string, first: number, last: number): Promise<void> {
  const entry = (await runFixture.journalOf(runId))?.records[0].entry;
  if (entry === undefined) throw new Error(`There is no run ${runId}.`);
  const entries = Array.from({ length: last - first + 1 }, (_, index) => ({
    ...entry,
    step: { ...stepOf(first + index, 'Run'), kind: 'result' as const },
  }));
  for (const some of chunksOf(entries, 100)) {
    await runFixture.append(runId, { kind: 'steps', at: Date.now(), entries: some });
  }
}

describe('a run', () => {
  it('starts with its record, its row in the list and its message', async () => {
    expect(await costOf(() => runFixture.start('wfr_starts'))).toEqual({
      // Sends the job that checks the start, and the attempt.
      calls: { QueryCommand: 1, PutItemCommand: 2, BatchWriteItemCommand: 1, SendMessageBatchCommand: 2 },
      units: { workflows: 2, messages: 1 },
    });
  });

  it('ends with a record and its row in the list', async () => {
    await runFixture.start('wfr_ends');
    await runFixture.submit('wfr_ends', [resultOf(1)]);
    const end = { state: 'RUN_SUCCESS', response: Buffer.from('"done"') } as const;
    expect(await costOf(() => lambdas.endRun(fixture.account, { runId: 'wfr_ends' }, end))).toEqual({
      calls: { QueryCommand: 2, PutItemCommand: 1, BatchWriteItemCommand: 1 },
      units: { workflows: 2, messages: 0 },
    });
  });
});

describe('a step', () => {
  it('reads its settings once in a process', async () => {
    await runFixture.start('wfr_facts');
    const { calls } = await costOf(() => runFixture.submit('wfr_facts', [resultOf(1)]));
    expect(calls).toEqual({ ...submission.calls, GetItemCommand: 1 });
    expect(await costOf(() => runFixture.submit('wfr_facts', [resultOf(2)]))).toEqual(submission);
  });

  it('costs as many calls and writes in a long run as in a short one', async () => {
    const { url } = openEndpoint();
    await runFixture.start('wfr_long', { details: { url } });
    const submit = (stepId: number) => runFixture.submit('wfr_long', [resultOf(stepId)], {}, url);
    await submit(1);
    let last = 1;
    for (const step of [10, 1_000]) {
      await skip('wfr_long', last + 1, step - 2);
      await fixture.drain();
      await warmUp();
      await submit(step - 1);
      const { job } = await fixture.receiveAttempt();
      expect(await costOf(() => fixture.deliver(job, false))).toEqual(delivery);
      expect(await costOf(() => submit(step))).toEqual(submission);
      last = step;
    }
  });

  it('has no more writes for an output that is in the bucket', async () => {
    await runFixture.start('wfr_large');
    await runFixture.submit('wfr_large', [resultOf(1)]);
    const large = JSON.stringify('x'.repeat(500_000));
    expect(await costOf(() => runFixture.submit('wfr_large', [resultOf(2, large)]))).toEqual(submission);
  });
});

describe('a parallel group', () => {
  it('is planned with one record, and one call for all its messages', async () => {
    await runFixture.start('wfr_group');
    await runFixture.submit('wfr_group', [resultOf(1)]);
    const plans = Array.from({ length: 10 }, (_, index) =>
      resultOf(0, undefined, { concurrent: 10, targetStep: index + 2, stepName: `step ${index + 2}` }),
    );
    const planned = await costOf(() => runFixture.submit('wfr_group', plans));
    expect(planned.calls).toEqual(submission.calls);
    expect(planned.units.messages).toBe(10);
  });
});
