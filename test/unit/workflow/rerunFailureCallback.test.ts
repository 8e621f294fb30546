import type { ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { fixture, runs, useFailedRuns } from '../../support/useRuns.ts';
import { imported } from '../../support/imported.ts';
import { itAtEachDeath } from '../../support/faults.ts';

useFailedRuns();
const services = imported(async () => ({
  ...(await import('../../../lambdas/workflow/rerunFailureCallback.ts')),
  ...(await import('../../../lambdas/workflow/deadLetters.ts')),
}));

const rerun = (dlqId: string) => services.rerunFailureCallback(fixture.account, dlqId);
const cancel = (dlqId: string) => services.cancelFailureCallback(fixture.account, dlqId);
const stateOf = async (dlqId: string) =>
  (await services.getRunDeadLetter(fixture.account, dlqId)).failureFunctionState;

const notedOf = async (runId: string) =>
  (await runs.journalOf(runId)).flatMap(({ record, snapshot }) =>
    record.kind === 'end' || record.kind === 'failureFunction' ? [snapshot.failureState] : [],
  );

type AnswerTo = (response: ServerResponse) => void;
const failing: AnswerTo = (response) => response.writeHead(500).end('no');
const well: AnswerTo = (response) => response.writeHead(200).end('told');

async function failedRun(answer: AnswerTo = failing) {
  const { inbox } = runs.endpoint();
  const state = { answer };
  const told = fixture.receiver.inbox((_delivery, response) => {
    state.answer(response);
  });
  const failed = await runs.failed(inbox, { failureUrl: told.url, payload: 'the payload' });
  fixture.reset();
  return { ...failed, told, state };
}

async function pending() {
  const { inbox } = runs.endpoint();
  const told = fixture.receiver.inbox();
  const { runId } = await runs.fail(inbox.url, { failureUrl: told.url });
  const { job } = await fixture.receiveAttempt();
  await fixture.perform(job, { isAgain: false });
  const [deadLetter] = await runs.deadLettersOf(inbox.url);
  fixture.reset();
  return { runId, dlqId: deadLetter?.dlqId ?? '', told };
}

describe('a failure function that failed', () => {
  it('is run again by a new message with the same content', async () => {
    const { runId, createdAt, dlqId, told, state } = await failedRun();
    expect(await stateOf(dlqId)).toBe('CALLBACK_FAIL');
    state.answer = well;
    await fixture.readUsage(fixture.account);
    fixture.reset();
    expect(await rerun(dlqId)).toEqual({ workflowRunId: runId, workflowCreatedAt: createdAt });
    expect(fixture.calls(), JSON.stringify(fixture.operations())).toBe(9);
    expect(await stateOf(dlqId)).toBe('CALLBACK_INPROGRESS');
    await fixture.doJobs();
    expect(told.deliveries).toHaveLength(2);
    const [first, second] = told.deliveries;
    expect(second?.headers).toMatchObject({
      'x-told': 'yes',
      'upstash-workflow-is-failure': 'true',
      'upstash-workflow-runid': runId,
    });
    expect(second?.headers['upstash-message-id']).not.toBe(first?.headers['upstash-message-id']);
    expect(JSON.parse(second?.body.toString() ?? '')).toEqual(JSON.parse(first?.body.toString() ?? ''));
    expect(await stateOf(dlqId)).toBe('CALLBACK_SUCCESS');
    expect(await notedOf(runId)).toEqual([
      'CALLBACK_INPROGRESS',
      'CALLBACK_FAIL',
      'CALLBACK_INPROGRESS',
      'CALLBACK_SUCCESS',
    ]);
    expect(await runs.isThere(dlqId)).toBe(true);
  });

  it('is run again once for simultaneous requests', async () => {
    const { dlqId, told } = await failedRun();
    const answers = await Promise.allSettled(Array.from({ length: 5 }, () => rerun(dlqId)));
    expect(answers.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const answer of answers) {
      if (answer.status === 'rejected') expect(answer.reason).toMatchObject({ status: 400 });
    }
    const sent = await fixture.drain();
    const ids = sent.flatMap((job) => (job.kind === 'attempt' ? [job.messageId] : []));
    expect(new Set(ids).size).toBe(1);
    const [first] = sent;
    if (first !== undefined) await fixture.perform(first, { isAgain: false });
    expect(told.deliveries).toHaveLength(2);
  });

  itAtEachDeath('whose rerun dies at any of its AWS calls is told when it is run again', async (fate) => {
    const { dlqId, told, state } = await failedRun();
    state.answer = well;
    await fixture.underFate(fate, () => rerun(dlqId));
    await rerun(dlqId).catch((error: unknown) => {
      expect(error).toMatchObject({ status: 400 });
    });
    await fixture.doJobs();
    expect(told.deliveries).toHaveLength(2);
    expect(await stateOf(dlqId)).toBe('CALLBACK_SUCCESS');
  });
});

describe('a failure function that did not fail', () => {
  it('is not run again', async () => {
    const { dlqId, told } = await failedRun(well);
    await expect(rerun(dlqId)).rejects.toMatchObject({ status: 400 });
    await expect(cancel(dlqId)).rejects.toMatchObject({ status: 400 });
    await fixture.doJobs();
    expect(told.deliveries).toHaveLength(1);
    expect(await stateOf(dlqId)).toBe('CALLBACK_SUCCESS');
  });

  it('that does not exist is neither run again nor cancelled', async () => {
    const { inbox } = runs.endpoint();
    const { dlqId } = await runs.failed(inbox);
    await expect(rerun(dlqId)).rejects.toMatchObject({ status: 400 });
    await expect(cancel(dlqId)).rejects.toMatchObject({ status: 400 });
    await expect(rerun('dlq_01KDVDQ8G0N7B2Y5V8W1Q4RSTA')).rejects.toMatchObject({ status: 404 });
    await expect(cancel('nonsense')).rejects.toMatchObject({ status: 404 });
  });
});

describe('a pending failure function', () => {
  it('is cancelled and does not run', async () => {
    const { runId, dlqId, told } = await pending();
    expect(await stateOf(dlqId)).toBe('CALLBACK_INPROGRESS');
    await fixture.readUsage(fixture.account);
    fixture.reset();
    await cancel(dlqId);
    expect(fixture.calls(), JSON.stringify(fixture.operations())).toBe(8);
    expect(await stateOf(dlqId)).toBe('CALLBACK_CANCELED');
    await fixture.doJobs();
    expect(told.deliveries).toEqual([]);
    expect(await stateOf(dlqId)).toBe('CALLBACK_CANCELED');
    expect(await notedOf(runId)).toEqual(['CALLBACK_INPROGRESS', 'CALLBACK_CANCELED']);
    await expect(cancel(dlqId)).rejects.toMatchObject({ status: 400 });
    await expect(rerun(dlqId)).rejects.toMatchObject({ status: 400 });
  });

  it('that is run again is cancelled by its last message', async () => {
    const { dlqId, told } = await failedRun();
    await rerun(dlqId);
    await cancel(dlqId);
    await fixture.doJobs();
    expect(told.deliveries).toHaveLength(1);
    expect(await stateOf(dlqId)).toBe('CALLBACK_CANCELED');
  });

  itAtEachDeath('is cancelled where the cancellation dies and is asked for again', async (fate) => {
    const { dlqId, told } = await pending();
    await fixture.underFate(fate, () => cancel(dlqId));
    await cancel(dlqId).catch((error: unknown) => {
      expect(error).toMatchObject({ status: 400 });
    });
    await fixture.doJobs();
    expect(told.deliveries).toEqual([]);
    expect(await stateOf(dlqId)).toBe('CALLBACK_CANCELED');
  });
});
