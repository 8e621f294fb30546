import { describe, expect, it } from 'vitest';
import { changeAccount, makeAccount } from '../support/accounts.ts';
import { unique } from '../support/api.ts';
import {
  answerSlowly,
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
  it.each([1, 2, 3])('of parallelism %i has exactly that many in flight', async (parallelism) => {
    const inbox = receiver.inbox(answerTogether(parallelism));
    const queue = unique('queue');
    await putQueue(queue, { parallelism });
    await sendFrom(senders, many, (number) => enqueue(queue, inbox.url, { body: String(number) }));
    expectAll(await inbox.received(many), many, parallelism);
  });

  it('that becomes wider and narrower never has more in flight than it allows at the time', async () => {
    const inbox = receiver.inbox(answerSlowly);
    const queue = unique('queue');
    const part = Math.floor(many / 3);
    await putQueue(queue, { parallelism: 3 });
    await sendFrom(senders, 3 * part, (number) => enqueue(queue, inbox.url, { body: String(number) }));
    await inbox.received(part);
    await putQueue(queue, { parallelism: 1 });
    const narrowFrom = inbox.deliveries.length;
    await inbox.received(2 * part);
    const narrowUpTo = inbox.deliveries.length;
    await putQueue(queue, { parallelism: 2 });
    const wideFrom = inbox.deliveries.length;
    const all = await inbox.received(3 * part);
    expect(mostOpen(all)).toBeLessThanOrEqual(3);
    // Attempts that had their slots before it became narrower still arrive.
    expect(mostOpen(all.slice(narrowFrom + 3, narrowUpTo))).toBeLessThanOrEqual(1);
    expect(mostOpen(all.slice(wideFrom + 3))).toBeLessThanOrEqual(2);
  });

  it('that is changed repeatedly while it delivers never has more in flight than its highest limit', async () => {
    const inbox = receiver.inbox(answerSlowly);
    const queue = unique('queue');
    await putQueue(queue, { parallelism: 1 });
    const sending = sendFrom(senders, many, (number) => enqueue(queue, inbox.url, { body: String(number) }));
    for (let changes = 0; inbox.deliveries.length < many; changes += 1) {
      await putQueue(queue, { parallelism: 1 + (changes % 3) });
    }
    await sending;
    const all = await inbox.received(many);
    expect([...numbersOf(all)].sort((one, other) => one - other)).toEqual(upTo(many));
    expect(mostOpen(all)).toBeLessThanOrEqual(3);
  });
});

describe('a flow-control key', () => {
  it.each([1, 3])('of parallelism %i has exactly that many in flight', async (parallelism) => {
    const inbox = receiver.inbox(answerTogether(parallelism));
    const headers = underKey(unique('key'), `parallelism=${parallelism}`);
    await sendFrom(senders, many, (number) => send(inbox.url, { body: String(number), headers }));
    expectAll(await inbox.received(many), many, parallelism);
  });

  it.runIf(service.target === 'local')('of parallelism 50 has exactly that many in flight', async () => {
    const inbox = receiver.inbox(answerTogether(50));
    const headers = underKey(unique('key'), 'parallelism=50');
    await sendFrom(20, 150, (number) => send(inbox.url, { body: String(number), headers }));
    expectAll(await inbox.received(150), 150, 50);
  });

  it('limits messages to different destinations through different queues together', async () => {
    let open = 0;
    let most = 0;
    const inboxes = upTo(3).map(() =>
      receiver.inbox((_delivery, response, before) => {
        open += 1;
        most = Math.max(most, open);
        setTimeout(
          () => {
            open -= 1;
            response.writeHead(200).end();
          },
          20 + ((before * 37) % 80),
        );
      }),
    );
    const headers = underKey(unique('key'), 'parallelism=2');
    const queues = [unique('queue'), unique('queue')];
    for (const queue of queues) await putQueue(queue, { parallelism: 3 });
    const each = Math.floor(many / 3);
    await sendFrom(senders, 3 * each, (number) => {
      const init = { body: String(number), headers };
      const url = inboxes[number % 3]?.url ?? '';
      const queue = queues[number % 3];
      return queue === undefined ? send(url, init) : enqueue(queue, url, init);
    });
    await Promise.all(inboxes.map((inbox) => inbox.received(each)));
    expect(most).toBeLessThanOrEqual(2);
  });

  it('has the limits of its newest message', async () => {
    const inbox = receiver.inbox(answerSlowly);
    const key = unique('key');
    const part = Math.floor(many / 3);
    const sendPart = (name: string, parallelism: number): Promise<void> =>
      sendFrom(senders, part, (number) =>
        send(inbox.url, { body: `${name}${number}`, headers: underKey(key, `parallelism=${parallelism}`) }),
      );
    const isOf = (name: string) => (delivery: Delivery) => delivery.body.toString().startsWith(name);
    await sendPart('a', 3);
    await sendPart('b', 1);
    const half = Math.ceil(part / 2);
    await inbox.until((all) => all.filter(isOf('b')).length >= half);
    const narrowUpTo = inbox.deliveries.length;
    await sendPart('c', 2);
    const all = await inbox.received(3 * part);
    expect(mostOpen(all)).toBeLessThanOrEqual(3);
    // The new limit applied when the second part’s first message arrived, but earlier slots still count.
    const narrowFrom = all.findIndex(isOf('b')) + 3;
    expect(mostOpen(all.slice(narrowFrom, narrowUpTo))).toBeLessThanOrEqual(1);
    const wideFrom = all.findIndex(isOf('c')) + 3;
    expect(mostOpen(all.slice(wideFrom))).toBeLessThanOrEqual(2);
  });

  it('whose limits change with each message never has more in flight than the highest', async () => {
    const inbox = receiver.inbox(answerSlowly);
    const key = unique('key');
    await sendFrom(senders, many, (number) => {
      const headers = underKey(key, `parallelism=${1 + (number % 3)}`);
      return send(inbox.url, { body: String(number), headers });
    });
    const all = await inbox.received(many);
    expect([...numbersOf(all)].sort((one, other) => one - other)).toEqual(upTo(many));
    expect(mostOpen(all)).toBeLessThanOrEqual(3);
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
