import { describe, expect, it } from 'vitest';
import { unique } from '../support/api.ts';
import { callbackOf } from '../support/callbacks.ts';
import { eventually } from '../support/eventually.ts';
import { enqueue, lagOf, numberOf, sendFrom, startGate, upTo } from '../support/lanes.ts';
import type { Delivery } from '../support/receiver.ts';
import { useReceiver } from '../support/useReceiver.ts';

/** A message of a queue is over when its callbacks are delivered or failed. */

const receiver = useReceiver();

const sourceOf = (delivery: Delivery): number =>
  Number(Buffer.from(callbackOf(delivery).sourceBody, 'base64').toString());

/** Records messages, and callbacks when they are answered, in their order. */
function startRecord(answers: {
  readonly message: (number: number) => number;
  readonly callback: (number: number, before: number) => number;
}) {
  const events: { readonly what: 'message' | 'callback' | 'failure'; readonly number: number }[] = [];
  const watchers: (() => void)[] = [];
  const note = (event: (typeof events)[number]): void => {
    events.push(event);
    for (const watcher of watchers) watcher();
  };
  const timesOf = (what: string, number: number): number =>
    events.filter((event) => event.what === what && event.number === number).length;
  const inbox = receiver.inbox((delivery, response) => {
    const number = numberOf(delivery);
    note({ what: 'message', number });
    response.writeHead(answers.message(number)).end();
  });
  const callbackInbox = (what: 'callback' | 'failure') =>
    receiver.inbox((delivery, response) => {
      const number = sourceOf(delivery);
      const status = answers.callback(number, timesOf(what, number));
      // A slow answer gives the next message more time to arrive too early.
      setTimeout(() => {
        note({ what, number });
        response.writeHead(status).end();
      }, 100);
    });
  return {
    inbox,
    callbacks: callbackInbox('callback'),
    failures: callbackInbox('failure'),
    noted: (count: number) =>
      new Promise<typeof events>((done) => {
        const check = (): void => {
          if (events.length >= count) done(events);
        };
        watchers.push(check);
        check();
      }),
  };
}

const drained = (queue: string): Promise<number> =>
  eventually(
    () => lagOf(queue),
    (lag) => lag === 0,
  );

describe('the next message of a queue', () => {
  it('starts when the callback of the one before is delivered', async () => {
    const { noted, inbox, callbacks } = startRecord({ message: () => 200, callback: () => 200 });
    const queue = unique('queue');
    const headers = { 'Svc-Callback': callbacks.url };
    await sendFrom(1, 12, (number) => enqueue(queue, inbox.url, { body: String(number), headers }));
    const events = await noted(24);
    expect(events).toEqual(
      upTo(12).flatMap((number) => [
        { what: 'message', number },
        { what: 'callback', number },
      ]),
    );
  });

  it('starts when the callback of the one before was delivered by a retry, or has failed', async () => {
    const { noted, inbox, callbacks } = startRecord({
      message: () => 200,
      // Callbacks of even messages are delivered by a retry, and those of odd ones fail.
      callback: (number, before) => (number % 2 === 0 && before === 1 ? 200 : 500),
    });
    const queue = unique('queue');
    const headers = {
      'Svc-Callback': callbacks.url,
      'Svc-Callback-Retries': '1',
      'Svc-Callback-Retry-Delay': '1',
    };
    await sendFrom(1, 6, (number) => enqueue(queue, inbox.url, { body: String(number), headers }));
    const events = await noted(18);
    expect(events).toEqual(
      upTo(6).flatMap((number) => [
        { what: 'message', number },
        { what: 'callback', number },
        { what: 'callback', number },
      ]),
    );
  });

  it('starts when all callbacks of all attempts of the one before are over', async () => {
    const { noted, inbox, callbacks, failures } = startRecord({ message: () => 500, callback: () => 200 });
    const queue = unique('queue');
    const headers = {
      'Svc-Retries': '1',
      'Svc-Retry-Delay': '1',
      'Svc-Callback': callbacks.url,
      'Svc-Failure-Callback': failures.url,
    };
    await sendFrom(1, 6, (number) => enqueue(queue, inbox.url, { body: String(number), headers }));
    const events = await noted(30);
    // The events of one message arrive in any order.
    expect(events.map(({ number }) => number)).toEqual(
      upTo(6).flatMap((number) => [number, number, number, number, number]),
    );
    for (const number of upTo(6)) {
      const ofOne = events.filter((event) => event.number === number).map(({ what }) => what);
      expect(ofOne.sort()).toEqual(['callback', 'callback', 'failure', 'message', 'message']);
    }
  });

  it('waits for a held callback, and other messages do not', async () => {
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
