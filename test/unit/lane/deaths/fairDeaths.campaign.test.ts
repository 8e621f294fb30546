import { describe, expect } from 'vitest';
import { itAtEachDeath, type DeathOptions, type Fate } from '../../../support/faults.ts';
import type { LaneFixture, LaneLambdas } from '../../../support/laneFixture.ts';
import { useLaneFixtures } from '../../../support/useLaneFixtures.ts';
import type { Inbox } from '../../../support/receiver.ts';
import type { Fixture } from '../../../support/fixture.ts';

/**
 * Kills a process at each AWS call while more tenants wait than a lane’s row keeps. No message is lost or waits for ever, and
 * each tenant’s messages keep their order.
 */

const hourMs = 3_600_000;

let fixture: Fixture;
let lambdas: LaneLambdas;
const open = useLaneFixtures((opened, imported) => {
  fixture = opened;
  lambdas = imported;
});

function diesAtEachCall(way: (on: LaneFixture, fate: Fate) => Promise<void>, options?: DeathOptions) {
  itAtEachDeath(
    'loses nothing when its process dies at any of its AWS calls',
    async (fate) => {
      const on = await open();
      await way(on, fate);
      on.fleet.setFate(undefined);
      await on.settle();
    },
    options,
  );
}

/** Each death takes a second. An ordinary run tries a few dozen of several hundred. */
const ofWorkers = { every: { ordinary: 25, thorough: 5 } };

const tenants = Array.from({ length: 6 }, (_, index) => `tenant ${index}`);

/** Sends `many` messages of the first tenant and two of each other one. */
async function sendAll(on: LaneFixture, { url }: Inbox, queue: string, many = 10) {
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
  diesAtEachCall(async (on, fate) => {
    const inbox = fixture.receiver.inbox();
    on.fleet.hold(true);
    const ids = await sendAll(on, inbox, 'strict');
    on.fleet.setFate(fate);
    on.fleet.hold(false);
    await on.fleet.advance(hourMs);
    const ends = await Promise.all([...ids.values()].flat().map((id) => on.endOf(id)));
    expect(ends).toEqual(ends.map(() => 'DELIVERED'));
    expectOrder(inbox, ids);
  }, ofWorkers);
});

describe('messages of many tenants and priorities with a key', () => {
  diesAtEachCall(async (on, fate) => {
    const inbox = fixture.receiver.inbox();
    on.fleet.hold(true);
    const config = { 'flow-control-key': 'narrow', 'flow-control-value': 'parallelism=1' };
    const ids: string[] = [];
    for (const tenant of tenants) {
      for (const priority of ['low', 'high']) {
        ids.push(await on.send(inbox.url, { ...config, 'fair-key': tenant, priority }));
      }
    }
    on.fleet.setFate(fate);
    on.fleet.hold(false);
    await on.fleet.advance(hourMs);
    expect(await Promise.all(ids.map((id) => on.endOf(id)))).toEqual(ids.map(() => 'DELIVERED'));
  }, ofWorkers);
});

describe('an enqueue to a queue with many tenants', () => {
  diesAtEachCall(async (on, fate) => {
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
  diesAtEachCall(async (on, fate) => {
    const inbox = fixture.receiver.inbox();
    on.fleet.hold(true);
    const ids = await sendAll(on, inbox, 'busy');
    on.forget();
    const [kept = '', cancelled = ''] = ids.get('tenant 1') ?? [];
    await fixture.again(fate, async () => {
      await lambdas.cancelMessage(on.account, cancelled).catch((error: unknown) => {
        // The request that died may have cancelled the message.
        if (!(error instanceof Error && 'status' in error && error.status === 404)) throw error;
      });
    });
    on.fleet.hold(false);
    await on.fleet.advance(hourMs);
    expect([await on.endOf(kept), await on.endOf(cancelled)]).toEqual(['DELIVERED', 'CANCELED']);
    expectOrder(inbox, ids.set('tenant 1', [kept]));
  });
});

describe('a queue that is deleted while many tenants wait in it', () => {
  diesAtEachCall(async (on, fate) => {
    const inbox = fixture.receiver.inbox();
    on.fleet.hold(true);
    const ids = [...(await sendAll(on, inbox, 'doomed', 20)).values()].flat();
    await lambdas.deleteQueue(on.account, 'doomed');
    on.fleet.setFate(fate);
    on.fleet.hold(false);
    await on.fleet.advance(hourMs);
    const [first, ...others] = await Promise.all(ids.map((id) => on.endOf(id)));
    expect(first).toBe('DELIVERED');
    expect(others).toEqual(others.map(() => 'CANCELED'));
    expect(await on.lane('queue', 'doomed')).toMatchObject({ isDeleted: true, deletedFairLines: [] });
  }, ofWorkers);
});
