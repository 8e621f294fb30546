import { beforeEach, describe, expect, it } from 'vitest';
import { itAtEachDeath } from '../../../support/faults.ts';
import { attemptsIn, openRunActs, type RunActs } from '../../../support/runActs.ts';
import { openRunLogs, stepsOf } from '../../../support/runLogs.ts';
import { openRunFixture, resultOf, type RunFixture } from '../../../support/runFixture.ts';
import { endpoint } from '../../../support/startSettings.ts';
import { useFixture } from '../../../support/useFixture.ts';
import { type Fixture } from '../../../support/fixture.ts';

/** A step’s call is made once, and its answer reaches the endpoint, whichever process dies. */

let fixture: Fixture;
let runFixture: RunFixture;
let acts: RunActs;
let bodyOf: (messageId: string) => Promise<string>;
useFixture(async (opened) => {
  fixture = opened;
  runFixture = await openRunFixture(fixture);
  acts = await openRunActs(fixture);
  const { loadBody } = await import('../../../../lambdas/message/bodies.ts');
  bodyOf = async (messageId) => {
    const history = await fixture.loadMessage({ accountId: fixture.account.id, messageId });
    if (history === undefined) throw new Error(`There is no message ${messageId}.`);
    return Buffer.from(await loadBody(messageId, history.body)).toString('utf8');
  };
});
beforeEach(() => fixture.drain());

const third = 'https://third.example/';

describe('a call', () => {
  itAtEachDeath(
    'whose process dies at any of its AWS calls is made once when it is submitted again',
    async (fate) => {
      const runId = `wfr_call_${fate.name}`;
      await runFixture.start(runId);
      await fixture.drain();
      const [first, second] = await acts.twice(fate, () => acts.call(runId, 1, third));
      expect((await acts.records(runId)).map(({ kind }) => kind)).toEqual(['start', 'call']);
      if (first !== undefined) expect(second).toEqual({ messageId: first.messageId, isDuplicate: true });
      expect(attemptsIn(await fixture.drain())).toEqual([second.messageId]);
      expect(await bodyOf(second.messageId)).toBe('asked');
    },
    { every: { ordinary: 1, thorough: 1 } },
  );

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
  it('may arrive after its attempt if the run allows deferred answers', async () => {
    const { completeAttempt } = await import('../../../../lambdas/delivery/complete.ts');
    const answers = fixture.receiver.inbox();
    const asked = fixture.receiver.inbox((_delivery, response) => response.writeHead(202).end());
    const runId = 'wfr_deferred';
    const settings = {
      maxRetries: 0,
      retryDelay: '1000',
      labels: [],
      timeoutMs: 30_000,
      deferredMs: 3_600_000,
    };
    await runFixture.start(runId, { details: { url: endpoint, settings } });
    await fixture.drain();
    const { messageId } = await acts.call(runId, 1, asked.url, { callback: answers.url });
    await fixture.doJobs();
    expect(asked.deliveries).toHaveLength(1);
    expect(answers.deliveries).toEqual([]);
    const answer = { status: 201, headers: [], body: Buffer.from('rendered') };
    await completeAttempt({ accountId: fixture.account.id, messageId }, answer);
    await fixture.doJobs();
    const [told] = answers.deliveries;
    expect(told?.headers['upstash-workflow-calltype']).toBe('fromCallback');
    expect(JSON.parse(String(told?.body))).toMatchObject({
      status: 201,
      body: Buffer.from('rendered').toString('base64'),
    });
  });

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
