import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { api, buried, getMessage, logged, ok, publishDelayed, unique } from '../support/api.ts';
import { makeGroup, setDefaults } from '../support/groups.ts';
import { errorOf, publish } from '../support/publish.ts';
import { startReceiver, type Receiver } from '../support/receiver.ts';

let receiver: Receiver;
beforeAll(async () => {
  receiver = await startReceiver();
});
afterAll(() => receiver.close());

const headersOf = (key: string, value: string) => ({
  'Svc-Flow-Control-Key': key,
  'Svc-Flow-Control-Value': value,
});

describe('flow control', () => {
  it.each<[value: string, shown: Record<string, number>]>([
    ['parallelism=5', { parallelism: 5 }],
    ['rate=10', { rate: 10, ratePerSecond: 10, period: 1 }],
    ['parallelism=5, rate=10, period=1m', { parallelism: 5, rate: 10, ratePerSecond: 10, period: 60 }],
    ['rate=10,period=30', { rate: 10, period: 30 }],
    ['ratePerSecond=7', { rate: 7, period: 1 }],
  ])('of %s is shown on its message', async (value, shown) => {
    const flowControlKey = unique('flow');
    const messageId = await publishDelayed(receiver.origin, headersOf(flowControlKey, value));
    const message = await getMessage(messageId);
    expect(message).toMatchObject({ flowControlKey, ...shown });
    if (!value.includes('rate')) expect(message).not.toHaveProperty('rate');
    if (!value.includes('parallelism')) expect(message).not.toHaveProperty('parallelism');
    await ok(api('DELETE', `/v2/messages/${messageId}`));
  });

  it('is shown on a dead letter and kept by its retry, unless that has another', async () => {
    const inbox = receiver.inbox((_delivery, response) => response.writeHead(500).end());
    const flowControlKey = unique('flow');
    await publish(inbox.url, {
      headers: { ...headersOf(flowControlKey, 'parallelism=3'), 'Svc-Retries': '0' },
    });
    const [entry] = await buried({ flowControlKey }, 1);
    expect(entry).toMatchObject({ flowControlKey, parallelism: 3 });
    await ok(api('POST', `/v2/dlq/retry/${entry?.dlqId ?? ''}`), 201);
    await logged({ flowControlKey, state: 'FAILED' }, 2);
    const [again] = await buried({ flowControlKey }, 1);
    const other = unique('flow');
    await ok(
      api('POST', `/v2/dlq/retry/${again?.dlqId ?? ''}`, { headers: headersOf(other, 'rate=2') }),
      201,
    );
    const [last] = await buried({ flowControlKey: other }, 1);
    expect(last).toMatchObject({ flowControlKey: other, rate: 2 });
  });

  it('can be a default of a group', async () => {
    const flowControlKey = unique('flow');
    const name = await makeGroup([{ url: receiver.inbox().url }]);
    await setDefaults(name, headersOf(flowControlKey, 'parallelism=1'));
    await publish(name);
    const [entry] = await logged({ flowControlKey, state: 'DELIVERED' }, 1);
    expect(entry).toMatchObject({ topicName: name, flowControlKey });
  });

  it.each([
    '',
    'parallelism',
    'parallelism=0',
    'parallelism=-1',
    'parallelism=1.5',
    'parallelism=many',
    'parallelism=1,parallelism=2',
    'rate=0',
    'rate=99999999999',
    'period=1m',
    'rate=1,period=0',
    'rate=1,period=0s',
    'rate=1,speed=2',
    'rate=1;parallelism=2',
  ])('of "%s" is refused', async (value) => {
    const answer = await publish(receiver.origin, { headers: headersOf('key', value) });
    expect([answer.status, errorOf(answer)]).toEqual([
      400,
      expect.stringMatching(/^Svc-Flow-Control-Value is .*allowed is parallelism=<n>, rate=<n>/),
    ]);
  });

  it('with an unfit period names what is allowed', async () => {
    const answer = await publish(receiver.origin, { headers: headersOf('key', 'rate=1,period=soon') });
    expect([answer.status, errorOf(answer)]).toEqual([
      400,
      expect.stringMatching(/^Svc-Flow-Control-Value is/),
    ]);
  });

  it.each([' ', 'x'.repeat(257)])('with the key "%s" is refused', async (key) => {
    const answer = await publish(receiver.origin, {
      query: new URLSearchParams({
        'svc-flow-control-key': key,
        'svc-flow-control-value': 'rate=1',
      }).toString(),
    });
    expect([answer.status, errorOf(answer)]).toEqual([
      400,
      expect.stringMatching(/^Svc-Flow-Control-Key is .*; allowed are 1 to 256 characters\.$/),
    ]);
  });
});
