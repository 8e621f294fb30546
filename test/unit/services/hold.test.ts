import { DeleteMessageCommand, ReceiveMessageCommand } from '@aws-sdk/client-sqs';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { randomUUID } from 'node:crypto';
import type { Account } from '../../../lambdas/domain/account.ts';
import type { Inbox } from '../../support/receiver.ts';
import { deathsAt, openWorld, requestOf, type World } from '../../support/world.ts';

/** What if the process dies here? Messages of a suspended account are held, and let go, by processes that die at each call. */

const importHold = () => import('../../../lambdas/services/hold.ts');

let world: World;
let hold: Awaited<ReturnType<typeof importHold>>;
beforeAll(async () => {
  world = await openWorld();
  hold = await importHold();
});
afterAll(() => world.close());
beforeEach(() => {
  world.reset();
});
afterEach(() => {
  vi.useRealTimers();
});

interface Scene {
  readonly account: Account;
  readonly inbox: Inbox;
}

/** A message whose account was suspended when it was accepted. */
async function suspended(body = 'work'): Promise<Scene> {
  const account: Account = {
    ...world.account,
    id: randomUUID(),
    active: false,
    state: 'passive',
    version: 1,
  };
  await world.saveAccount(account, undefined);
  const inbox = world.receiver.inbox();
  await world.publishRequest(account, requestOf(inbox.url, {}, body));
  world.reset();
  return { account, inbox };
}

async function activate({ account }: Scene): Promise<void> {
  await world.saveAccount({ ...account, active: true, state: 'active', version: 2 }, account);
}

/** Lets everything go, as the region's follower does, again and again until nothing waits. */
async function letAllGo({ account }: Scene): Promise<void> {
  expect(await hold.letSomeGo(account, Infinity)).toBe(true);
  await world.work();
}

describe('a worker that holds a message', () => {
  it.each(deathsAt(8))('and dies $when its AWS call $call loses nothing', async (death) => {
    const scene = await suspended('x'.repeat(3_000));
    await world.work(death);
    expect(scene.inbox.deliveries).toHaveLength(0);
    await activate(scene);
    await letAllGo(scene);
    expect(scene.inbox.deliveries).toHaveLength(1);
    expect(scene.inbox.deliveries[0]?.body).toHaveLength(3_000);
  });

  it('lets it go at once when its account became active meanwhile', async () => {
    const scene = await suspended();
    const [received] = await world.receive();
    if (received === undefined) throw new Error('There is no pointer.');
    const { loadMessage } = await import('../../../lambdas/stores/messages.ts');
    const history = await loadMessage(received.pointer);
    if (history === undefined) throw new Error('There is no message.');
    // The worker has read the account; now it changes, and all that waits is let go, before the worker writes.
    await activate(scene);
    await letAllGo(scene);
    await hold.hold(history, received.pointer);
    await world.work();
    expect(scene.inbox.deliveries).toHaveLength(1);
  });

  it('does not deliver what was cancelled while it waited', async () => {
    const scene = await suspended();
    const [received] = await world.receive();
    if (received === undefined) throw new Error('There is no pointer.');
    await world.deliver(received.pointer);
    const { cancelMessage } = await import('../../../lambdas/services/messages.ts');
    await cancelMessage(scene.account, received.pointer.messageId);
    await activate(scene);
    await letAllGo(scene);
    expect(scene.inbox.deliveries).toHaveLength(0);
  });
});

describe('a worker that lets messages go', () => {
  it.each(deathsAt(14))('and dies $when its AWS call $call loses nothing', async (death) => {
    const scene = await suspended();
    await world.work();
    await activate(scene);
    world.reset(death);
    await hold.letSomeGo(scene.account, Infinity).catch(() => false);
    world.reset();
    // Its notice comes back when it has surely died.
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 5 * 60_000 });
    await letAllGo(scene);
    expect(scene.inbox.deliveries).toHaveLength(1);
  });

  it('beside others sends each message once', async () => {
    const scene = await suspended();
    await world.work();
    await activate(scene);
    await Promise.all([1, 2, 3].map(() => hold.letSomeGo(scene.account, Infinity)));
    expect((await world.drain()).length).toBe(1);
  });

  it('does not remove what is held again already', async () => {
    const scene = await suspended();
    await world.work();
    // It is let go, and finds its account suspended: it has never been active.
    await letAllGo(scene);
    expect(scene.inbox.deliveries).toHaveLength(0);
    await activate(scene);
    await letAllGo(scene);
    expect(scene.inbox.deliveries).toHaveLength(1);
  });
});

describe('a worker that finds no room for a message', () => {
  const importMore = async () => {
    const [{ putLease }, { followAccount }] = await Promise.all([
      import('../../../lambdas/stores/flight.ts'),
      import('../../../lambdas/services/accountChange.ts'),
    ]);
    return { putLease, followAccount };
  };

  /** Takes the notices that have come by now. */
  async function notices(accountId: string): Promise<readonly string[]> {
    const QueueUrl = world.settings.accountChangesQueues[world.settings.region];
    const found: string[] = [];
    for (;;) {
      const { Messages = [] } = await world.sqs.send(
        new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10 }),
      );
      if (Messages.length === 0) return found.filter((body) => body.includes(accountId));
      for (const { Body = '', ReceiptHandle } of Messages) {
        found.push(Body);
        await world.sqs.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle }));
      }
    }
  }

  it.each(deathsAt(10))('and dies $when its AWS call $call has the line looked at', async (death) => {
    const start = Date.now();
    vi.useFakeTimers({ toFake: ['Date'], now: start });
    const { putLease, followAccount } = await importMore();
    const scene = await suspended();
    const account = { ...scene.account, limits: { max_global_parallelism: 1 } };
    await activate({ ...scene, account });
    // Somebody else has the one slot, and dies.
    await putLease(account.id, { processId: 'other', slots: 1, until: start + 60_000 });

    const [received] = await world.receive();
    if (received === undefined) throw new Error('There is no pointer.');
    world.reset(death);
    const isDone = await world.deliver(received.pointer).then(
      () => true,
      () => false,
    );
    world.reset();
    // What was not done comes back when its visibility has ended; the slot is not free until then.
    vi.setSystemTime(start + 71_000);
    await putLease(account.id, { processId: 'other', slots: 1, until: start + 80_000 });
    if (!isDone) await world.deliver(received.pointer);
    const message = { QueueUrl: received.queueUrl, ReceiptHandle: received.handle };
    await world.sqs.send(new DeleteMessageCommand(message));
    expect(scene.inbox.deliveries).toHaveLength(0);

    vi.setSystemTime(start + 81_000);
    const told = await notices(account.id);
    expect(told.length).toBeGreaterThan(0);
    for (const notice of told) await followAccount(notice);
    await world.work();
    expect(scene.inbox.deliveries).toHaveLength(1);
  });

  it('is looked at again although whoever took it from the line died', async () => {
    const start = Date.now();
    vi.useFakeTimers({ toFake: ['Date'], now: start });
    const { putLease, followAccount } = await importMore();
    const { claimHeld } = await import('../../../lambdas/stores/held.ts');
    const scene = await suspended();
    const account = { ...scene.account, limits: { max_global_parallelism: 1 } };
    await activate({ ...scene, account });
    await putLease(account.id, { processId: 'other', slots: 1, until: start + 4_000 });
    const [received] = await world.receive();
    if (received === undefined) throw new Error('There is no pointer.');
    await world.deliver(received.pointer);
    const message = { QueueUrl: received.queueUrl, ReceiptHandle: received.handle };
    await world.sqs.send(new DeleteMessageCommand(message));
    // It is taken, and its pointer is never sent.
    vi.setSystemTime(start + 4_500);
    const { messageId, attempt } = received.pointer;
    expect(await claimHeld({ accountId: account.id, messageId, attempt }, Date.now(), 0)).toBe(true);
    for (let second = 6; second < 120; second += 5) {
      vi.setSystemTime(start + second * 1_000);
      for (const notice of await notices(account.id)) await followAccount(notice);
    }
    await world.work();
    expect(scene.inbox.deliveries).toHaveLength(1);
  });
});
