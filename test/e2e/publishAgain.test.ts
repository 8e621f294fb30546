import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { makeAccount, publishAs } from '../support/accounts.ts';
import { api, deadLettered, logged, ok, publishDelayed, query, unique } from '../support/api.ts';
import { getInAnyState, listedMessages, untilState } from '../support/listedMessages.ts';
import { messageIdOf, publish, type Answer } from '../support/publish.ts';
import type { Inbox } from '../support/receiver.ts';
import { useReceiver } from '../support/useReceiver.ts';
import { expectRefusal } from '../support/refusals.ts';

const receiver = useReceiver();

const askAgain = (messageId: string, headers: Readonly<Record<string, string>> = {}, body?: unknown) =>
  api('POST', `/v2/messages/${messageId}/publish`, { headers, body });

const again = async (messageId: string, headers?: Readonly<Record<string, string>>): Promise<string> =>
  messageIdOf(await askAgain(messageId, headers));

/** Turns the answer of a republish into that of a publish. */
async function ok201(answer: Promise<Answer>): Promise<Answer> {
  return { ...(await answer), status: 200, json: await ok(answer, 201) };
}

async function lastOf(inbox: Inbox, count: number) {
  const last = (await inbox.received(count)).at(-1);
  if (last === undefined) throw new Error('Nothing was delivered.');
  return last;
}

describe('a message that is published again', () => {
  it.each([
    ['in its row', 100],
    ['in the bucket', 60_000],
  ])('arrives like the first one, with a new id and its body %s', async (_where, size) => {
    const inbox = receiver.inbox();
    const body = new Uint8Array(size).map((_, index) => index % 251);
    const url = `${inbox.url}/a?b=c`;
    const first = messageIdOf(
      await publish(encodeURIComponent(url), {
        body,
        headers: {
          'Content-Type': 'application/octet-stream',
          'Svc-Method': 'PUT',
          'Svc-Forward-X-Tenant': 'acme',
          'Svc-Timeout': '9s',
          'Svc-Retries': '1',
          'Svc-Label': 'first,second',
        },
      }),
    );
    const one = await lastOf(inbox, 1);
    const before = await untilState(first, 'DELIVERED');
    const second = await again(first);
    expect(second).not.toBe(first);
    const other = await lastOf(inbox, 2);
    expect(other).toMatchObject({ method: 'PUT', target: one.target });
    expect(other.body.equals(body)).toBe(true);
    expect(other.headers).toMatchObject({
      'content-type': 'application/octet-stream',
      'x-tenant': 'acme',
      'svc-message-id': second,
      'svc-origin-message-id': first,
    });
    expect(one.headers).not.toHaveProperty('svc-origin-message-id');
    const same = { url, method: 'PUT', timeout: 9, maxRetries: 1, labels: ['first', 'second'] };
    expect(await untilState(second, 'DELIVERED')).toMatchObject({ ...same, retriedFrom: first });
    expect(await getInAnyState(first)).toEqual({ ...before, retriedAs: second });
  });

  it('names the first message to its receiver, and the one before in its log, however often it is published again', async () => {
    const inbox = receiver.inbox((_delivery, response, before) =>
      response.writeHead(before === 0 ? 500 : 200).end(),
    );
    const first = messageIdOf(await publish(inbox.url, { headers: { 'Svc-Retries': '0' } }));
    const [dead] = await deadLettered({ messageId: first }, 1);
    const second = messageIdOf(await ok201(api('POST', `/v2/dlq/retry/${dead?.dlqId ?? ''}`)));
    await untilState(second, 'DELIVERED');
    const third = await again(second);
    const [, retried, published] = await inbox.received(3);
    for (const delivery of [retried, published]) {
      expect(delivery?.headers['svc-origin-message-id']).toBe(first);
    }
    await untilState(third, 'DELIVERED');
    for (const [messageId, before] of [
      [second, first],
      [third, second],
    ] as const) {
      const entries = await logged({ messageId }, 3);
      expect(entries.map(({ state, retriedFrom }) => [state, retriedFrom])).toEqual([
        ['DELIVERED', before],
        ['ACTIVE', before],
        ['CREATED', before],
      ]);
    }
  });

  it('may wait, be cancelled or have failed, and does not change', async () => {
    const inbox = receiver.inbox((_delivery, response, before) =>
      response.writeHead(before === 0 ? 500 : 200).end(),
    );
    const failed = messageIdOf(await publish(inbox.url, { headers: { 'Svc-Retries': '0' } }));
    await untilState(failed, 'FAILED');
    const cancelled = await publishDelayed(inbox.url);
    await ok(api('DELETE', `/v2/messages/${cancelled}`));
    const waiting = await publishDelayed(inbox.url);
    // The delay of the first is not repeated.
    for (const messageId of [failed, cancelled, waiting])
      await untilState(await again(messageId), 'DELIVERED');
    await untilState(failed, 'FAILED');
    await untilState(cancelled, 'CANCELED');
    await untilState(waiting, 'CREATED');
    await ok(api('DELETE', `/v2/messages/${waiting}`));
  });

  it('has the request’s settings instead of its own', async () => {
    const messageId = await publishDelayed(receiver.origin, { 'Svc-Label': 'mine', 'Svc-Retries': '1' });
    const callbacks = receiver.inbox();
    const changed = await getInAnyState(
      await again(messageId, {
        'Svc-Delay': '10m',
        'Svc-Retries': '2',
        'Svc-Method': 'PATCH',
        'Svc-Callback': callbacks.url,
      }),
    );
    expect(changed).toMatchObject({
      state: 'CREATED',
      maxRetries: 2,
      method: 'PATCH',
      callback: callbacks.url,
      label: 'mine',
      body: 'later',
    });
    expect(Number(changed['notBefore'])).toBeGreaterThan(Date.now() + 300_000);
    await ok(api('DELETE', `/v2/messages${query({ messageIds: [messageId, changed.messageId] })}`));
  });

  it('of a queue passes the queue again, which is created if it is missing', async () => {
    const queueName = unique('queue');
    const inbox = receiver.inbox();
    const first = messageIdOf(await api('POST', `/v2/enqueue/${queueName}/${inbox.url}`));
    await untilState(first, 'DELIVERED');
    await ok(api('DELETE', `/v2/queues/${queueName}`));
    await untilState(await again(first), 'DELIVERED');
    await ok(api('POST', `/v2/queues/${queueName}/pause`));
    const held = await again(first);
    expect((await listedMessages({ queueName }, 1)).map(({ messageId }) => messageId)).toEqual([held]);
    await ok(api('POST', `/v2/queues/${queueName}/resume`));
    await untilState(held, 'DELIVERED');
    expect(inbox.deliveries).toHaveLength(3);
  });
});

describe('a message that is not published again', () => {
  it('belongs to a workflow’s run, which makes its own deliveries', async () => {
    const endpoint = receiver.inbox();
    const started = await ok(
      api('POST', `/v2/trigger/${endpoint.url}`, { headers: { 'Svc-Delay': '10m' }, body: { order: 1 } }),
    );
    const { workflowRunId } = z.looseObject({ workflowRunId: z.string() }).parse(started);
    const [of] = await listedMessages({ url: endpoint.url }, 1);
    expect(of).toMatchObject({ state: 'CREATED', workflowRunId });
    await expectRefusal(
      askAgain(of?.messageId ?? ''),
      400,
      `The message "${of?.messageId}" belongs to the run "${workflowRunId}"; start another run, or resume or restart this one once it has failed.`,
    );
    expect(await listedMessages({ url: endpoint.url, state: 'ALL' }, 1)).toHaveLength(1);
    await ok(api('DELETE', `/v2/workflows/runs/${workflowRunId}`));
  });

  it('belongs to another account', async () => {
    const account = await makeAccount();
    const theirs = messageIdOf(await publishAs(account, receiver.inbox().url));
    expect((await askAgain(theirs)).status).toBe(404);
  });

  it('would exceed an account limit', async () => {
    const account = await makeAccount({ max_requests_per_day: 1, max_requests_per_day_hard: 1 });
    const { token } = account;
    const inbox = receiver.inbox();
    const first = messageIdOf(await publishAs(account, inbox.url, { headers: { 'Svc-Delay': '10m' } }));
    await expectRefusal(
      api('POST', `/v2/messages/${first}/publish`, { token }),
      429,
      /^The account's limit max_requests_per_day_hard is 1/,
    );
    expect(await ok(api('DELETE', '/v2/messages', { token }))).toEqual({ cancelled: 1 });
  });
});
