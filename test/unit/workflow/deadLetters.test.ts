import { createHash } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { fixture, runs, useFailedRuns } from '../../support/useRuns.ts';
import { imported } from '../../support/imported.ts';
import { noFilter } from '../../support/filters.ts';
import type { FailedRuns } from '../../support/failedRuns.ts';
import type { Inbox } from '../../support/receiver.ts';
import { configOf } from '../../support/fixture.ts';

useFailedRuns();
const ofRuns = imported(() => import('../../../lambdas/workflow/deadLetters.ts'));
const ofMessages = imported(() => import('../../../lambdas/deadLetter/deadLetters.ts'));
const retry = imported(() => import('../../../lambdas/publish/retryDeadLetters.ts'));

/** Lists the dead letters that a query selects, such as `label=a&count=2`. */
const list = (query: string | Record<string, string>) =>
  ofRuns.listRunDeadLetters(fixture.account, [...new URLSearchParams(query)]);
const request = { prefix: 'Svc', config: configOf({}), host: 'api.example.com' };
const hashOf = (text: string): string => `REDACTED:${createHash('sha256').update(text).digest('hex')}`;

describe('the dead letter of a run', () => {
  it('shows the request that started the run, and the last answer to the delivery that failed it', async () => {
    const { inbox } = runs.endpoint();
    const { runId, dlqId, createdAt } = await runs.failed(inbox, {
      steps: [{ result: 1 }],
      payload: '{"order":4711}',
      failureUrl: fixture.receiver.inbox().url,
      start: {
        settings: { retryDelay: '1000', flowControl: { key: 'tenant', parallelism: 2 } },
        forwarded: [
          ['content-type', 'application/json'],
          ['x-tenant', 'acme'],
        ],
      },
    });
    const record = await ofRuns.getRunDeadLetter(fixture.account, dlqId);
    expect(record).toMatchObject({
      dlqId,
      url: inbox.url,
      method: 'POST',
      body: '{"order":4711}',
      maxRetries: 0,
      callerIP: '192.0.2.7',
      workflowRunId: runId,
      workflowCreatedAt: createdAt,
      workflowUrl: inbox.url,
      responseStatus: 500,
      responseHeader: { 'Content-Type': ['application/json'] },
      responseBody: '{"error":"Error","message":"the step failed"}',
      label: 'nightly',
      labels: ['nightly'],
      flowControlKey: 'tenant',
      parallelism: 2,
      failureFunctionState: 'CALLBACK_SUCCESS',
      failureCallbackInfo: { state: 'CALLBACK_SUCCESS', responseStatus: 200 },
      header: {
        'Content-Type': ['application/json'],
        'Upstash-Workflow-Init': ['true'],
        'Upstash-Workflow-Runid': [runId],
        'Upstash-Workflow-Url': [inbox.url],
        'Upstash-Workflow-Sdk-Version': ['1'],
        'Upstash-Feature-Set': ['LazyFetch,InitialBody,WF_TriggerOnConfig'],
        'Upstash-Retries': ['0'],
        'Upstash-Retry-Delay': ['1000'],
        'Upstash-Label': ['nightly'],
        'Upstash-Flow-Control-Key': ['tenant'],
        'Upstash-Flow-Control-Value': ['parallelism=2'],
        'Upstash-Failure-Callback': [record.failureCallback],
        'Upstash-Forward-X-Tenant': ['acme'],
      },
    });
    expect(record.messageId).toMatch(/^msg_/);
    const [listed] = await runs.deadLettersOf(inbox.url);
    const { body: _body, ...withoutBody } = record;
    expect(listed).toEqual(withoutBody);
  });

  it('shows redacted values as hashes, even in answers that may repeat the body', async () => {
    const { inbox } = runs.endpoint();
    const { dlqId } = await runs.failed(inbox, {
      payload: 'secret',
      start: { settings: { redaction: { body: true, headers: ['x-tenant'] } } },
    });
    const record = await ofRuns.getRunDeadLetter(fixture.account, dlqId);
    expect(record.body).toBe(hashOf('secret'));
    expect(record.responseBody).toBe(hashOf('{"error":"Error","message":"the step failed"}'));
    expect(record.header['Upstash-Forward-X-Tenant']).toEqual([hashOf('acme')]);
    expect(JSON.stringify([record, await list({ workflowUrl: inbox.url })])).not.toContain('secret');
  });

  it('shows the answer of a failure function that failed', async () => {
    const { inbox } = runs.endpoint();
    const told = fixture.receiver.inbox((_delivery, response) => {
      response.writeHead(503, { 'x-why': 'busy' }).end('not now');
    });
    const { dlqId } = await runs.failed(inbox, { failureUrl: told.url });
    expect(await ofRuns.getRunDeadLetter(fixture.account, dlqId)).toMatchObject({
      failureFunctionState: 'CALLBACK_FAIL',
      failureCallbackHeader: { 'X-Why': ['busy'] },
      failureCallbackInfo: {
        state: 'CALLBACK_FAIL',
        responseStatus: 503,
        responseBody: 'not now',
        responseHeaders: { 'X-Why': ['busy'] },
      },
    });
  });
});

describe('dead letters of runs and of messages', () => {
  it('are listed, retried and deleted separately', async () => {
    const { inbox } = runs.endpoint();
    const { dlqId } = await runs.failed(inbox);
    const messageId = await fixture.send(inbox.url, { retries: '0' });
    await fixture.doJobs();
    const { account } = fixture;
    const withUrl = { ...noFilter, values: new Map([['url', new Set([inbox.url])]] as const) };
    const { messages } = await ofMessages.listDeadLetters(account, withUrl);
    expect(messages.map((one) => one.messageId)).toEqual([messageId]);
    expect((await list({ url: inbox.url })).messages.map((one) => one.dlqId)).toEqual([dlqId]);

    const ofMessage = messages[0]?.dlqId ?? '';
    for (const ask of [
      () => ofMessages.getDeadLetter(account, dlqId),
      () => ofMessages.deleteDeadLetter(account, dlqId),
      () => retry.retryDeadLetter(account, dlqId, request),
      () => ofRuns.getRunDeadLetter(account, ofMessage),
      () => ofRuns.deleteRunDeadLetter(account, ofMessage),
    ]) {
      await expect(ask()).rejects.toMatchObject({ status: 404 });
    }
    const all = { ...noFilter, ids: [dlqId] };
    expect(await retry.retryDeadLetters(account, all, request)).toMatchObject({ responses: [] });
    expect(await ofMessages.deleteDeadLetters(account, all)).toMatchObject({ deleted: 0 });
    const deleted = await ofRuns.deleteRunDeadLetters(account, [['dlqIds', ofMessage]]);
    expect(deleted).toMatchObject({ deleted: 0 });
    expect([await runs.isThere(dlqId), await runs.isThere(ofMessage)]).toEqual([true, true]);
  });

  it('are deleted one by one and many at once', async () => {
    const { inbox } = runs.endpoint();
    for (let number = 0; number < 5; number += 1) await runs.fail(inbox.url);
    await fixture.doJobs();
    const [{ dlqId } = { dlqId: '' }] = await runs.deadLettersOf(inbox.url);
    await ofRuns.deleteRunDeadLetter(fixture.account, dlqId);
    await expect(ofRuns.deleteRunDeadLetter(fixture.account, dlqId)).rejects.toMatchObject({ status: 404 });
    const remove = (more: Record<string, string>) => {
      const query = new URLSearchParams({ workflowUrl: inbox.url, count: '3', ...more });
      return ofRuns.deleteRunDeadLetters(fixture.account, [...query]);
    };
    const some = await remove({});
    expect(some).toEqual({ deleted: 3, cursor: expect.any(String) as string });
    expect(await remove({ cursor: some.cursor ?? '' })).toEqual({ deleted: 1, cursor: undefined });
    expect(await runs.deadLettersOf(inbox.url)).toEqual([]);
  });
});

describe('the filter', () => {
  let inbox: Inbox;
  let wanted: Awaited<ReturnType<FailedRuns['failed']>>;
  beforeAll(async () => {
    ({ inbox } = runs.endpoint());
    const told = fixture.receiver.inbox((_delivery, response) => response.writeHead(500).end());
    await runs.failed(inbox, { start: { callerIp: '192.0.2.1' } });
    wanted = await runs.failed(inbox, {
      failureUrl: told.url,
      start: {
        callerIp: '192.0.2.99',
        settings: { labels: ['other', 'wanted'], flowControl: { key: 'wanted', parallelism: 1 } },
      },
    });
    await runs.failed(inbox);
  });

  it('selects the one run that has what it names', async () => {
    const url = new URLSearchParams({ workflowUrl: inbox.url }).toString();
    for (const query of [
      `workflowRunId=${wanted.runId}`,
      `workflowCreatedAt=${wanted.createdAt}&workflowRunId=${wanted.runId}`,
      'label=none,wanted',
      'label=none&label=wanted',
      'callerIp=192.0.2.99',
      'callerIP=192.0.2.99',
      'flowControlKey=wanted',
      'failureFunctionState=CALLBACK_FAIL',
      'responseStatus=500&label=wanted',
      // If ids are given, other filters are ignored.
      `dlqIds=${wanted.dlqId}&label=none`,
    ]) {
      const { messages } = await list(`${url}&${query}`);
      expect([query, messages.map(({ dlqId }) => dlqId)]).toEqual([query, [wanted.dlqId]]);
    }
  });

  it('selects runs by their whole URL and by the time of the failure, page by page', async () => {
    const of = async (more: Record<string, string>) => list({ workflowUrl: inbox.url, ...more });
    const all = (await of({})).messages;
    expect(all).toHaveLength(3);
    const tomorrow = String(Date.now() + 86_400_000);
    const none: readonly Record<string, string>[] = [
      { workflowUrl: `${inbox.url}x` },
      { workflowUrl: inbox.url.slice(0, -1) },
      { fromDate: tomorrow },
    ];
    for (const query of none) expect((await of(query)).messages).toEqual([]);
    expect((await of({ toDate: tomorrow })).messages).toHaveLength(3);
    const first = await of({ count: '2' });
    expect(first.messages).toHaveLength(2);
    const second = await of({ cursor: first.cursor ?? '' });
    expect([...first.messages, ...second.messages]).toEqual(all);
  });

  it.each(['label=', 'colour=red', 'failureFunctionState=DONE', 'count=101'])(
    'is refused: %s',
    async (query) => {
      await expect(list(query)).rejects.toMatchObject({ status: 400 });
    },
  );
});
