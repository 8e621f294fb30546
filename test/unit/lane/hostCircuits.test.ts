import { beforeEach, describe, expect, it } from 'vitest';
import type { Account } from '../../../lambdas/account/account.ts';
import { type Config, type LaneFixture, type LaneLambdas, idsIn } from '../../support/laneFixture.ts';
import type { Inbox } from '../../support/receiver.ts';
import { useLaneFixtures } from '../../support/useLaneFixtures.ts';
import type { Fixture } from '../../support/fixture.ts';

let fixture: Fixture;
let lambdas: LaneLambdas;
const open = useLaneFixtures((opened, imported) => {
  fixture = opened;
  lambdas = imported;
});

let status = 200;
let inbox: Inbox;
let host = '';
beforeEach(() => {
  status = 200;
  inbox = fixture.receiver.inbox((_delivery, response) => response.writeHead(status).end());
  host = new URL(inbox.url).host;
});

const on: Config = { circuit: 'on', retries: '3', 'retry-delay': '2000' };
async function setCircuit(laneFixture: LaneFixture, circuit: Account['circuit']): Promise<void> {
  const account = await fixture.loadAccount(laneFixture.account.id, true);
  if (account === undefined) throw new Error('The account is not there.');
  await fixture.saveAccount({ ...account, circuit }, account);
}

const circuitOf = async (laneFixture: LaneFixture) => (await laneFixture.lane('circuit', host))?.circuit;

async function openCircuit(laneFixture: LaneFixture, config: Config = on): Promise<readonly string[]> {
  status = 503;
  const ids = await sendMany(laneFixture, 5, config);
  // The first attempts, and two seconds later their retries, which open the circuit.
  for (let tries = 0; tries < 5 && (await circuitOf(laneFixture))?.openedAt === undefined; tries += 1) {
    await laneFixture.fleet.advance(4_000);
  }
  expect((await circuitOf(laneFixture))?.openedAt).toBeTypeOf('number');
  return ids;
}

async function sendMany(laneFixture: LaneFixture, count: number, config = on): Promise<readonly string[]> {
  const ids: string[] = [];
  for (let number = 0; number < count; number += 1) ids.push(await laneFixture.send(inbox.url, config));
  return ids;
}
const endsOf = (laneFixture: LaneFixture, ids: readonly string[]) =>
  Promise.all(ids.map((id) => laneFixture.endOf(id)));

const minuteMs = 60_000;

describe('a host that is down', () => {
  it('is called by one probe at a time, and by all waiting messages after it answers, except a cancelled one', async () => {
    const laneFixture = await open();
    const first = await openCircuit(laneFixture);
    const before = inbox.deliveries.length;
    const [cancelled = '', ...others] = await sendMany(laneFixture, 6);
    await laneFixture.fleet.advance(20_000);
    expect(inbox.deliveries).toHaveLength(before);
    await lambdas.cancelMessage(laneFixture.account, cancelled);

    // Probes are sent after 30 s, 1 min, 2 min, 4 min, 8 min, and then every ten minutes.
    await laneFixture.fleet.advance(60 * minuteMs);
    const probes = inbox.deliveries.length - before;
    expect(probes).toBeGreaterThanOrEqual(8);
    expect(probes).toBeLessThanOrEqual(10);

    status = 200;
    await laneFixture.fleet.advance(11 * minuteMs);
    const ids = [...first, ...others];
    expect(await endsOf(laneFixture, [...ids, cancelled])).toEqual([
      ...ids.map(() => 'DELIVERED'),
      'CANCELED',
    ]);
    expect(idsIn(inbox)).toEqual(new Set(ids));
    expect((await circuitOf(laneFixture))?.openedAt).toBeUndefined();
    await laneFixture.settle();
  });

  it('gets few messages at first after it recovers, in the order of their queue, which have used up no retry', async () => {
    const laneFixture = await open();
    const first = await openCircuit(laneFixture);
    const patient = await sendMany(laneFixture, 3, { ...on, retries: '0' });
    const strict: string[] = [];
    for (let number = 0; number < 4; number += 1)
      strict.push(await laneFixture.send(inbox.url, on, 'strict'));
    await laneFixture.fleet.advance(5_000);
    status = 200;
    const before = inbox.deliveries.length;
    await laneFixture.fleet.advance(5 * minuteMs);
    const ids = [...first, ...patient, ...strict];
    expect(await endsOf(laneFixture, ids)).toEqual(ids.map(() => 'DELIVERED'));
    const after = inbox.deliveries.slice(before);
    expect(after[0]?.open).toBe(1);
    expect(Math.max(...after.slice(0, 3).map(({ open: count }) => count))).toBeLessThanOrEqual(2);
    const order = after.map(({ headers }) => headers['svc-message-id'] ?? '');
    expect(order.filter((id) => strict.includes(id))).toEqual(strict);
    await laneFixture.settle();
  });

  it('does not hold back messages of the same key to another host', async () => {
    const laneFixture = await open();
    await openCircuit(laneFixture);
    const key = { 'flow-control-key': 'shared', 'flow-control-value': 'parallelism=1, rate=10' };
    await sendMany(laneFixture, 4, { ...on, ...key });
    const other = fixture.receiver.inbox();
    const url = other.url.replace('127.0.0.1', 'localhost');
    const id = await laneFixture.send(url, { ...on, ...key });
    await laneFixture.fleet.advance(20_000);
    expect(await laneFixture.endOf(id)).toBe('DELIVERED');
    status = 200;
    await laneFixture.fleet.advance(5 * minuteMs);
    await laneFixture.settle();
  });

  it('makes a message fail visibly after its longest wait', async () => {
    const laneFixture = await open();
    await setCircuit(laneFixture, { enabled: true, longest_wait_seconds: 3_600 });
    await openCircuit(laneFixture, { retries: '1', 'retry-delay': '2000' });
    const failures = fixture.receiver.inbox();
    // Nine probes in an hour fail one message each. The others fail because they waited too long.
    const late = await sendMany(laneFixture, 12, {
      retries: '0',
      'failure-callback': failures.url.replace('127.0.0.1', 'localhost'),
    });
    const before = inbox.deliveries.length;
    await laneFixture.fleet.advance(90 * minuteMs);
    expect(await endsOf(laneFixture, late)).toEqual(late.map(() => 'FAILED'));
    expect(inbox.deliveries.length - before).toBeLessThanOrEqual(12);
    expect(await fixture.deadLettersOf(late[0] ?? '')).toBe(1);
    expect(idsIn(failures).size).toBe(late.length);
    const last = { accountId: laneFixture.account.id, messageId: late.at(-1) ?? '' };
    const history = await fixture.loadMessage(last);
    expect(history?.attempts.map(({ response }) => response)).toMatchObject([
      { status: 0, error: expect.stringContaining('waited for more than 3600 s') as unknown },
    ]);
    expect(await fixture.deadLettersOf(last.messageId)).toBe(1);
    await laneFixture.settle();
  });
});

describe('an account that has no circuits', () => {
  it('makes every attempt', async () => {
    const laneFixture = await open();
    status = 503;
    const ids = await sendMany(laneFixture, 6, { retries: '1', 'retry-delay': '2000' });
    await laneFixture.fleet.advance(minuteMs);
    expect(inbox.deliveries).toHaveLength(12);
    expect(await endsOf(laneFixture, ids)).toEqual(ids.map(() => 'FAILED'));
    expect(await laneFixture.lane('circuit', host)).toBeUndefined();
  });
});
