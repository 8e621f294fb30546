import { createHash } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { noFilter } from '../../support/filters.ts';
import { failedRunsIn, type FailedRuns } from '../../support/failedRuns.ts';
import type { Inbox } from '../../support/receiver.ts';
import { useFixture } from '../../support/useFixture.ts';
import { configOf, type Fixture } from '../../support/fixture.ts';

let fixture: Fixture;
let runs: FailedRuns;
const importServices = async () => {
  const [ofRuns, ofMessages, retry] = await Promise.all([
    import('../../../lambdas/workflow/deadLetters.ts'),
    import('../../../lambdas/deadLetter/deadLetters.ts'),
    import('../../../lambdas/publish/retryDeadLetters.ts'),
  ]);
  return { ofRuns, ofMessages, retry };
};
let services: Awaited<ReturnType<typeof importServices>>;
useFixture(async (opened) => {
  fixture = opened;
  [services, runs] = await Promise.all([importServices(), failedRunsIn(opened)]);
});

type Query = readonly (readonly [string, string])[];
const list = (query: Query) => services.ofRuns.listRunDeadLetters(fixture.account, query);
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
    const record = await services.ofRuns.getRunDeadLetter(fixture.account, dlqId);
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
    const record = await services.ofRuns.getRunDeadLetter(fixture.account, dlqId);
    expect(record.body).toBe(hashOf('secret'));
    expect(record.responseBody).toBe(hashOf('{"error":"Error","message":"the step failed"}'));
    expect(record.header['Upstash-Forward-X-Tenant']).toEqual([hashOf('acme')]);
    expect(JSON.stringify([record, await list([['workflowUrl', inbox.url]])])).not.toContain('secret');
  });

  it('shows the answer of a failure function that failed', async () => {
    const { inbox } = runs.endpoint();
    const told = fixture.receiver.inbox((_delivery, response) => {
      response.writeHead(503, { 'x-why': 'busy' }).end('not now');
    });
    const { dlqId } = await runs.failed(inbox, { failureUrl: told.url });
    expect(await services.ofRuns.getRunDeadLetter(fixture.account, dlqId)).toMatchObject({
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
  it('are listed separately', async () => {
    const { inbox } = runs.endpoint();
    const { dlqId } = await runs.failed(inbox);
    const messageId = await fixture.send(inbox.url, { retries: '0' });
    await fixture.doJobs();
    const messages = await services.ofMessages.listDeadLetters(fixture.account, {
      ...noFilter,
      values: new Map([['url', new Set([inbox.url])]]),
    });
    expect(messages.messages.map((one) => one.messageId)).toEqual([messageId]);
    const [ofMessage] = messages.messages;
    expect((await list([['url', inbox.url]])).messages.map((one) => one.dlqId)).toEqual([dlqId]);
    const none = { status: 404 };
    await expect(services.ofMessages.getDeadLetter(fixture.account, dlqId)).rejects.toMatchObject(none);
    const asRun = services.ofRuns.getRunDeadLetter(fixture.account, ofMessage?.dlqId ?? '');
    await expect(asRun).rejects.toMatchObject(none);
  });

  it('are retried and deleted separately', async () => {
    const { inbox } = runs.endpoint();
    const { dlqId } = await runs.failed(inbox);
    const all = { ...noFilter, ids: [dlqId] };
    const none = { status: 404 };
    await expect(services.retry.retryDeadLetter(fixture.account, dlqId, request)).rejects.toMatchObject(none);
    expect(await services.retry.retryDeadLetters(fixture.account, all, request)).toMatchObject({
      responses: [],
    });
    await expect(services.ofMessages.deleteDeadLetter(fixture.account, dlqId)).rejects.toMatchObject(none);
    expect(await services.ofMessages.deleteDeadLetters(fixture.account, all)).toMatchObject({ deleted: 0 });
    expect(await runs.isThere(dlqId)).toBe(true);

    await fixture.send(inbox.url, { retries: '0' });
    await fixture.doJobs();
    const found = await services.ofMessages.listDeadLetters(fixture.account, {
      ...noFilter,
      values: new Map([['url', new Set([inbox.url])]]),
    });
    const ofMessage = found.messages[0]?.dlqId ?? '';
    await expect(services.ofRuns.deleteRunDeadLetter(fixture.account, ofMessage)).rejects.toMatchObject(none);
    const deleted = await services.ofRuns.deleteRunDeadLetters(fixture.account, [['dlqIds', ofMessage]]);
    expect(deleted).toMatchObject({ deleted: 0 });
    expect(await runs.isThere(ofMessage)).toBe(true);
  });

  it('are deleted one by one and many at once', async () => {
    const { inbox } = runs.endpoint();
    for (let number = 0; number < 5; number += 1) await runs.fail(inbox.url);
    await fixture.doJobs();
    const [first, ...others] = await runs.deadLettersOf(inbox.url);
    const dlqId = first?.dlqId ?? '';
    await services.ofRuns.deleteRunDeadLetter(fixture.account, dlqId);
    await expect(services.ofRuns.deleteRunDeadLetter(fixture.account, dlqId)).rejects.toMatchObject({
      status: 404,
    });
    const query: Query = [['workflowUrl', inbox.url]];
    const some = await services.ofRuns.deleteRunDeadLetters(fixture.account, [...query, ['count', '3']]);
    expect(some.deleted).toBe(3);
    expect(some.cursor).toBeDefined();
    const rest = await services.ofRuns.deleteRunDeadLetters(fixture.account, [
      ...query,
      ['count', '3'],
      ['cursor', some.cursor ?? ''],
    ]);
    expect(rest).toEqual({ deleted: others.length - 3, cursor: undefined });
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

  it.each<[string, () => Query]>([
    ['workflowRunId', () => [['workflowRunId', wanted.runId]]],
    [
      'workflowCreatedAt',
      () => [
        ['workflowCreatedAt', String(wanted.createdAt)],
        ['workflowRunId', wanted.runId],
      ],
    ],
    ['label', () => [['label', 'none,wanted']]],
    [
      'a repeated label',
      () => [
        ['label', 'none'],
        ['label', 'wanted'],
      ],
    ],
    ['callerIp', () => [['callerIp', '192.0.2.99']]],
    ['callerIP', () => [['callerIP', '192.0.2.99']]],
    ['flowControlKey', () => [['flowControlKey', 'wanted']]],
    ['failureFunctionState', () => [['failureFunctionState', 'CALLBACK_FAIL']]],
    [
      'responseStatus with another',
      () => [
        ['responseStatus', '500'],
        ['label', 'wanted'],
      ],
    ],
    [
      'dlqIds, whatever else is given',
      () => [
        ['dlqIds', wanted.dlqId],
        ['label', 'none'],
      ],
    ],
  ])('%s selects the one run that has it', async (_name, query) => {
    const { messages } = await list([['workflowUrl', inbox.url], ...query()]);
    expect(messages.map(({ dlqId }) => dlqId)).toEqual([wanted.dlqId]);
  });

  it('workflowUrl selects runs by the whole URL, fromDate and toDate by the time of the failure', async () => {
    const all = await list([['workflowUrl', inbox.url]]);
    expect(all.messages).toHaveLength(3);
    expect((await list([['workflowUrl', `${inbox.url}x`]])).messages).toEqual([]);
    expect((await list([['workflowUrl', inbox.url.slice(0, -1)]])).messages).toEqual([]);
    const tomorrow = String(Date.now() + 86_400_000);
    expect(
      (
        await list([
          ['workflowUrl', inbox.url],
          ['fromDate', tomorrow],
        ])
      ).messages,
    ).toEqual([]);
    expect(
      (
        await list([
          ['workflowUrl', inbox.url],
          ['toDate', tomorrow],
        ])
      ).messages,
    ).toHaveLength(3);
    const first = await list([
      ['workflowUrl', inbox.url],
      ['count', '2'],
    ]);
    expect(first.messages).toHaveLength(2);
    const second = await list([
      ['workflowUrl', inbox.url],
      ['cursor', first.cursor ?? ''],
    ]);
    expect([...first.messages, ...second.messages]).toEqual(all.messages);
  });

  it.each<[string, Query]>([
    ['empty', [['label', '']]],
    ['unknown', [['colour', 'red']]],
    ['a state that is none', [['failureFunctionState', 'DONE']]],
    ['a page that is too long', [['count', '101']]],
  ])('that is %s is refused', async (_name, query) => {
    await expect(list(query)).rejects.toMatchObject({ status: 400 });
  });
});
