import { beforeEach, describe, expect, it } from 'vitest';
import type { Account } from '../../../lambdas/account/account.ts';
import { type Config, type Scene, type SceneLambdas, idsIn } from '../../support/laneScene.ts';
import type { Inbox } from '../../support/receiver.ts';
import { useScenes } from '../../support/useScenes.ts';
import type { World } from '../../support/world.ts';

/** A destination that is down: its circuit opens, what is due waits, and a probe lets it go. */

let world: World;
let lambdas: SceneLambdas;
const open = useScenes((opened, imported) => {
  world = opened;
  lambdas = imported;
});

/** A receiver that answers as it is told. */
let status = 200;
let inbox: Inbox;
let host = '';
beforeEach(() => {
  status = 200;
  inbox = world.receiver.inbox((_delivery, response) => response.writeHead(status).end());
  host = new URL(inbox.url).host;
});

const on: Config = { circuit: 'on', retries: '3', 'retry-delay': '2000' };
/** Sets the account's own setting. */
async function setCircuit(scene: Scene, circuit: Account['circuit']): Promise<void> {
  const account = await world.loadAccount(scene.account.id, true);
  if (account === undefined) throw new Error('The account is not there.');
  await world.saveAccount({ ...account, circuit }, account);
}

const circuitOf = async (scene: Scene) => (await scene.lane('circuit', host))?.circuit;

/** Sends messages to a host that is down until its circuit is open. */
async function openCircuit(scene: Scene, config: Config = on): Promise<readonly string[]> {
  status = 503;
  const ids: string[] = [];
  for (let number = 0; number < 5; number += 1) ids.push(await scene.send(inbox.url, config));
  // The first attempts, and two seconds later the first retries, which open it.
  for (let tries = 0; tries < 5 && (await circuitOf(scene))?.openedAt === undefined; tries += 1) {
    await scene.fleet.advance(4_000);
  }
  expect((await circuitOf(scene))?.openedAt).toBeTypeOf('number');
  return ids;
}

const sendMany = async (scene: Scene, count: number, config: Config = on): Promise<readonly string[]> => {
  const ids: string[] = [];
  for (let number = 0; number < count; number += 1) ids.push(await scene.send(inbox.url, config));
  return ids;
};
const endsOf = (scene: Scene, ids: readonly string[]) => Promise.all(ids.map((id) => scene.endOf(id)));

const minuteMs = 60_000;

describe('a host that is down', () => {
  it('is called by no attempt but a probe at a time, and by all who waited once it answers', async () => {
    const scene = await open();
    const first = await openCircuit(scene);
    const before = inbox.deliveries.length;
    const ids = [...first, ...(await sendMany(scene, 6))];
    await scene.fleet.advance(20_000);
    expect(inbox.deliveries).toHaveLength(before);

    // Probes come after 30 s, 1 min, 2 min, 4 min, 8 min, and then every ten minutes.
    await scene.fleet.advance(60 * minuteMs);
    const probes = inbox.deliveries.length - before;
    expect(probes).toBeGreaterThanOrEqual(8);
    expect(probes).toBeLessThanOrEqual(10);

    status = 200;
    await scene.fleet.advance(11 * minuteMs);
    expect(await endsOf(scene, ids)).toEqual(ids.map(() => 'DELIVERED'));
    expect(idsIn(inbox)).toEqual(new Set(ids));
    expect((await circuitOf(scene))?.openedAt).toBeUndefined();
    await scene.settle();
  });

  it('uses up no retry of what waits', async () => {
    const scene = await open();
    await openCircuit(scene);
    const patient = await sendMany(scene, 3, { ...on, retries: '0' });
    await scene.fleet.advance(25_000);
    status = 200;
    await scene.fleet.advance(minuteMs);
    expect(await endsOf(scene, patient)).toEqual(patient.map(() => 'DELIVERED'));
  });

  it('lets few go at first, and more with each success', async () => {
    const scene = await open();
    await openCircuit(scene);
    const ids = await sendMany(scene, 10);
    await scene.fleet.advance(5_000);
    status = 200;
    const before = inbox.deliveries.length;
    await scene.fleet.advance(2 * minuteMs);
    expect(await endsOf(scene, ids)).toEqual(ids.map(() => 'DELIVERED'));
    const together = inbox.deliveries.slice(before).map(({ open: count }) => count);
    expect(together[0]).toBe(1);
    expect(Math.max(...together.slice(0, 3))).toBeLessThanOrEqual(2);
  });

  it('holds back what goes through a queue in its order', async () => {
    const scene = await open();
    await openCircuit(scene);
    const ids: string[] = [];
    for (let number = 0; number < 6; number += 1) ids.push(await scene.send(inbox.url, on, 'strict'));
    await scene.fleet.advance(10 * minuteMs);
    status = 200;
    const before = inbox.deliveries.length;
    await scene.fleet.advance(30 * minuteMs);
    expect(await endsOf(scene, ids)).toEqual(ids.map(() => 'DELIVERED'));
    const order = inbox.deliveries.slice(before).map(({ headers }) => headers['svc-message-id'] ?? '');
    expect(order.filter((id) => ids.includes(id))).toEqual(ids);
    await scene.settle();
  });

  it('holds up no message of the same key to another host', async () => {
    const scene = await open();
    await openCircuit(scene);
    const key = { 'flow-control-key': 'shared', 'flow-control-value': 'parallelism=1, rate=10' };
    await sendMany(scene, 4, { ...on, ...key });
    const other = world.receiver.inbox();
    const url = other.url.replace('127.0.0.1', 'localhost');
    const id = await scene.send(url, { ...on, ...key });
    await scene.fleet.advance(20_000);
    expect(await scene.endOf(id)).toBe('DELIVERED');
    status = 200;
    await scene.fleet.advance(5 * minuteMs);
    await scene.settle();
  });

  it('fails for good what has waited for too long, visibly', async () => {
    const scene = await open();
    await setCircuit(scene, { enabled: true, longest_wait_seconds: 3_600 });
    await openCircuit(scene, { retries: '1', 'retry-delay': '2000' });
    const failures = world.receiver.inbox();
    // In an hour there are nine probes. Each fails one message, and the others wait for too long.
    const late = await sendMany(scene, 30, {
      retries: '0',
      'failure-callback': failures.url.replace('127.0.0.1', 'localhost'),
    });
    const before = inbox.deliveries.length;
    await scene.fleet.advance(90 * minuteMs);
    expect(await endsOf(scene, late)).toEqual(late.map(() => 'FAILED'));
    expect(inbox.deliveries.length - before).toBeLessThanOrEqual(12);
    expect(await world.deadLettersOf(late[0] ?? '')).toBe(1);
    expect(idsIn(failures).size).toBe(late.length);
    const last = { accountId: scene.account.id, messageId: late.at(-1) ?? '' };
    const history = await world.loadMessage(last);
    expect(history?.attempts.map(({ response }) => response)).toMatchObject([
      { status: 0, error: expect.stringContaining('waited for it for more than 3600 s') as unknown },
    ]);
    expect(await world.deadLettersOf(last.messageId)).toBe(1);
    await scene.settle();
  });
});

describe('a message that waits for its host', () => {
  it('is cancelled, and does not go out later', async () => {
    const scene = await open();
    await openCircuit(scene);
    const [id = ''] = await sendMany(scene, 1, on);
    await scene.fleet.advance(5_000);
    await lambdas.cancelMessage(scene.account, id);
    status = 200;
    const before = inbox.deliveries.length;
    await scene.fleet.advance(5 * minuteMs);
    expect(await scene.endOf(id)).toBe('CANCELED');
    expect(idsIn({ ...inbox, deliveries: inbox.deliveries.slice(before) }).has(id)).toBe(false);
    await scene.settle();
  });
});

describe('an account that has no circuits', () => {
  it('makes every attempt', async () => {
    const scene = await open();
    status = 503;
    const { circuit: _, ...without } = on;
    const ids = await sendMany(scene, 6, without);
    await scene.fleet.advance(minuteMs);
    expect(inbox.deliveries).toHaveLength(24);
    expect(await endsOf(scene, ids)).toEqual(ids.map(() => 'FAILED'));
    expect(await scene.lane('circuit', host)).toBeUndefined();
  });
});
