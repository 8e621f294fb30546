import { describe, expect } from 'vitest';
import { visibilitySecondsOf } from '../../../../lambdas/aws/resources.ts';
import { mostFaults } from '../../../../lambdas/job/redelivery.ts';
import { callbackOf } from '../../../support/callbacks.ts';
import { itAtEachDeath } from '../../../support/faults.ts';
import type { Config, LaneFixture, LaneLambdas } from '../../../support/laneFixture.ts';
import type { Inbox } from '../../../support/receiver.ts';
import { useLaneFixtures } from '../../../support/useLaneFixtures.ts';
import type { Fixture } from '../../../support/fixture.ts';

/** Kills a worker at each AWS call. No slot is lost, no message waits for ever, and the order is kept. */

let fixture: Fixture;
let lambdas: LaneLambdas;
const open = useLaneFixtures((opened, imported) => {
  fixture = opened;
  lambdas = imported;
});

/** Records the requests of messages and callbacks in order: `1 try 0`, `1 callback`. */
function watched(answer: (id: string, retried: number) => number = () => 200) {
  const events: string[] = [];
  const names = new Map<string, string>();
  const nameOf = (id: string): string => names.get(id) ?? id;
  const inFlight = new Set<string>();
  let most = 0;
  const inbox = fixture.receiver.inbox(({ headers }, response) => {
    const name = nameOf(headers['svc-message-id'] ?? '');
    const retried = Number(headers['svc-retried']);
    events.push(`${name} try ${retried}`);
    inFlight.add(name);
    most = Math.max(most, inFlight.size);
    // Waits, so that other attempts may start.
    setTimeout(() => {
      inFlight.delete(name);
      response.writeHead(answer(name, retried)).end();
    }, 20);
  });
  const told = (what: string): Inbox =>
    fixture.receiver.inbox((delivery, response) => {
      events.push(`${nameOf(callbackOf(delivery).sourceMessageId)} ${what} ${callbackOf(delivery).retried}`);
      response.writeHead(200).end();
    });
  const callbacks = told('callback');
  const failures = told('failure callback');
  return {
    inbox,
    config: { callback: callbacks.url, 'failure-callback': failures.url },
    /** Names a message for the events. Its worker waits for the name. */
    name: (id: string, name: string): void => {
      names.set(id, name);
    },
    events,
    most: () => most,
  };
}

/** Returns the events without repetitions: an attempt whose worker died may be made twice. */
const once = (events: readonly string[]): readonly string[] => [...new Set(events)];

/** Sends messages while no worker runs, so that they are named before they are delivered. */
async function sendAll(
  on: LaneFixture,
  to: ReturnType<typeof watched>,
  messages: readonly { readonly name: string; readonly config?: Config; readonly queue?: string }[],
): Promise<readonly string[]> {
  on.fleet.hold(true);
  const ids: string[] = [];
  for (const { name, config = {}, queue } of messages) {
    const id = await on.send(to.inbox.url, config, queue);
    to.name(id, name);
    ids.push(id);
  }
  on.fleet.hold(false);
  return ids;
}

/** A death takes a second. An ordinary run tries one in 51, a thorough run a fifth. */
const every = { ordinary: 51, thorough: 5 };

/** Longer than SQS hides a job of the long queue whose worker died before it shortened that time. */
const longestHiddenMs = 2 * visibilitySecondsOf('long') * 1_000;

/** Delivers messages once for each AWS call at which a worker can die. */
function diesAtEachCall(way: (on: LaneFixture) => Promise<void>, limits?: Readonly<Record<string, number>>) {
  itAtEachDeath(
    'loses nothing when a worker dies at any of its AWS calls',
    async (fate) => {
      const on = await open(limits);
      on.fleet.setFate(fate);
      await way(on);
      on.fleet.setFate(undefined);
      await on.settle();
    },
    { every },
  );
}

describe('two messages of a queue whose attempts fail, with callbacks', () => {
  diesAtEachCall(async (on) => {
    const to = watched((name, retried) => (name === 'first' || retried === 0 ? 500 : 200));
    const config = { ...to.config, retries: '1', 'retry-delay': '0' };
    const [first = '', second = ''] = await sendAll(on, to, [
      { name: 'first', config, queue: 'strict' },
      { name: 'second', config, queue: 'strict' },
    ]);
    await on.fleet.advance(longestHiddenMs);
    expect([await on.endOf(first), await on.endOf(second)]).toEqual(['FAILED', 'DELIVERED']);
    expect([...once(to.events)].sort()).toEqual(
      [
        'first try 0',
        'first callback 0',
        'first try 1',
        'first callback 1',
        'first failure callback 1',
        'second try 0',
        'second callback 0',
        'second try 1',
        'second callback 1',
      ].sort(),
    );
    // The second message starts after the first has failed and its callbacks are delivered.
    const events = once(to.events);
    const begins = events.findIndex((event) => event.startsWith('second'));
    expect(events.slice(begins).filter((event) => event.startsWith('first'))).toEqual([]);
    expect(await fixture.deadLettersOf(first)).toBe(1);
  });
});

describe('messages with a queue and a key, with one of them and with neither, in a small account', () => {
  diesAtEachCall(
    async (on) => {
      const to = watched((name, retried) => (name === 'both' && retried === 0 ? 500 : 200));
      const config = { 'flow-control-key': 'narrow', 'flow-control-value': 'parallelism=1' };
      const ids = await sendAll(on, to, [
        { name: 'both', config: { ...config, retries: '1', 'retry-delay': '0' }, queue: 'strict' },
        { name: 'both too', config, queue: 'strict' },
        { name: 'key', config },
        // It joins its queue when it is due.
        { name: 'queue', config: { delay: '30s' }, queue: 'strict' },
        { name: 'none' },
      ]);
      await on.fleet.advance(longestHiddenMs);
      expect(await Promise.all(ids.map((id) => on.endOf(id)))).toEqual(ids.map(() => 'DELIVERED'));
      expect(to.most()).toBe(1);
      const ofQueue = to.events.filter((event) => /^(both|queue)/.test(event));
      expect(once(ofQueue)).toEqual(['both try 0', 'both try 1', 'both too try 0', 'queue try 0']);
    },
    { max_global_parallelism: 1 },
  );
});

describe('a queue that is deleted while messages wait in it', () => {
  diesAtEachCall(async (on) => {
    const to = watched();
    const ids = await sendAll(
      on,
      to,
      ['first', 'second', 'third'].map((name) => ({ name, queue: 'doomed' })),
    );
    await lambdas.deleteQueue(on.account, 'doomed');
    await on.fleet.advance(longestHiddenMs);
    // The first message already had its slot.
    expect(await Promise.all(ids.map((id) => on.endOf(id)))).toEqual(['DELIVERED', 'CANCELED', 'CANCELED']);
    expect(once(to.events)).toEqual(['first try 0']);
    expect(await on.lane('queue', 'doomed')).toMatchObject({ isDeleted: true, deletedLines: [] });
  });
});

describe('messages that wait while their account is suspended', () => {
  diesAtEachCall(async (on) => {
    const to = watched();
    const config = { 'flow-control-key': 'narrow', 'flow-control-value': 'parallelism=1' };
    const ids = await sendAll(on, to, [
      { name: 'first', queue: 'strict' },
      { name: 'second', queue: 'strict' },
      { name: 'key', config },
      { name: 'key too', config },
      { name: 'none' },
    ]);
    on.fleet.hold(true);
    await on.changeState('suspended');
    on.fleet.hold(false);
    await on.fleet.advance(600_000);
    expect(to.events).toEqual([]);
    await on.changeState('active');
    await on.fleet.advance(longestHiddenMs);
    expect(await Promise.all(ids.map((id) => on.endOf(id)))).toEqual(ids.map(() => 'DELIVERED'));
    expect(once(to.events.filter((event) => /first|second/.test(event)))).toEqual([
      'first try 0',
      'second try 0',
    ]);
  });
});

describe('an attempt that is given up while it holds a queue’s slot', () => {
  diesAtEachCall(async (on) => {
    const to = watched();
    const queue = 'strict';
    on.fleet.hold(true);
    const first = await on.send(to.inbox.url, to.config, queue);
    const second = await on.send(to.inbox.url, {}, queue);
    to.name(first, 'first');
    to.name(second, 'second');
    await on.fleet.advance(0);
    await on.emptyQueues();
    const [lease] = (await on.lane('queue', queue))?.leases.values() ?? [];
    const job = {
      ...{ kind: 'attempt', accountId: on.account.id, messageId: first, attempt: 0, queue: 'short' },
      admittedTo: { lane: 'queue', name: queue, ticket: lease?.ticket, sentAt: Date.now() },
    };
    on.fleet.hold(false);
    await fixture.standIns.sqs.send(
      'short',
      JSON.stringify({ ...job, returns: mostFaults, faults: mostFaults }),
    );
    await on.fleet.advance(longestHiddenMs);
    expect([await on.endOf(first), await on.endOf(second)]).toEqual(['FAILED', 'DELIVERED']);
    expect([...once(to.events)].sort()).toEqual([
      'first callback 0',
      'first failure callback 0',
      'second try 0',
    ]);
    expect(to.events.at(-1)).toBe('second try 0');
    expect(await fixture.deadLettersOf(first)).toBe(1);
  });
});

describe('messages to a host that is down', () => {
  const config: Config = { circuit: 'on', retries: '10', 'retry-delay': '3000' };

  // Two have a queue, and two do not. The circuit opens, one probe fails, and the next succeeds.
  diesAtEachCall(
    async (on) => {
      let status = 503;
      const inbox = fixture.receiver.inbox((_delivery, response) => response.writeHead(status).end());
      const ids = [
        await on.send(inbox.url, config, 'strict'),
        await on.send(inbox.url, config, 'strict'),
        await on.send(inbox.url, config),
        await on.send(inbox.url, config),
      ];
      await on.fleet.advance(50_000);
      status = 200;
      await on.fleet.advance(3_600_000);
      const ends = await Promise.all(ids.map((id) => on.endOf(id)));
      expect(ends).toEqual(ids.map(() => 'DELIVERED'));
      const delivered = inbox.deliveries.map(({ headers }) => headers['svc-message-id'] ?? '');
      // The queue’s second message is delivered after its first.
      expect(new Set(delivered)).toEqual(new Set(ids));
      expect(delivered.indexOf(ids[1] ?? '')).toBeGreaterThan(delivered.lastIndexOf(ids[0] ?? ''));
      const lane = await on.lane('circuit', new URL(inbox.url).host);
      expect(lane?.circuit?.openedAt).toBeUndefined();
    },
    { max_retries: 10 },
  );
});
