import { describe, expect, it } from 'vitest';
import { acts, fixture, runFixture, useRuns } from '../../../support/useRuns.ts';
import { itAtEachDeath } from '../../../support/faults.ts';
import { attemptsIn } from '../../../support/runActs.ts';
import { openRunLogs, stepsOf } from '../../../support/runLogs.ts';
import { resultOf } from '../../../support/runFixture.ts';
import { endpoint } from '../../../support/startSettings.ts';

/** A step’s call is made once, and its answer reaches the endpoint, whichever process dies. */

let bodyOf: (messageId: string) => Promise<string>;
useRuns(async () => {
  const { loadBody } = await import('../../../../lambdas/message/bodies.ts');
  bodyOf = async (messageId) => {
    const history = await fixture.loadMessage({ accountId: fixture.account.id, messageId });
    if (history === undefined) throw new Error(`There is no message ${messageId}.`);
    return Buffer.from(await loadBody(messageId, history.body)).toString('utf8');
  };
});

const third = 'https://third.example/';

describe('a call', () => {
  itAtEachDeath('is made once where its process dies and it is submitted again', async (fate) => {
    const runId = `wfr_call_${fate.name}`;
    await runFixture.start(runId);
    await fixture.drain();
    const [first, second] = await acts.twice(fate, () => acts.call(runId, 1, third));
    expect(await acts.kinds(runId)).toEqual(['start', 'call']);
    if (first !== undefined) expect(second).toEqual({ messageId: first.messageId, isDuplicate: true });
    expect(attemptsIn(await fixture.drain())).toEqual([second.messageId]);
    expect(await bodyOf(second.messageId)).toBe('asked');
  });

  it('keeps the first request, even if a repeated one differs', async () => {
    await runFixture.start('wfr_first');
    const { messageId } = await acts.call('wfr_first', 1, third, { body: 'one' });
    expect(await acts.call('wfr_first', 1, third, { body: 'x'.repeat(20_000) })).toEqual({
      messageId,
      isDuplicate: true,
    });
    expect(await bodyOf(messageId)).toBe('one');
  });

  it('of a step with a result is not made, but still answered with an id', async () => {
    await runFixture.start('wfr_done');
    const [result] = await runFixture.submit('wfr_done', [resultOf(1)]);
    await fixture.drain();
    expect(await acts.call('wfr_done', 1, third)).toEqual({
      messageId: result?.messageId,
      isDuplicate: true,
    });
    expect(await fixture.drain()).toEqual([]);
    const { messageId } = await acts.call('wfr_done', 2, third);
    await runFixture.submit('wfr_done', [resultOf(2)]);
    expect(await acts.call('wfr_done', 2, third)).toEqual({ messageId, isDuplicate: true });
  });

  it('of a step that is not the next one, or of an ended run, is refused', async () => {
    await runFixture.start('wfr_no');
    await expect(acts.call('wfr_no', 2, third)).rejects.toMatchObject({ status: 412 });
    await acts.end('wfr_no');
    await expect(acts.call('wfr_no', 1, third)).rejects.toMatchObject({ status: 400 });
  });

  it('shows nothing that its run redacts', async () => {
    const redaction = { body: true, headers: [] };
    const settings = { maxRetries: 3, labels: [], timeoutMs: 30_000, redaction };
    await runFixture.start('wfr_secret', { details: { settings } });
    const { messageId } = await acts.call('wfr_secret', 1, third);
    const history = await fixture.loadMessage({ accountId: fixture.account.id, messageId });
    expect(history?.message.redaction).toEqual(redaction);
    expect(history?.message.callback?.redaction).toEqual(redaction);
  });
});

describe('the answer to a call', () => {
  it('is followed by the log while its endpoint does not accept it', async () => {
    const asked = fixture.receiver.inbox((_delivery, response) => response.end('x'.repeat(200_000)));
    const answers = fixture.receiver.inbox((_delivery, response) => response.writeHead(500).end());
    const runId = 'wfr_answer_log';
    await runFixture.start(runId, {
      details: {
        url: endpoint,
        settings: { maxRetries: 3, retryDelay: '3600000', labels: [], timeoutMs: 30_000 },
      },
    });
    await fixture.drain();
    await acts.call(runId, 1, asked.url, { callback: answers.url });
    await fixture.doJobs();
    expect(answers.deliveries).toHaveLength(1);
    const [, step] = stepsOf(await (await openRunLogs(fixture)).runOf(runId));
    expect(step).toMatchObject({ callType: 'fromCallback', state: 'STEP_RETRY', callResponseStatus: 200 });
  });

  itAtEachDeath('comes to the endpoint though a worker dies at any of its AWS calls', async (fate) => {
    const answers = fixture.receiver.inbox();
    const asked = fixture.receiver.inbox((_delivery, response) => response.writeHead(503).end('no'));
    const runId = `wfr_answer_${fate.name}`;
    await runFixture.start(runId, { details: { url: endpoint } });
    await fixture.drain();
    await acts.call(runId, 1, asked.url, { callback: answers.url });
    await fixture.doJobs(fate);
    expect(asked.deliveries.length).toBeLessThanOrEqual(2);
    const ids = new Set(answers.deliveries.map(({ headers }) => headers['upstash-message-id']));
    expect(ids.size).toBe(1);
    const [answer] = answers.deliveries;
    expect(answer?.headers).toMatchObject({
      'upstash-workflow-runid': runId,
      'upstash-workflow-calltype': 'fromCallback',
      'x-tenant': 'acme',
    });
    expect(JSON.parse(String(answer?.body))).toMatchObject({ status: 503, retried: 0, maxRetries: 0 });
    expect((await runFixture.snapshotOf(runId)).state).toBe('RUN_STARTED');
  });
});
