import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { api, deadLettered, ok, publishDelayed, unique } from '../support/api.ts';
import { checkAnswer } from '../support/contract.ts';
import { eventually } from '../support/eventually.ts';
import { getInAnyState, listedMessages } from '../support/listedMessages.ts';
import { errorOf, messageIdOf, publish } from '../support/publish.ts';
import { useReceiver } from '../support/useReceiver.ts';

const receiver = useReceiver();

const change = async (messageId: string, body: unknown) => {
  const answer = await api('PATCH', `/v2/messages/${messageId}`, { body });
  checkAnswer('PATCH /v2/messages/{messageId}', answer);
  return answer;
};

describe('a waiting message', () => {
  it('is delivered earlier, with its changed settings', async () => {
    const inbox = receiver.inbox();
    const messageId = await publishDelayed(inbox.url, {
      'Svc-Delay': '2h',
      'Svc-Forward-X-Tenant': 'old',
      'Svc-Forward-X-Plan': 'old',
      'Svc-Label': 'old',
    });
    const changedAt = Date.now();
    const answer = await change(messageId, {
      delay: '2s',
      retries: 1,
      timeout: '20s',
      label: ['new', 'other'],
      headers: { 'Svc-Forward-X-Tenant': 'new', 'Svc-Forward-X-Plan': '' },
    });
    expect(answer).toMatchObject({ status: 200, json: { messageId } });
    expect(await getInAnyState(messageId)).toMatchObject({
      maxRetries: 1,
      timeout: 20,
      labels: ['new', 'other'],
    });
    const [delivery] = await inbox.received(1);
    expect(delivery?.at).toBeGreaterThanOrEqual(changedAt + 2_000);
    expect(delivery?.headers).toMatchObject({ 'x-tenant': 'new', 'svc-message-id': messageId });
    expect(delivery?.headers).not.toHaveProperty('x-plan');
    expect(delivery?.body.toString()).toBe('later');
  });

  it('is retried earlier', async () => {
    const inbox = receiver.inbox((_delivery, response, before) =>
      response.writeHead(before === 0 ? 500 : 200).end(),
    );
    const headers = { 'Svc-Retry-Delay': '3600000', 'Svc-Retries': '1' };
    const messageId = messageIdOf(await publish(inbox.url, { headers }));
    await listedMessages({ state: 'RETRY', url: inbox.url }, 1);
    const { json } = await change(messageId, { delay: '1s' });
    expect(await ok(api('GET', `/v2/messages/${messageId}`))).toMatchObject(json as object);
    const [, second] = await inbox.received(2);
    expect(second?.headers['svc-retried']).toBe('1');
  });

  it.each([
    [{ delay: '5 minutes' }, 'delay is "5 minutes"'],
    [{ retries: 'many' }, 'retries is "many"; allowed is a whole number from 0 to'],
    [{ notBefore: -1 }, 'notBefore is "-1"; allowed is a Unix time in whole seconds.'],
    [{ method: 'PUT' }, 'method: Invalid input; allowed is {"delay"?'],
    [{ headers: { 'Svc-Method': 'PUT' } }, '"Svc-Method" cannot be changed; allowed are delay'],
    [{}, 'The request changes nothing; allowed is {"delay"?'],
  ])('refuses the change %j and stays unchanged', async (body, error) => {
    const messageId = await publishDelayed('https://example.com/later');
    const before = await getInAnyState(messageId);
    const answer = await change(messageId, body);
    expect(answer.status).toBe(400);
    expect(errorOf(answer)).toContain(error);
    expect(await getInAnyState(messageId)).toEqual(before);
  });
});

it('A message in the line of a paused queue is changed, and keeps its place', async () => {
  const [queueName, inbox] = [unique('queue'), receiver.inbox()];
  await api('POST', '/v2/queues', { body: { queueName, parallelism: 1 } });
  await api('POST', `/v2/queues/${queueName}/pause`);
  const ids: string[] = [];
  for (const body of ['first', 'second'])
    ids.push(messageIdOf(await api('POST', `/v2/enqueue/${queueName}/${inbox.url}`, { body })));
  // The first message is in the line once the queue counts it.
  await eventually(
    async () => (await api('GET', `/v2/queues/${queueName}`)).json,
    (queue) => z.object({ lag: z.number() }).parse(queue).lag === 2,
  );
  const changed = await change(ids[0] ?? '', { headers: { 'Svc-Forward-X-Tenant': 'acme' } });
  expect(changed.status).toBe(200);
  await api('POST', `/v2/queues/${queueName}/resume`);
  const deliveries = await inbox.received(2);
  expect(deliveries.map(({ headers }) => [headers['svc-message-id'], headers['x-tenant']])).toEqual([
    [ids[0], 'acme'],
    [ids[1], undefined],
  ]);
});

describe('a message that can no longer be changed', () => {
  it('is in the middle of its attempt', async () => {
    const inbox = receiver.inbox(() => undefined);
    const messageId = messageIdOf(
      await publish(inbox.url, { headers: { 'Svc-Timeout': '2s', 'Svc-Retries': '0' } }),
    );
    await inbox.received(1);
    const answer = await change(messageId, { retries: 1 });
    expect(answer.status).toBe(409);
    expect(errorOf(answer)).toMatch(
      /is due at .*; it can be changed until 5 seconds before that, or while it waits in a line\.$/,
    );
    await deadLettered({ messageId }, 1);
    expect((await change(messageId, { retries: 1 })).status).toBe(404);
  });

  it('does not exist', async () => {
    expect((await change('msg_unknown', { delay: '1m' })).status).toBe(404);
  });
});
