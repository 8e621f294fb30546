import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { api } from '../support/api.ts';
import { callbackOf } from '../support/callbacks.ts';
import { getInAnyState } from '../support/listedMessages.ts';
import { call, messageIdOf } from '../support/publish.ts';
import { startReceiver, type Receiver } from '../support/receiver.ts';
import { sizeOf } from '../support/sample.ts';

/** Completions race each other and the end of their attempt's time, over queues, keys and callbacks. */
describe('completions at the moment at which the time of their attempt ends', () => {
  let receiver: Receiver;
  beforeAll(async () => {
    receiver = await startReceiver();
  });
  afterAll(() => receiver.close());

  const deferredMs = 2_000;
  const count = sizeOf({ ordinary: 40, thorough: 400 });
  const cases = Array.from({ length: count }, (_, index) => ({
    name: `race ${index}`.replace(' ', '-'),
    // From 100 ms before the end of the time to 100 ms after it.
    afterMs: deferredMs - 100 + (index * 200) / count,
    times: 1 + (index % 8),
    status: index % 3 === 0 ? 200 : 500,
  }));

  it('are continued once, whichever wins', async () => {
    const raced = await Promise.all(
      cases.map(async ({ name, afterMs, times, status }) => {
        const inbox = receiver.inbox((delivery, response) => {
          response.writeHead(delivery.headers['svc-retried'] === '0' ? 202 : 200).end();
        });
        const callbacks = receiver.inbox();
        const headers = {
          'Svc-Deferred': `${deferredMs / 1_000}s`,
          'Svc-Retries': '1',
          'Svc-Retry-Delay': '0',
          'Svc-Callback': callbacks.url,
          'Svc-Flow-Control-Key': name,
          'Svc-Flow-Control-Value': 'parallelism=1',
        };
        const answer = await api('POST', `/v2/enqueue/${name}/${inbox.url}`, { headers, body: {} });
        const messageId = messageIdOf(answer);
        const [first] = await inbox.received(1);
        const [path = ''] = /\/v2\/complete\/.*$/.exec(first?.headers['svc-complete-url'] ?? '') ?? [];
        await setTimeout(Math.max(0, (first?.at ?? 0) + afterMs - Date.now()));
        const answers = await Promise.all(
          Array.from({ length: times }, () =>
            call(path, { method: 'POST', body: JSON.stringify({ status, body: '東京' }) }),
          ),
        );
        return { name, messageId, inbox, callbacks, headers, answers, status };
      }),
    );
    let completed = 0;
    for (const { name, messageId, inbox, callbacks, headers, answers, status } of raced) {
      // The next message of the queue and the key starts only when nothing of this one is left.
      const next = receiver.inbox();
      await api('POST', `/v2/enqueue/${name}/${next.url}`, {
        headers: { ...headers, 'Svc-Retries': '0' },
        body: {},
      });
      await next.received(1);
      const isCompleted = answers.some((answer) => answer.status === 200);
      // All completions of an attempt get the same answer.
      expect(new Set(answers.map((answer) => answer.status)), name).toEqual(
        new Set([isCompleted ? 200 : 410]),
      );
      completed += isCompleted ? 1 : 0;
      const attempts = isCompleted && status === 200 ? 1 : 2;
      const own = callbacks.deliveries
        .map(callbackOf)
        .filter(({ sourceMessageId }) => sourceMessageId === messageId);
      expect(own.map((one) => one.retried).toSorted(), name).toEqual([0, 1].slice(0, attempts));
      expect(own.find(({ retried }) => retried === 0)?.status, name).toBe(isCompleted ? status : 0);
      expect(inbox.deliveries, name).toHaveLength(attempts);
      expect((await getInAnyState(messageId)).state).toBe('DELIVERED');
    }
    // Both must have been first sometimes, or this test has proved nothing.
    expect(completed).toBeGreaterThan(0);
    expect(completed).toBeLessThan(count);
  });
});
