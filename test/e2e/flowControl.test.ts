import { describe, expect, it } from 'vitest';
import { api, deadLettered, getMessage, logged, ok, publishDelayed, unique } from '../support/api.ts';
import { makeGroup, setDefaults } from '../support/groups.ts';
import { errorOf, publish } from '../support/publish.ts';
import { useReceiver } from '../support/useReceiver.ts';

const receiver = useReceiver();

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

  it('is shown on a dead letter and kept by its retry, unless the retry has another', async () => {
    const inbox = receiver.inbox((_delivery, response) => response.writeHead(500).end());
    const flowControlKey = unique('flow');
    await publish(inbox.url, {
      headers: { ...headersOf(flowControlKey, 'parallelism=3'), 'Svc-Retries': '0' },
    });
    const [entry] = await deadLettered({ flowControlKey }, 1);
    expect(entry).toMatchObject({ flowControlKey, parallelism: 3 });
    await ok(api('POST', `/v2/dlq/retry/${entry?.dlqId ?? ''}`), 201);
    await logged({ flowControlKey, state: 'FAILED' }, 2);
    const [again] = await deadLettered({ flowControlKey }, 1);
    const other = unique('flow');
    await ok(
      api('POST', `/v2/dlq/retry/${again?.dlqId ?? ''}`, { headers: headersOf(other, 'rate=2') }),
      201,
    );
    const [last] = await deadLettered({ flowControlKey: other }, 1);
    expect(last).toMatchObject({ flowControlKey: other, rate: 2 });
  });

  it('can be a group’s default', async () => {
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
    'parallelism=1,parallelism=2',
    'period=1m',
    'rate=1,speed=2',
    'rate=1,Rate=2',
    'rate=1;parallelism=2',
  ])('of "%s" is refused', async (value) => {
    const answer = await publish(receiver.origin, { headers: headersOf('key', value) });
    expect([answer.status, errorOf(answer)]).toEqual([
      400,
      expect.stringMatching(/^Svc-Flow-Control-Value is .*allowed is parallelism=<n>, rate=<n>/),
    ]);
  });

  it.each<[value: string, says: RegExp]>([
    [
      'parallelism=0',
      /^The parallelism of Svc-Flow-Control-Value is "0"; allowed is a whole number from 1 to/,
    ],
    ['parallelism=-1', /^The parallelism of Svc-Flow-Control-Value is "-1"; allowed/],
    ['parallelism=1.5', /^The parallelism of Svc-Flow-Control-Value is "1\.5"; allowed/],
    ['parallelism=many', /^The parallelism of Svc-Flow-Control-Value is "many"; allowed/],
    [
      'rate=0',
      /^The rate of Svc-Flow-Control-Value is "0"; allowed is a whole number from 1 to 1000000000\.$/,
    ],
    ['rate=99999999999', /^The rate of Svc-Flow-Control-Value is "99999999999"; allowed/],
    [
      'rate=1,period=0',
      /^The period of Svc-Flow-Control-Value is "0"; allowed is 1 second to 604800 seconds/,
    ],
    ['rate=1,period=0s', /^The period of Svc-Flow-Control-Value is "0s"; allowed is 1 second/],
    ['rate=1,period=604801', /^The period of Svc-Flow-Control-Value is "604801"; allowed .* a week\.$/],
    ['rate=1,period=8d', /^The period of Svc-Flow-Control-Value is "8d"; allowed .* a week\.$/],
    [
      'rate=1,period=soon',
      /^The period of Svc-Flow-Control-Value is "soon"; allowed is a whole number and a unit/,
    ],
  ])('of "%s" is refused, and the number named', async (value, says) => {
    const answer = await publish(receiver.origin, { headers: headersOf('key', value) });
    expect([answer.status, errorOf(answer)]).toEqual([400, expect.stringMatching(says)]);
  });

  it.each(['Callback', 'Failure-Callback'])('of a %s is checked like a message’s', async (scope) => {
    const headers = (value: string) => ({
      [`Svc-${scope}`]: receiver.origin,
      [`Svc-${scope}-Flow-Control-Key`]: 'key',
      [`Svc-${scope}-Flow-Control-Value`]: value,
    });
    const field = `Svc-${scope}-Flow-Control-Value`;
    const refused = await publish(receiver.origin, { headers: headers('rate=0') });
    expect([refused.status, errorOf(refused)]).toEqual([
      400,
      expect.stringMatching(new RegExp(`^The rate of ${field} is "0"; allowed`)),
    ]);
    const tooWide = await publish(receiver.origin, { headers: headers('parallelism=101') });
    expect([tooWide.status, errorOf(tooWide)]).toEqual([
      412,
      `${field} asks for a parallelism of 101, but the account's limit max_parallelism is 100.`,
    ]);
  });

  it('above the account’s limit is refused for an enqueue, an item of a batch and a schedule', async () => {
    const headers = headersOf('key', 'parallelism=101');
    const says =
      "Svc-Flow-Control-Value asks for a parallelism of 101, but the account's limit max_parallelism is 100.";
    const answers = [
      await api('POST', `/v2/enqueue/${unique('queue')}/${receiver.origin}`, { headers }),
      await api('POST', `/v2/schedules/${receiver.origin}`, {
        headers: { ...headers, 'Svc-Cron': '0 0 29 2 *' },
      }),
    ];
    for (const answer of answers) expect([answer.status, errorOf(answer)]).toEqual([412, says]);
    const items = [{ destination: receiver.origin, headers }];
    expect(await ok(api('POST', '/v2/batch', { body: items }))).toEqual([
      { status: 412, error: `[0].headers.${says}`, code: 'parallelism_over_limit' },
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
      expect.stringMatching(/^Svc-Flow-Control-Key is .*; allowed are 1 to 256 characters of Unicode\.$/),
    ]);
  });
});
