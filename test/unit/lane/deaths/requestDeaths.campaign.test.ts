import { describe, expect } from 'vitest';
import { itAtEachDeath, type DeathOptions, type Fate } from '../../../support/faults.ts';
import type { LaneFixture, LaneLambdas } from '../../../support/laneFixture.ts';
import type { Inbox } from '../../../support/receiver.ts';
import { useLaneFixtures } from '../../../support/useLaneFixtures.ts';
import type { Fixture } from '../../../support/fixture.ts';

/**
 * Kills a process at each AWS call of a request to lanes, which the client repeats. A message may be created twice, or never if
 * the client got no answer. No slot is lost, no message waits for ever, and the order is kept, also while more tenants wait than
 * a lane’s row keeps.
 */

const hourMs = 3_600_000;

let fixture: Fixture;
let lambdas: LaneLambdas;
const open = useLaneFixtures((opened, imported) => {
  fixture = opened;
  lambdas = imported;
});

function diesAtEachCall(
  title: string,
  way: (on: LaneFixture, fate: Fate) => Promise<void>,
  options: DeathOptions = {},
) {
  itAtEachDeath(
    title,
    async (fate) => {
      const on = await open();
      await way(on, fate);
      on.fleet.setFate(undefined);
      await on.settle();
    },
    { every: { ordinary: 11, thorough: 1 }, ...options },
  );
}
const title = 'loses nothing when its process dies at any of its AWS calls';

async function enqueueAgain(on: LaneFixture, fate: Fate): Promise<void> {
  const inbox = fixture.receiver.inbox();
  const ids: string[] = [];
  await fixture.again(fate, async () => {
    ids.push(await on.send(inbox.url, {}, 'roomy'));
  });
  await on.fleet.advance(hourMs);
  // A message whose client got no answer may be delivered, too.
  expect(inbox.deliveries.length).toBeLessThanOrEqual(2);
  expect(ids.length).toBe(1);
  expect(await Promise.all(ids.map((id) => on.endOf(id)))).toEqual(['DELIVERED']);
}

describe('an enqueue to a queue with capacity', () => {
  diesAtEachCall(title, enqueueAgain);

  diesAtEachCall('is taken back when any of its AWS calls fails', enqueueAgain, { survived: true });
});

describe('an enqueue to a queue in which another message waits', () => {
  diesAtEachCall(title, async (on, fate) => {
    const inbox = fixture.receiver.inbox();
    on.fleet.hold(true);
    const ids = [await on.send(inbox.url, {}, 'busy'), await on.send(inbox.url, {}, 'busy')];
    on.forget();
    await fixture.again(fate, async () => {
      ids.push(await on.send(inbox.url, {}, 'busy'));
    });
    on.fleet.hold(false);
    await on.fleet.advance(hourMs);
    expect(ids.length).toBe(3);
    expect(await Promise.all(ids.map((id) => on.endOf(id)))).toEqual(ids.map(() => 'DELIVERED'));
    const came = inbox.deliveries.map(({ headers }) => headers['svc-message-id'] ?? '');
    expect(came.filter((id) => ids.includes(id))).toEqual(ids);
  });
});

/** Ignores a 404: the request that died may already have done its work. */
const unlessGone = async (request: Promise<unknown>): Promise<void> => {
  await request.catch((error: unknown) => {
    if (!(error instanceof Error && 'status' in error && error.status === 404)) throw error;
  });
};

describe('a cancel of a message that waits in its queue', () => {
  diesAtEachCall(title, async (on, fate) => {
    const inbox = fixture.receiver.inbox();
    on.fleet.hold(true);
    const first = await on.send(inbox.url, {}, 'busy');
    const second = await on.send(inbox.url, {}, 'busy');
    const third = await on.send(inbox.url, {}, 'busy');
    on.forget();
    await fixture.again(fate, () => unlessGone(lambdas.cancelMessage(on.account, second)));
    on.fleet.hold(false);
    await on.fleet.advance(hourMs);
    expect([await on.endOf(first), await on.endOf(second), await on.endOf(third)]).toEqual([
      'DELIVERED',
      'CANCELED',
      'DELIVERED',
    ]);
    expect(inbox.deliveries.map(({ headers }) => headers['svc-message-id'])).toEqual([first, third]);
  });
});

describe('a cancel of a message that waits for its retry, in a queue, with a key', () => {
  diesAtEachCall(title, async (on, fate) => {
    const failing = fixture.receiver.inbox((_delivery, response) => response.writeHead(500).end());
    const inbox = fixture.receiver.inbox();
    const config = { 'flow-control-key': 'narrow', 'flow-control-value': 'parallelism=1' };
    const retries = { retries: '3', 'retry-delay': '3000000' };
    const first = await on.send(failing.url, { ...config, ...retries }, 'strict');
    const second = await on.send(inbox.url, config, 'strict');
    await on.fleet.advance(60_000);
    expect([failing.deliveries.length, inbox.deliveries.length]).toEqual([1, 0]);
    await fixture.again(fate, () => unlessGone(lambdas.cancelMessage(on.account, first)));
    await on.fleet.advance(hourMs);
    expect([await on.endOf(first), await on.endOf(second)]).toEqual(['CANCELED', 'DELIVERED']);
    expect(failing.deliveries).toHaveLength(1);
  });
});

describe('a cancel of a message that is being delivered', () => {
  diesAtEachCall(title, async (on, fate) => {
    const held: (() => void)[] = [];
    const failing = fixture.receiver.inbox((_delivery, response) =>
      held.push(() => response.writeHead(500).end()),
    );
    const inbox = fixture.receiver.inbox();
    const first = await on.send(failing.url, { retries: '3', 'retry-delay': '0' }, 'strict');
    const second = await on.send(inbox.url, {}, 'strict');
    await failing.received(1);
    on.forget();
    await fixture.again(fate, () => unlessGone(lambdas.cancelMessage(on.account, first)));
    expect(inbox.deliveries).toHaveLength(0);
    for (const answer of held) answer();
    await on.fleet.advance(hourMs);
    expect([await on.endOf(first), await on.endOf(second)]).toEqual(['CANCELED', 'DELIVERED']);
    expect(failing.deliveries).toHaveLength(1);
  });
});

describe('a deletion of a queue in which messages wait', () => {
  diesAtEachCall(title, async (on, fate) => {
    const inbox = fixture.receiver.inbox();
    on.fleet.hold(true);
    const ids: string[] = [];
    for (let number = 0; number < 10; number += 1) ids.push(await on.send(inbox.url, {}, 'doomed'));
    on.forget();
    await fixture.again(fate, () => unlessGone(lambdas.deleteQueue(on.account, 'doomed')));
    on.fleet.hold(false);
    await on.fleet.advance(hourMs);
    const [first, ...others] = await Promise.all(ids.map((id) => on.endOf(id)));
    expect(first).toBe('DELIVERED');
    expect(others).toEqual(others.map(() => 'CANCELED'));
    expect(inbox.deliveries).toHaveLength(1);
    expect(await on.lane('queue', 'doomed')).toMatchObject({ isDeleted: true, deletedLines: [] });
  });
});

/** Each death takes a second. */
const ofWorkers = { every: { ordinary: 51, thorough: 5 } };

const tenants = Array.from({ length: 6 }, (_, index) => `tenant ${index}`);

/** Sends `many` messages of the first tenant and two of each other one. */
async function sendAll(on: LaneFixture, { url }: Inbox, queue: string, many = 5) {
  const ids = new Map<string, string[]>();
  const send = async (tenant: string): Promise<void> => {
    const mine = ids.get(tenant) ?? [];
    ids.set(tenant, mine);
    mine.push(await on.send(url, { 'fair-key': tenant }, queue));
  };
  for (let sent = 0; sent < many; sent += 1) await send(tenants[0] ?? '');
  for (const tenant of [...tenants.slice(1), ...tenants]) await send(tenant);
  return ids;
}

/** Expects each message at least once, and each tenant’s messages in order. */
function expectOrder({ deliveries }: Inbox, ids: ReadonlyMap<string, readonly string[]>): void {
  const came = [...new Set(deliveries.map(({ headers }) => headers['svc-message-id'] ?? ''))];
  for (const [tenant, mine] of ids) {
    expect(
      came.filter((id) => mine.includes(id)),
      tenant,
    ).toEqual(mine);
  }
}

describe('messages of many tenants in a queue', () => {
  diesAtEachCall(
    title,
    async (on, fate) => {
      const inbox = fixture.receiver.inbox();
      on.fleet.hold(true);
      const ids = await sendAll(on, inbox, 'strict');
      on.fleet.setFate(fate);
      on.fleet.hold(false);
      await on.fleet.advance(hourMs);
      const ends = await Promise.all([...ids.values()].flat().map((id) => on.endOf(id)));
      expect(ends).toEqual(ends.map(() => 'DELIVERED'));
      expectOrder(inbox, ids);
    },
    ofWorkers,
  );
});

describe('an enqueue to a queue with many tenants', () => {
  diesAtEachCall(title, async (on, fate) => {
    const inbox = fixture.receiver.inbox();
    on.fleet.hold(true);
    const ids = await sendAll(on, inbox, 'busy');
    on.forget();
    const mine = ids.get('tenant 1') ?? [];
    await fixture.again(fate, async () => {
      mine.push(await on.send(inbox.url, { 'fair-key': 'tenant 1' }, 'busy'));
    });
    on.fleet.hold(false);
    await on.fleet.advance(hourMs);
    expect(mine).toHaveLength(3);
    expectOrder(inbox, ids);
  });
});

describe('a cancel of a message whose tenant has a separate row', () => {
  diesAtEachCall(title, async (on, fate) => {
    const inbox = fixture.receiver.inbox();
    on.fleet.hold(true);
    const ids = await sendAll(on, inbox, 'busy');
    on.forget();
    const [kept = '', cancelled = ''] = ids.get('tenant 1') ?? [];
    await fixture.again(fate, async () => {
      await unlessGone(lambdas.cancelMessage(on.account, cancelled));
    });
    on.fleet.hold(false);
    await on.fleet.advance(hourMs);
    expect([await on.endOf(kept), await on.endOf(cancelled)]).toEqual(['DELIVERED', 'CANCELED']);
    expectOrder(inbox, ids.set('tenant 1', [kept]));
  });
});

describe('a queue that is deleted while many tenants wait in it', () => {
  diesAtEachCall(
    title,
    async (on, fate) => {
      const inbox = fixture.receiver.inbox();
      on.fleet.hold(true);
      const ids = [...(await sendAll(on, inbox, 'doomed', 10)).values()].flat();
      await lambdas.deleteQueue(on.account, 'doomed');
      on.fleet.setFate(fate);
      on.fleet.hold(false);
      await on.fleet.advance(hourMs);
      const [first, ...others] = await Promise.all(ids.map((id) => on.endOf(id)));
      expect(first).toBe('DELIVERED');
      expect(others).toEqual(others.map(() => 'CANCELED'));
      expect(await on.lane('queue', 'doomed')).toMatchObject({ isDeleted: true, deletedFairLines: [] });
    },
    ofWorkers,
  );
});

/** Holds or releases as the account is now. */
const asNow = async (on: LaneFixture, act: 'hold' | 'release', host: string): Promise<unknown> => {
  const account = await fixture.loadAccount(on.account.id, true);
  if (account === undefined) throw new Error('The account is not there.');
  return act === 'hold'
    ? lambdas.hold({ account }, 'host', host, Buffer.from('{"reason":"moved"}'))
    : lambdas.release(account, 'host', host);
};
const knownMs = 12_000;

describe('a hold of a host', () => {
  diesAtEachCall(title, async (on, fate) => {
    const inbox = fixture.receiver.inbox();
    const { host } = new URL(inbox.url);
    await fixture.again(fate, () => asNow(on, 'hold', host));
    await on.fleet.advance(knownMs);
    const ids = [await on.send(inbox.url), await on.send(inbox.url)];
    await on.fleet.advance(hourMs);
    expect(inbox.deliveries).toHaveLength(0);
    await asNow(on, 'release', host);
    await on.fleet.advance(hourMs);
    expect(await Promise.all(ids.map((id) => on.endOf(id)))).toEqual(['DELIVERED', 'DELIVERED']);
  });
});

describe('a release of a host', () => {
  diesAtEachCall(title, async (on, fate) => {
    const inbox = fixture.receiver.inbox();
    const { host } = new URL(inbox.url);
    await asNow(on, 'hold', host);
    await on.fleet.advance(knownMs);
    const ids: string[] = [];
    for (let number = 0; number < 12; number += 1) ids.push(await on.send(inbox.url));
    await on.fleet.advance(hourMs);
    on.forget();
    await fixture.again(fate, () => unlessGone(asNow(on, 'release', host)));
    await on.fleet.advance(hourMs);
    expect(await Promise.all(ids.map((id) => on.endOf(id)))).toEqual(ids.map(() => 'DELIVERED'));
    const account = await fixture.loadAccount(on.account.id, true);
    expect((account && (await lambdas.listHolds(account))) ?? []).toEqual([]);
  });
});
