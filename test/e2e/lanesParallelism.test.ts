import { describe, expect, it } from 'vitest';
import { changeAccount, makeAccount } from '../support/accounts.ts';
import { unique } from '../support/api.ts';
import {
  answerTogether,
  enqueue,
  many,
  mostOpen,
  numbersOf,
  putQueue,
  send,
  sendFrom,
  underKey,
  upTo,
} from '../support/lanes.ts';
import { service } from '../support/publish.ts';
import type { Delivery } from '../support/receiver.ts';
import { useReceiver } from '../support/useReceiver.ts';

/** Counts simultaneous attempts at the receiver. */

const receiver = useReceiver();

/** An emulator starts a process for each parallel request. */
const senders = service.target === 'local' ? 5 : 2;

/** Expects each message once, and exactly the allowed number in flight. */
function expectAll(deliveries: readonly Delivery[], count: number, parallelism: number): void {
  expect([...numbersOf(deliveries)].sort((one, other) => one - other)).toEqual(upTo(count));
  expect(mostOpen(deliveries)).toBe(parallelism);
}

describe('a queue', () => {
  it('has exactly as many in flight as its parallelism', async () => {
    const parallelism = 2;
    const inbox = receiver.inbox(answerTogether(parallelism));
    const queue = unique('queue');
    await putQueue(queue, { parallelism });
    await sendFrom(senders, many, (number) => enqueue(queue, inbox.url, { body: String(number) }));
    expectAll(await inbox.received(many), many, parallelism);
  });
});

describe('a flow-control key', () => {
  it('has exactly as many in flight as its parallelism', async () => {
    const parallelism = 3;
    const inbox = receiver.inbox(answerTogether(parallelism));
    const headers = underKey(unique('key'), `parallelism=${parallelism}`);
    await sendFrom(senders, many, (number) => send(inbox.url, { body: String(number), headers }));
    expectAll(await inbox.received(many), many, parallelism);
  });

  it('limits messages to different destinations through different queues together', async () => {
    const inbox = receiver.inbox(answerTogether(2));
    const headers = underKey(unique('key'), 'parallelism=2');
    const queues = [unique('queue'), unique('queue')];
    for (const queue of queues) await putQueue(queue, { parallelism: 3 });
    await sendFrom(senders, many, (number) => {
      const init = { body: String(number), headers };
      const url = `${inbox.url}/${number % 3}`;
      const queue = queues[number % 3];
      return queue === undefined ? send(url, init) : enqueue(queue, url, init);
    });
    expectAll(await inbox.received(many), many, 2);
  });

  it('frees its slot between two attempts', async () => {
    const failing = receiver.inbox((_delivery, response, before) =>
      response.writeHead(before === 0 ? 500 : 200).end(),
    );
    const inbox = receiver.inbox();
    const headers = underKey(unique('key'), 'parallelism=1');
    const retried = { ...headers, 'Svc-Retries': '1', 'Svc-Retry-Delay': '600000' };
    await send(failing.url, { headers: retried });
    await failing.received(1);
    await send(inbox.url, { headers });
    await inbox.received(1);
    expect(failing.deliveries).toHaveLength(1);
  });
});

describe('an account', () => {
  it('has no more in flight than max_global_parallelism, whichever way they were sent', async () => {
    const { token } = await makeAccount({ max_global_parallelism: 3 });
    const inbox = receiver.inbox(answerTogether(3));
    const queue = unique('queue');
    await putQueue(queue, { parallelism: 10 }, { token });
    const headers = underKey(unique('key'), 'parallelism=10');
    await sendFrom(senders, many, (number) => {
      const init = { body: String(number), token };
      if (number % 3 === 0) return enqueue(queue, inbox.url, init);
      return send(inbox.url, number % 3 === 1 ? { ...init, headers } : init);
    });
    expectAll(await inbox.received(many), many, 3);
  });

  // With many workers, one that remembers the older limit may hold back its messages.
  it.runIf(service.target === 'local')(
    'that becomes wider starts more, even if all earlier ones are still in flight',
    async () => {
      const { id, token } = await makeAccount({ max_global_parallelism: 1 });
      // The destination answers only when two requests are open.
      const inbox = receiver.inbox(answerTogether(2));
      await sendFrom(1, 4, (number) => send(inbox.url, { body: String(number), token }));
      await inbox.received(1);
      // Jobs are received in order, so the others wait in the line when this message is delivered.
      const marker = receiver.inbox();
      await send(marker.url);
      await marker.received(1);
      await changeAccount(id, { max_global_parallelism: 2 });
      expectAll(await inbox.received(4), 4, 2);
    },
  );
});
