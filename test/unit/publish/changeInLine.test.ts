import { describe, expect, it } from 'vitest';
import { hourMs, minuteMs } from '../../../lambdas/shared/clock.ts';
import { itAtEachDeath } from '../../support/faults.ts';
import type { Fixture } from '../../support/fixture.ts';
import type { Config, LaneFixture } from '../../support/laneFixture.ts';
import type { Inbox } from '../../support/receiver.ts';
import { useLaneFixtures } from '../../support/useLaneFixtures.ts';

/** Time is simulated, so that times are exact. */

let fixture: Fixture;
const importLambdas = async () => {
  const [change, parsing, queues, keys] = await Promise.all([
    import('../../../lambdas/publish/change.ts'),
    import('../../../lambdas/request/messageChange.ts'),
    import('../../../lambdas/lane/queues.ts'),
    import('../../../lambdas/lane/flowControl.ts'),
  ]);
  return { ...change, ...parsing, ...queues, ...keys };
};
let importing: ReturnType<typeof importLambdas>;
const open = useLaneFixtures((opened) => {
  fixture = opened;
  importing = importLambdas();
});

async function change({ account }: LaneFixture, messageId: string, body: object) {
  const { changeMessage, parseMessageChange } = await importing;
  const request = { prefix: 'Svc', config: new Map() };
  const bytes = Buffer.from(JSON.stringify(body));
  return changeMessage(account, messageId, parseMessageChange(request, bytes, account, ['Svc'], Date.now()));
}

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
const others = 40;

async function waiting({ config, queue, hold }: Hold) {
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
    const { laneFixture, before, inbox, messageId } = await waiting(hold);
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

  it('is moved to a later time, lets others pass, and is delivered once', async () => {
    const { laneFixture, before, inbox, messageId } = await waiting(hold);
    await change(laneFixture, messageId, { delay: '3h' });
    await hold.letGo(laneFixture);
    await laneFixture.fleet.advance(3 * hourMs - minuteMs);
    expect(before.deliveries).toHaveLength(others);
    expect(inbox.deliveries).toHaveLength(0);
    await laneFixture.fleet.advance(2 * minuteMs);
    expect(inbox.deliveries).toHaveLength(1);
    await laneFixture.settle();
  });

  it('that was moved to a later time can be moved back to now, and is delivered once', async () => {
    const { laneFixture, inbox, messageId } = await waiting(hold);
    await change(laneFixture, messageId, { delay: '3h' });
    await change(laneFixture, messageId, { delay: '0s' });
    await laneFixture.fleet.advance(minuteMs);
    await hold.letGo(laneFixture);
    await laneFixture.fleet.advance(4 * hourMs);
    expect(inbox.deliveries).toHaveLength(1);
    await laneFixture.settle();
  });
});

it('A timeout of the other delivery queue is refused in a line, and changes nothing', async () => {
  const { laneFixture, messageId } = await waiting(pausedQueue);
  await expect(change(laneFixture, messageId, { timeout: '10m' })).rejects.toMatchObject({ status: 409 });
  await change(laneFixture, messageId, { timeout: '29s' });
});

it.each([
  ['before the change', 'PutItemCommand', 1],
  ['before the second look', 'GetItemCommand', 3],
] as const)(
  'A change of a message that leaves its line %s is answered with 409, and the message is delivered once',
  async (_, operation, call) => {
    const { laneFixture, inbox, messageId } = await waiting(pausedQueue);
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

const survives = (body: object) => async (fate: Parameters<Fixture['again']>[0]) => {
  const { laneFixture, inbox, messageId } = await waiting(pausedQueue);
  await fixture.again(fate, () => change(laneFixture, messageId, body));
  fixture.reset();
  await pausedQueue.letGo(laneFixture);
  await laneFixture.fleet.advance(3 * hourMs);
  expect(inbox.deliveries).toHaveLength(1);
  expect(await laneFixture.endOf(messageId)).toBe('DELIVERED');
};
itAtEachDeath(
  'A message in a line is delivered once where a change of its settings dies',
  survives({ label: 'a' }),
);
itAtEachDeath(
  'A message in a line is delivered once where a change of its time dies',
  survives({ delay: '2h' }),
);
