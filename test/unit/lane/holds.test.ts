import { beforeEach, describe, expect, it } from 'vitest';
import type { HeldKind } from '../../../lambdas/wire/states.ts';
import { type Config, type LaneFixture, type LaneLambdas } from '../../support/laneFixture.ts';
import type { Inbox } from '../../support/receiver.ts';
import { useLaneFixtures } from '../../support/useLaneFixtures.ts';
import type { Fixture } from '../../support/fixture.ts';

let fixture: Fixture;
let lambdas: LaneLambdas;
const open = useLaneFixtures((opened, imported) => {
  fixture = opened;
  lambdas = imported;
});

const secondMs = 1_000;
const minuteMs = 60 * secondMs;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
/** By then each process has read the account again. */
const knownMs = 12 * secondMs;

let status = 200;
let inbox: Inbox;
let host = '';
beforeEach(() => {
  status = 200;
  inbox = fixture.receiver.inbox((_delivery, response) => response.writeHead(status).end());
  host = new URL(inbox.url).host;
});

const accountOf = async (on: LaneFixture) => {
  const account = await fixture.loadAccount(on.account.id, true);
  if (account === undefined) throw new Error('The account is not there.');
  return account;
};
type Settings = Readonly<Record<string, unknown>>;
async function hold(on: LaneFixture, kind: HeldKind, which = '', settings: Settings = {}) {
  const body = Buffer.from(JSON.stringify(settings));
  await lambdas.hold({ account: await accountOf(on) }, kind, which, body);
  await on.fleet.advance(knownMs);
}
const release = async (on: LaneFixture, kind: HeldKind, which = '') =>
  lambdas.release(await accountOf(on), kind, which);
const listed = async (on: LaneFixture) => lambdas.listHolds(await accountOf(on));

async function sendMany(on: LaneFixture, count: number, config: Config = {}, queue?: string) {
  const ids: string[] = [];
  for (let number = 0; number < count; number += 1) {
    ids.push(await on.send(inbox.url, { retries: '0', ...config }, queue));
    await on.fleet.advance(secondMs);
  }
  return ids;
}
const endsOf = (on: LaneFixture, ids: readonly string[]) => Promise.all(ids.map((id) => on.endOf(id)));
const delivered = ({ deliveries }: Inbox) => deliveries.map(({ headers }) => headers['svc-message-id'] ?? '');

describe('a held host', () => {
  it('gets nothing for weeks, and then everything in order, few at first', async () => {
    const on = await open();
    const [before = ''] = await sendMany(on, 1);
    await hold(on, 'host', host, { reason: '東京 moves' });
    const ids = await sendMany(on, 8);
    await on.fleet.advance(40 * dayMs);
    expect(delivered(inbox)).toEqual([before]);
    expect(await endsOf(on, ids)).toEqual(ids.map(() => undefined));
    expect(await listed(on)).toMatchObject([
      { kind: 'host', name: host, by: 'token', reason: '東京 moves', waiting: 8 },
    ]);
    await release(on, 'host', host);
    await on.fleet.advance(minuteMs);
    expect(await endsOf(on, ids)).toEqual(ids.map(() => 'DELIVERED'));
    const order = delivered(inbox).slice(1);
    expect(order[0]).toBe(ids[0]);
    expect(new Set(order)).toEqual(new Set(ids));
    const together = inbox.deliveries.slice(1).map(({ open: count }) => count);
    expect(together[0]).toBe(1);
    expect(Math.max(...together.slice(0, 3))).toBeLessThanOrEqual(2);
    expect(await listed(on)).toEqual([]);
    await on.settle();
  });

  it('keeps the order behind a window that grows with each attempt, failed ones as well', async () => {
    const on = await open();
    await hold(on, 'host', host);
    status = 500;
    const ids = await sendMany(on, 30);
    await release(on, 'host', host);
    await on.fleet.advance(5 * minuteMs);
    expect(await endsOf(on, ids)).toEqual(ids.map(() => 'FAILED'));
    expect(inbox.deliveries).toHaveLength(30);
    const lane = await on.lane('hold', `host:${host}`);
    expect(lane?.circuit?.openedAt).toBeUndefined();
    expect(lane?.circuit?.window).toBeGreaterThan(10);
    await on.settle();
  });

  it('uses up no retry of a message whose retry becomes due', async () => {
    const on = await open();
    status = 503;
    const id = await on.send(inbox.url, { retries: '1', 'retry-delay': '30000' });
    await on.fleet.advance(secondMs);
    await hold(on, 'host', host);
    await on.fleet.advance(3 * dayMs);
    expect(inbox.deliveries).toHaveLength(1);
    status = 200;
    await release(on, 'host', host);
    await on.fleet.advance(minuteMs);
    expect(await on.endOf(id)).toBe('DELIVERED');
    expect(inbox.deliveries[1]?.headers['svc-retried']).toBe('1');
    await on.settle();
  });

  it('is released by its end, which may be changed, and holds the callbacks of others', async () => {
    const on = await open();
    const other = fixture.receiver.inbox();
    await hold(on, 'host', host, { duration: '2h' });
    const id = await on.send(other.url.replace('127.0.0.1', 'localhost'), { callback: inbox.url });
    await on.fleet.advance(hourMs);
    expect([await on.endOf(id), inbox.deliveries.length]).toEqual(['DELIVERED', 0]);
    await hold(on, 'host', host, { duration: '3h', reason: 'longer' });
    await on.fleet.advance(2 * hourMs);
    expect(inbox.deliveries).toHaveLength(0);
    expect(await listed(on)).toMatchObject([{ reason: 'longer', waiting: 1 }]);
    await hold(on, 'host', host, { duration: '1m' });
    await on.fleet.advance(2 * minuteMs);
    expect(inbox.deliveries).toHaveLength(1);
    expect(await listed(on)).toEqual([]);
    await on.settle();
  });

  it('is not called by the probe of its circuit, and fails nothing because of the time that it was held', async () => {
    const on = await open();
    const account = await accountOf(on);
    await fixture.saveAccount(
      { ...account, circuit: { enabled: true, failures: 2, longest_wait_seconds: 3_600 } },
      account,
    );
    status = 503;
    const [first = ''] = await sendMany(on, 1, { retries: '5', 'retry-delay': '2000' });
    await on.fleet.advance(10 * secondMs);
    const late = await sendMany(on, 3);
    await hold(on, 'host', host);
    const held = await sendMany(on, 3);
    const before = inbox.deliveries.length;
    await on.fleet.advance(3 * dayMs);
    expect(inbox.deliveries).toHaveLength(before);
    status = 200;
    await release(on, 'host', host);
    await on.fleet.advance(20 * minuteMs);
    expect(await endsOf(on, [first, ...late, ...held])).toEqual(Array.from({ length: 7 }, () => 'DELIVERED'));
    await on.settle();
  });

  it('changes nothing for other hosts, paused queues and full keys', async () => {
    const on = await open();
    const other = fixture.receiver.inbox();
    const url = other.url.replace('127.0.0.1', 'localhost');
    await hold(on, 'host', host);
    const key = { 'flow-control-key': 'shared', 'flow-control-value': 'parallelism=1' };
    const held = await sendMany(on, 3, key);
    const inQueue = await sendMany(on, 2, {}, 'mail');
    const free = await on.send(url, key);
    await on.fleet.advance(minuteMs);
    expect(await on.endOf(free)).toBe('DELIVERED');
    await lambdas.pauseQueue(on.account, 'mail');
    const [cancelled = ''] = held;
    await lambdas.cancelMessage(on.account, cancelled);
    await release(on, 'host', host);
    await on.fleet.advance(minuteMs);
    // The first of the queue had started to wait before the pause.
    expect(await endsOf(on, [...held, ...inQueue])).toEqual([
      'CANCELED',
      ...['DELIVERED', 'DELIVERED', 'DELIVERED'],
      undefined,
    ]);
    await lambdas.resumeQueue(on.account, 'mail');
    await on.fleet.advance(minuteMs);
    expect(await endsOf(on, inQueue)).toEqual(['DELIVERED', 'DELIVERED']);
    await on.settle();
  });
});

describe('several holds', () => {
  it('hold a message until the last of them is released', async () => {
    const on = await open();
    const label = '東'.repeat(100);
    await hold(on, 'account');
    await hold(on, 'label', label);
    await hold(on, 'host', host);
    const ids = await sendMany(on, 4, { label: `other,${label}` });
    for (const [kind, which] of [
      ['host', host],
      ['account', ''],
      ['label', label],
    ] as const) {
      expect(inbox.deliveries).toHaveLength(0);
      await release(on, kind, which);
      await on.fleet.advance(minuteMs);
    }
    expect(await endsOf(on, ids)).toEqual(ids.map(() => 'DELIVERED'));
    await on.settle();
  });

  it('that begin and end at once leave nothing behind', async () => {
    const on = await open();
    const ids: string[] = [];
    for (let round = 0; round < 6; round += 1) {
      const account = await accountOf(on);
      const body = Buffer.from('{"reason":"at once"}');
      const acts = [
        lambdas.hold({ account }, 'host', host, body),
        lambdas.hold({ account }, 'host', host, body),
        lambdas.release(account, 'host', host),
        on.send(inbox.url, { retries: '0' }).then((id) => ids.push(id)),
        lambdas.release(account, 'host', host),
      ];
      await Promise.allSettled(acts);
      await on.fleet.advance(knownMs);
    }
    // The last request decides.
    await hold(on, 'host', host);
    ids.push(...(await sendMany(on, 2)));
    const before = inbox.deliveries.length;
    await on.fleet.advance(hourMs);
    expect(inbox.deliveries).toHaveLength(before);
    await release(on, 'host', host);
    await on.fleet.advance(minuteMs);
    expect(await endsOf(on, ids)).toEqual(ids.map(() => 'DELIVERED'));
    await on.settle();
  });
});

describe('a hold', () => {
  it('costs the next messages nothing after its release, and survives the account’s suspension', async () => {
    const on = await open();
    await hold(on, 'account');
    await on.changeState('passive');
    const ids = await sendMany(on, 2);
    await on.changeState('active');
    await on.fleet.advance(hourMs);
    expect(inbox.deliveries).toHaveLength(0);
    await release(on, 'account');
    await on.fleet.advance(hourMs);
    expect(await endsOf(on, ids)).toEqual(['DELIVERED', 'DELIVERED']);
    await hold(on, 'account');
    await release(on, 'account');
    expect((await accountOf(on)).holds?.map(({ name, until }) => [name, until === undefined])).toEqual(
      undefined,
    );
    await on.settle();
  });
});
