import { describe, expect, it } from 'vitest';
import { api, deadLettered, getMessage, logged, ok, publishDelayed, unique } from '../support/api.ts';
import { publish } from '../support/publish.ts';
import { useReceiver } from '../support/useReceiver.ts';
import { expectRefusal } from '../support/refusals.ts';

const receiver = useReceiver();

const headersOf = (key: string, value: string) => ({
  'Svc-Flow-Control-Key': key,
  'Svc-Flow-Control-Value': value,
});

describe('flow control', () => {
  it.each<[value: string, shown: Record<string, number>]>([
    ['rate=10', { rate: 10, ratePerSecond: 10, period: 1 }],
    ['parallelism=5, rate=10, period=1m', { parallelism: 5, rate: 10, ratePerSecond: 10, period: 60 }],
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

  it.each(['Callback', 'Failure-Callback'])('of a %s is checked like a message’s', async (scope) => {
    const headers = (value: string) => ({
      [`Svc-${scope}`]: receiver.origin,
      [`Svc-${scope}-Flow-Control-Key`]: 'key',
      [`Svc-${scope}-Flow-Control-Value`]: value,
    });
    const field = `Svc-${scope}-Flow-Control-Value`;
    await expectRefusal(
      publish(receiver.origin, { headers: headers('rate=0') }),
      400,
      new RegExp(`^The rate of ${field} is "0"; allowed`),
    );
    await expectRefusal(
      publish(receiver.origin, { headers: headers('parallelism=101') }),
      412,
      `${field} asks for a parallelism of 101, but the account's limit max_parallelism is 100.`,
    );
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
    for (const answer of answers) await expectRefusal(answer, 412, says);
    const items = [{ destination: receiver.origin, headers }];
    expect(await ok(api('POST', '/v2/batch', { body: items }))).toEqual([
      { status: 412, error: `[0].headers.${says}`, code: 'parallelism_over_limit' },
    ]);
  });
});
