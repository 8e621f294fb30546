import { describe, expect, it } from 'vitest';
import { dayMs, hourMs, minuteMs, secondMs } from '../../../lambdas/shared/clock.ts';
import { itAtEachDeath } from '../../support/faults.ts';
import type { Fixture } from '../../support/fixture.ts';
import type { Config, LaneFixture } from '../../support/laneFixture.ts';
import type { Inbox } from '../../support/receiver.ts';
import { useLaneFixtures } from '../../support/useLaneFixtures.ts';

/** Time is simulated, so that times are exact. */

let fixture: Fixture;
const importLambdas = async () => ({
  ...(await import('../../../lambdas/publish/change.ts')),
  ...(await import('../../../lambdas/publish/cancel.ts')),
  ...(await import('../../../lambdas/request/messageChange.ts')),
  ...(await import('../../../lambdas/lane/queues.ts')),
  ...(await import('../../../lambdas/lane/flowControl.ts')),
});
let importing: ReturnType<typeof importLambdas>;
const open = useLaneFixtures((opened) => {
  fixture = opened;
  // Fleets have separate modules with other clients.
  importing = importLambdas();
});

async function change({ account }: LaneFixture, messageId: string, body: object) {
  const { changeMessage, parseMessageChange } = await importing;
  const request = { prefix: 'Svc', config: new Map() };
  const bytes = Buffer.from(JSON.stringify(body));
  return changeMessage(account, messageId, parseMessageChange(request, bytes, account, ['Svc'], Date.now()));
}

/** The original delay and the changed one. */
const moves = [
  ['a minute to an hour', '1m', '1h', hourMs],
  ['twenty days to a minute', '20d', '1m', minuteMs],
] as const;

describe('a waiting message', () => {
  it.each(moves)('is moved from %s, and delivered once', async (_, from, to, inMs) => {
    const laneFixture = await open();
    const inbox = fixture.receiver.inbox();
    const messageId = await laneFixture.send(inbox.url, { delay: from });
    const changedAt = Date.now();
    await change(laneFixture, messageId, { delay: to });
    await laneFixture.fleet.advance(inMs - 2 * secondMs);
    expect(inbox.deliveries).toHaveLength(0);
    await laneFixture.fleet.advance(4 * secondMs);
    expect(inbox.deliveries).toHaveLength(1);
    expect(inbox.deliveries[0]?.at).toBeGreaterThanOrEqual(changedAt + inMs);
    await laneFixture.fleet.advance(40 * dayMs);
    expect(inbox.deliveries).toHaveLength(1);
    expect(await laneFixture.endOf(messageId)).toBe('DELIVERED');
  });

  it('is changed with three calls, and kept as long as its new time requires', async () => {
    const laneFixture = await open();
    const messageId = await laneFixture.send(fixture.receiver.origin, { delay: '1m' });
    const expiry = async () =>
      (await fixture.loadMessage({ accountId: laneFixture.account.id, messageId }))?.message.expiresAt ?? 0;
    const before = await expiry();
    fixture.reset();
    await change(laneFixture, messageId, { delay: '5m' });
    expect(fixture.operations()).toEqual({ QueryCommand: 1, SendMessageCommand: 1, PutItemCommand: 1 });
    await change(laneFixture, messageId, { delay: '300d' });
    expect(await expiry()).toBeGreaterThanOrEqual(before + 299 * dayMs);
  });

  it('is delivered once if another changes it between the two tries of one', async () => {
    const laneFixture = await open();
    const inbox = fixture.receiver.inbox();
    const messageId = await laneFixture.send(inbox.url, { delay: '1h' });
    fixture.reset();
    fixture.beforeCall('PutItemCommand', 1, () => change(laneFixture, messageId, { delay: '3m' }));
    await change(laneFixture, messageId, { delay: '2m' });
    expect(fixture.operations()).toMatchObject({ SendMessageCommand: 3, PutItemCommand: 3 });
    await laneFixture.fleet.advance(dayMs);
    expect(inbox.deliveries).toHaveLength(1);
  });

  it('of a queue changes its delivery queue by its timeout before its turn, and not after', async () => {
    const laneFixture = await open();
    const inbox = fixture.receiver.inbox((_delivery, response, before) =>
      response.writeHead(before === 0 ? 500 : 200).end(),
    );
    const config = { delay: '1m', timeout: '20s', retries: '1', 'retry-delay': '3600000' };
    const messageId = await laneFixture.send(inbox.url, config, 'turns');
    await change(laneFixture, messageId, { timeout: '60s' });
    await laneFixture.fleet.advance(2 * minuteMs);
    await expect(change(laneFixture, messageId, { timeout: '20s' })).rejects.toMatchObject({ status: 409 });
    await change(laneFixture, messageId, { timeout: '50s', delay: '1m' });
    await laneFixture.fleet.advance(2 * minuteMs);
    expect(await laneFixture.endOf(messageId)).toBe('DELIVERED');
    await laneFixture.settle();
  });

  itAtEachDeath('is delivered once where its change to earlier dies', async (fate) => {
    const laneFixture = await open();
    const inbox = fixture.receiver.inbox();
    const messageId = await laneFixture.send(inbox.url, { delay: '30m' });
    await fixture.underFate(fate, () => change(laneFixture, messageId, { delay: '1m' }));
    fixture.reset();
    await laneFixture.fleet.advance(hourMs);
    expect(inbox.deliveries).toHaveLength(1);
  });

  itAtEachDeath('is delivered once, as its last change says, where that is sent again', async (fate) => {
    const laneFixture = await open();
    const inbox = fixture.receiver.inbox();
    const messageId = await laneFixture.send(inbox.url, { delay: '30m' });
    await fixture.again(fate, () => change(laneFixture, messageId, { delay: '2h' }));
    fixture.reset();
    await laneFixture.fleet.advance(2 * hourMs - minuteMs);
    expect(inbox.deliveries).toHaveLength(0);
    await laneFixture.fleet.advance(2 * minuteMs);
    expect(inbox.deliveries).toHaveLength(1);
  });
});

describe('a waiting retry', () => {
  async function waiting() {
    const laneFixture = await open();
    const inbox = fixture.receiver.inbox((_delivery, response, before) =>
      response.writeHead(before === 0 ? 500 : 200).end(),
    );
    const callback = fixture.receiver.inbox();
    const messageId = await laneFixture.send(inbox.url, {
      retries: '2',
      'retry-delay': '3600000',
      callback: callback.url,
    });
    await laneFixture.fleet.advance(minuteMs);
    expect(inbox.deliveries).toHaveLength(1);
    return { laneFixture, inbox, callback, messageId };
  }

  it.each([
    ['earlier', '1m', minuteMs],
    ['later', '3h', 3 * hourMs],
  ] as const)('is moved %s, and made once', async (_, delay, inMs) => {
    const { laneFixture, inbox, callback, messageId } = await waiting();
    await change(laneFixture, messageId, { delay });
    // Other changes do not move it.
    await change(laneFixture, messageId, { label: 'changed' });
    await laneFixture.fleet.advance(inMs - 2 * secondMs);
    expect(inbox.deliveries).toHaveLength(1);
    await laneFixture.fleet.advance(4 * secondMs);
    expect(inbox.deliveries).toHaveLength(2);
    await laneFixture.fleet.advance(dayMs);
    expect(inbox.deliveries).toHaveLength(2);
    expect(callback.deliveries).toHaveLength(2);
  });

  it('is cancelled with its message', async () => {
    const { laneFixture, inbox, messageId } = await waiting();
    await change(laneFixture, messageId, { delay: '2h' });
    await (await importing).cancelMessage(laneFixture.account, messageId);
    await laneFixture.fleet.advance(dayMs);
    expect(inbox.deliveries).toHaveLength(1);
    await laneFixture.settle();
  });
});

interface Hold {
  readonly config: Config;
  readonly queue?: string;
  readonly hold: (laneFixture: LaneFixture) => Promise<unknown>;
  readonly letGo: (laneFixture: LaneFixture) => Promise<unknown>;
}

const pausedQueue: Hold = {
  config: {},
  queue: 'turns',
  hold: async ({ account }) => {
    const { putQueue, pauseQueue } = await importing;
    await putQueue(account, Buffer.from(JSON.stringify({ queueName: 'turns', parallelism: 1 })));
    await pauseQueue(account, 'turns');
  },
  letGo: async ({ account }) => (await importing).resumeQueue(account, 'turns'),
};

const ofKey = { 'flow-control-key': 'slow', 'flow-control-value': 'parallelism=1' };
const pausedKey: Hold = {
  config: ofKey,
  hold: async (laneFixture) => {
    // The first message creates the key.
    await laneFixture.send(fixture.receiver.inbox().url, ofKey);
    await laneFixture.fleet.advance(minuteMs);
    await (await importing).pauseFlowControl(laneFixture.account, 'slow');
  },
  letGo: async ({ account }) => (await importing).resumeFlowControl(account, 'slow'),
};

const holds: readonly (readonly [string, Hold])[] = [
  ['of a paused queue', pausedQueue],
  ['of a paused queue, among tenants', { ...pausedQueue, config: { 'fair-key': 'acme', priority: 'low' } }],
  ['of a paused flow-control key', pausedKey],
  [
    'of a suspended account',
    {
      config: {},
      hold: (laneFixture) => laneFixture.changeState('suspended'),
      letGo: (laneFixture) => laneFixture.changeState('active'),
    },
  ],
];

/** More messages ahead of the changed one than a lane’s row holds. */
const others = 18;

async function waitingInLine({ config, queue, hold }: Hold) {
  const laneFixture = await open();
  const [before, inbox] = [fixture.receiver.inbox(), fixture.receiver.inbox()];
  await hold(laneFixture);
  for (let number = 0; number < others; number += 1) await laneFixture.send(before.url, config, queue);
  const messageId = await laneFixture.send(inbox.url, config, queue);
  await laneFixture.fleet.advance(minuteMs);
  expect(inbox.deliveries).toHaveLength(0);
  return { laneFixture, before, inbox, messageId };
}

const tenantOf = ({ deliveries }: Inbox) => deliveries.map(({ headers }) => headers['x-tenant']);

describe.each(holds)('a message in the line %s', (_, hold) => {
  it('gets other settings, keeps its place and is delivered once with them', async () => {
    const { laneFixture, before, inbox, messageId } = await waitingInLine(hold);
    await change(laneFixture, messageId, { headers: { 'Svc-Forward-X-Tenant': 'acme' }, label: 'changed' });
    await change(laneFixture, messageId, { headers: { 'Svc-Forward-X-Tenant': 'beta' } });
    const behind = fixture.receiver.inbox();
    await laneFixture.send(behind.url, hold.config, hold.queue);
    await hold.letGo(laneFixture);
    await laneFixture.fleet.advance(hourMs);
    expect(tenantOf(inbox)).toEqual(['beta']);
    expect(before.deliveries).toHaveLength(others);
    expect(behind.deliveries).toHaveLength(1);
    await laneFixture.settle();
  });
});

describe.each(holds.slice(1, 3))('a message in the line %s', (_, hold) => {
  it('is moved to a later time, lets others pass, and is delivered once', async () => {
    const { laneFixture, before, inbox, messageId } = await waitingInLine(hold);
    await change(laneFixture, messageId, { delay: '3h' });
    await hold.letGo(laneFixture);
    await laneFixture.fleet.advance(3 * hourMs - minuteMs);
    expect(before.deliveries).toHaveLength(others);
    expect(inbox.deliveries).toHaveLength(0);
    await laneFixture.fleet.advance(2 * minuteMs);
    expect(inbox.deliveries).toHaveLength(1);
    await laneFixture.settle();
  });
});

it('A message in a line that was moved to a later time can be moved back to now, and is delivered once', async () => {
  const { laneFixture, inbox, messageId } = await waitingInLine(pausedQueue);
  await change(laneFixture, messageId, { delay: '3h' });
  await change(laneFixture, messageId, { delay: '0s' });
  await laneFixture.fleet.advance(minuteMs);
  await pausedQueue.letGo(laneFixture);
  await laneFixture.fleet.advance(4 * hourMs);
  expect(inbox.deliveries).toHaveLength(1);
  await laneFixture.settle();
});

it('A timeout of the other delivery queue is refused in a line, and changes nothing', async () => {
  const { laneFixture, messageId } = await waitingInLine(pausedQueue);
  await expect(change(laneFixture, messageId, { timeout: '10m' })).rejects.toMatchObject({ status: 409 });
  await change(laneFixture, messageId, { timeout: '29s' });
});

it.each([
  ['before the change', 'PutItemCommand', 1],
  ['before the second look', 'GetItemCommand', 3],
] as const)(
  'A change of a message that leaves its line %s is answered with 409, and the message is delivered once',
  async (_, operation, call) => {
    const { laneFixture, inbox, messageId } = await waitingInLine(pausedQueue);
    fixture.reset();
    fixture.beforeCall(operation, call, async () => {
      await pausedQueue.letGo(laneFixture);
      await laneFixture.fleet.advance(hourMs);
    });
    const changing = change(laneFixture, messageId, { headers: { 'Svc-Forward-X-Tenant': 'acme' } });
    await expect(changing).rejects.toMatchObject({ status: 409, code: 'attempt_due' });
    expect(inbox.deliveries).toHaveLength(1);
    const history = await fixture.loadMessage({ accountId: laneFixture.account.id, messageId });
    expect(history?.message.change).toBeUndefined();
    await laneFixture.settle();
  },
);

itAtEachDeath(
  'A message in a line is delivered once where a change of its settings or its time dies',
  async (fate) => {
    const { laneFixture, inbox, messageId } = await waitingInLine(pausedQueue);
    await fixture.again(fate, async () => {
      await change(laneFixture, messageId, { label: 'a' });
      await change(laneFixture, messageId, { delay: '2h' });
    });
    fixture.reset();
    await pausedQueue.letGo(laneFixture);
    await laneFixture.fleet.advance(3 * hourMs);
    expect(inbox.deliveries).toHaveLength(1);
    expect(await laneFixture.endOf(messageId)).toBe('DELIVERED');
  },
);
