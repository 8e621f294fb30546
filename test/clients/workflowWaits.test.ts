import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { unique } from '../support/api.ts';
import { eventually } from '../support/eventually.ts';
import { service } from '../support/service.ts';
import { startWorkflowApp, type WorkflowApp } from '../support/workflowApp.ts';

let app: WorkflowApp;
beforeAll(async () => {
  app = await startWorkflowApp();
});
afterAll(() => app.close());

const waitersOf = (eventId: string) =>
  eventually(
    () => app.client.getWaiters({ eventId }),
    (waiters) => waiters.length > 0,
  );

describe('a wait for an event', () => {
  const waiting = (eventId: string, timeout: string): string =>
    app.serve(async (context) => {
      const { eventData, timeout: isOver } = await context.waitForEvent('wait', eventId, { timeout } as {
        timeout: '1h';
      });
      return { eventData, isOver };
    });

  it('ends with the event, and lists the waiting run before that', async () => {
    const eventId = unique('event');
    const { workflowRunId } = await app.client.trigger({ url: waiting(eventId, '1h') });
    const [waiter] = await waitersOf(eventId);
    expect(waiter?.url).toMatch(/\/flows\//);
    const during = await app.logged(workflowRunId, ({ steps }) => steps.length > 1);
    expect(during.steps[1]?.steps[0]).toMatchObject({
      stepType: 'Wait',
      state: 'STEP_PROGRESS',
      waitEventId: eventId,
      waitTimeoutDuration: '1h',
    });
    const answer = await app.client.notify({ eventId, eventData: { paid: true } });
    expect(answer).toMatchObject([{ waiter: { url: waiter?.url } }]);
    const run = await app.logged(workflowRunId);
    expect(run.workflowRunResponse).toBe('{"eventData":{"paid":true},"isOver":false}');
    expect(await app.client.getWaiters({ eventId })).toEqual([]);
  });

  it('ends at its timeout', async () => {
    const { workflowRunId } = await app.client.trigger({ url: waiting(unique('event'), '1s') });
    const run = await app.logged(workflowRunId);
    expect(run.workflowRunResponse).toBe('{"isOver":true}');
    expect(run.steps[1]?.steps[0]).toMatchObject({
      stepType: 'Wait',
      state: 'STEP_SUCCESS',
      waitTimeout: true,
    });
  });

  it('gets an event of its run that was sent before', async () => {
    const eventId = unique('event');
    const url = app.serve(async (context) => {
      await context.sleep('nap', 2);
      const { eventData } = await context.waitForEvent('wait', eventId);
      return eventData;
    });
    const { workflowRunId } = await app.client.trigger({ url });
    await app.client.notify({ eventId, eventData: 'early', workflowRunId });
    const run = await app.logged(workflowRunId);
    expect([run.workflowState, run.workflowRunResponse]).toEqual(['RUN_SUCCESS', '"early"']);
  });

  it('of several runs ends with one event for all of them, and an event for other ids changes nothing', async () => {
    const eventId = unique('event');
    const url = waiting(eventId, '1h');
    const runs = await Promise.all([1, 2, 3].map(() => app.client.trigger({ url })));
    await eventually(
      () => app.client.getWaiters({ eventId }),
      ({ length }) => length === 3,
    );
    expect(await app.client.notify({ eventId })).toHaveLength(3);
    for (const { workflowRunId } of runs) await app.logged(workflowRunId);
    expect(await app.client.notify({ eventId })).toEqual([]);
  });

  it('is ended by another run’s step', async () => {
    const eventId = unique('event');
    const { workflowRunId } = await app.client.trigger({ url: waiting(eventId, '1h') });
    await waitersOf(eventId);
    const notifying = app.serve(async (context) => {
      const { notifyResponse } = await context.notify('tell', eventId, { from: 'other' });
      return notifyResponse.length;
    });
    const other = await app.client.trigger({ url: notifying });
    expect((await app.logged(other.workflowRunId)).workflowRunResponse).toBe('1');
    expect((await app.logged(workflowRunId)).workflowRunResponse).toBe(
      '{"eventData":{"from":"other"},"isOver":false}',
    );
  });
});

describe('a webhook', () => {
  it('delivers a request to its run unchanged', async () => {
    const urls: string[] = [];
    const url = app.serve(async (context) => {
      const webhook = await context.createWebhook('make');
      urls.push(webhook.webhookUrl);
      const { request, timeout } = await context.waitForWebhook('wait', webhook, '1h');
      return {
        timeout,
        method: request?.method,
        url: request?.url,
        body: await request?.text(),
        header: request?.headers.get('x-sent'),
      };
    });
    const { workflowRunId } = await app.client.trigger({ url });
    const [hook = ''] = await eventually(
      () => Promise.resolve(urls),
      ({ length }) => length > 0,
    );
    expect(hook.startsWith(`${service.url}/v2/workflows/hooks/`)).toBe(true);
    const asked = `${hook}?a=%20b`;
    const init = { method: 'PUT', headers: { 'x-sent': 'by the sender' }, body: 'paid' };
    const response = await fetch(asked, init);
    expect([response.status, await response.json()]).toEqual([200, {}]);
    const run = await app.logged(workflowRunId);
    const brought = JSON.parse(run.workflowRunResponse ?? '') as { url: string };
    // The emulator’s events do not contain the host and protocol of the gateway’s request.
    const path = asked.slice(service.url.length);
    expect(brought).toEqual({
      timeout: false,
      method: 'PUT',
      url: service.target === 'local' ? asked : (expect.stringContaining(path) as string),
      body: 'paid',
      header: 'by the sender',
    });
    expect((await fetch(asked, init)).status).toBe(404);
  });
});
