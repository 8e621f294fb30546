import { describe, expect, it } from 'vitest';
import { api, ok, unique } from '../support/api.ts';
import { eventually } from '../support/eventually.ts';
import {
  answerSlowly,
  enqueue,
  lagOf,
  many,
  mostOpen,
  numberOf,
  numbersOf,
  retriedOf,
  sendFrom,
  startGate,
  upTo,
} from '../support/lanes.ts';
import { useReceiver } from '../support/useReceiver.ts';

/** With parallelism 1, the next message starts when the one before is over. */

const receiver = useReceiver();

/** Waits until a queue is empty: no place of its line is lost or still held. */
const drained = (queue: string): Promise<number> =>
  eventually(
    () => lagOf(queue),
    (lag) => lag === 0,
  );

const cancel = (messageId: string): Promise<unknown> => ok(api('DELETE', `/v2/messages/${messageId}`));

describe('the messages of a queue', () => {
  it('are delivered in the order in which they were accepted, while more arrive', async () => {
    const inbox = receiver.inbox();
    const queue = unique('queue');
    for (const number of upTo(many)) await enqueue(queue, inbox.url, { body: String(number) });
    const all = await inbox.received(many);
    expect(numbersOf(all)).toEqual(upTo(many));
    expect(mostOpen(all)).toBe(1);
    await drained(queue);
  });

  it('wait for the retries of the message before', async () => {
    const inbox = receiver.inbox((delivery, response) => {
      const fails = numberOf(delivery) % 3 === 0 && retriedOf(delivery) < 1;
      response.writeHead(fails ? 500 : 200).end();
    });
    const queue = unique('queue');
    const headers = { 'Svc-Retries': '2', 'Svc-Retry-Delay': '1' };
    await sendFrom(1, 10, (number) => enqueue(queue, inbox.url, { body: String(number), headers }));
    const all = await inbox.received(14);
    expect(all.map((delivery) => [numberOf(delivery), retriedOf(delivery)])).toEqual(
      upTo(10).flatMap((number) =>
        number % 3 === 0
          ? [
              [number, 0],
              [number, 1],
            ]
          : [[number, 0]],
      ),
    );
  });

  it('that are cancelled are skipped wherever they wait', async () => {
    const gate = startGate();
    const inbox = receiver.inbox(gate.answer);
    const queue = unique('queue');
    // More than fit into the two ends of a line, so that some wait in its pages.
    const count = 40;
    const ids: string[] = [];
    for (const number of upTo(count)) ids.push(await enqueue(queue, inbox.url, { body: String(number) }));
    await inbox.received(1);
    const isCancelled = (number: number): boolean => number > 0 && number % 4 !== 0;
    for (const number of upTo(count).filter(isCancelled)) await cancel(ids[number] ?? '');
    expect(await lagOf(queue)).toBe(count / 4);
    gate.open();
    const left = upTo(count).filter((number) => !isCancelled(number));
    expect(numbersOf(await inbox.received(left.length))).toEqual(left);
    await drained(queue);
    expect(inbox.deliveries).toHaveLength(left.length);
  });

  it('wait for the attempt of a message that is cancelled in flight', async () => {
    const gate = startGate();
    const inbox = receiver.inbox(gate.answer);
    const queue = unique('queue');
    const first = await enqueue(queue, inbox.url, { body: '0' });
    await inbox.received(1);
    await enqueue(queue, inbox.url, { body: '1' });
    await cancel(first);
    // Another queue’s message shows that the next one could have arrived, too.
    const other = receiver.inbox();
    await enqueue(unique('queue'), other.url);
    await other.received(1);
    expect(inbox.deliveries).toHaveLength(1);
    gate.open();
    const all = await inbox.received(2);
    expect([numbersOf(all), mostOpen(all)]).toEqual([[0, 1], 1]);
    await drained(queue);
  });

  it('that are delayed get their place when they are due', async () => {
    const inbox = receiver.inbox(answerSlowly);
    const queue = unique('queue');
    await enqueue(queue, inbox.url, { body: '99', headers: { 'Svc-Delay': '2s' } });
    await sendFrom(1, 10, (number) => enqueue(queue, inbox.url, { body: String(number) }));
    const all = await inbox.received(11);
    expect(numbersOf(all).filter((number) => number !== 99)).toEqual(upTo(10));
    expect(mostOpen(all)).toBe(1);
    await drained(queue);
  });

  it('wait for the callback of the message before, and messages of other queues do not', async () => {
    const gate = startGate();
    const callbacks = receiver.inbox(gate.answer);
    const inbox = receiver.inbox();
    const queue = unique('queue');
    const headers = { 'Svc-Callback': callbacks.url };
    await enqueue(queue, inbox.url, { body: '0', headers });
    await callbacks.received(1);
    await enqueue(queue, inbox.url, { body: '1' });
    const other = receiver.inbox();
    await enqueue(unique('queue'), other.url);
    await other.received(1);
    expect(inbox.deliveries).toHaveLength(1);
    gate.open();
    expect((await inbox.received(2)).map(numberOf)).toEqual([0, 1]);
    await drained(queue);
  });
});
