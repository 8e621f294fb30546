import { beforeEach, describe, expect, it } from 'vitest';
import { newLane, type LaneKey } from '../../../../lambdas/lane/lane.ts';
import { pageSize } from '../../../../lambdas/lane/rules/line.ts';
import { useWorld } from '../../../support/useWorld.ts';
import { requestOf, type World } from '../../../support/world.ts';
import { watchWrites } from '../../../support/writes.ts';

/** The cost that circuits add to the bill of a message. */

let world: World;
let writes: ReturnType<typeof watchWrites>;
let stores: Awaited<ReturnType<typeof importStores>>;
let circuits: Awaited<ReturnType<typeof importDomain>>;

const importStores = () => import('../../../../lambdas/lane/store/lanes.ts');
const importDomain = () => import('../../../../lambdas/circuit/circuit.ts');

useWorld(async (opened) => {
  world = opened;
  stores = await importStores();
  circuits = await importDomain();
  writes = watchWrites(world.dynamodb);
});

const on = { circuit: 'on', retries: '5', 'retry-delay': '60000' };
const send = (url: string, config: Readonly<Record<string, string>> = on) =>
  world.publishRequest(world.account, requestOf(url, config));

beforeEach(async () => {
  await world.drain();
  // The process reads and leases what it has for a minute: the account, and a slot of it.
  await send(world.receiver.inbox().url, {});
  await world.work();
  world.reset();
  writes.reset();
});

/** Delivers the next message, and returns the AWS calls that this took. */
async function deliverOne(url: string, config?: Readonly<Record<string, string>>) {
  await send(url, config);
  const { work } = await world.receiveAttempt();
  world.reset();
  writes.reset();
  await world.deliver(work, false);
  return world.operations();
}

const laneOf = (url: string): LaneKey => ({
  accountId: world.account.id,
  kind: 'circuit',
  name: new URL(url).host,
});

describe('a message', () => {
  it('without circuits costs no call more', async () => {
    const { url } = world.receiver.inbox();
    expect(await deliverOne(url, {})).toEqual({ QueryCommand: 1, PutItemCommand: 1 });
  });

  it('whose host is up costs one read, which serves all of a second', async () => {
    const { url } = world.receiver.inbox();
    const [first, second] = [await deliverOne(url), await deliverOne(url)];
    expect(first).toEqual({ QueryCommand: 1, PutItemCommand: 1, GetItemCommand: 1 });
    expect(second).toEqual({ QueryCommand: 1, PutItemCommand: 1 });
    expect(writes.unitsIn(world.settings.lanesTable)).toBe(0);
  });

  it('that waits costs two writes of its lane, one for the log and a share of a page, however long its host is down', async () => {
    const count = 40;
    const target = world.receiver.inbox().url.replace('127.0.0.1', 'localhost');
    const lane = laneOf(target);
    const circuit = {
      ...circuits.closedCircuit,
      openedAt: Date.now(),
      openUntil: Date.now() + 600_000,
    };
    const keepAt = Date.now() + 1_000_000;
    await stores.saveLane({ ...newLane(lane, Date.now()), circuit, keepAt, pumpAt: circuit.openUntil });
    for (let number = 0; number < count; number += 1) await send(target);
    world.reset();
    writes.reset();
    await world.work();
    const waiting = await stores.loadLane(lane);
    expect(waiting && { line: waiting.line.nextPage * pageSize + waiting.line.back.length }).toEqual({
      line: count,
    });
    // Those that arrive together join with one write.
    expect(writes.unitsIn(world.settings.lanesTable)).toBeLessThanOrEqual(count + count / pageSize);
    // The log has an entry of each.
    expect(writes.unitsIn(world.settings.messagesTable)).toBe(count);
    writes.reset();
    world.reset();
    await stores.saveLane({
      ...(waiting ?? newLane(lane, Date.now())),
      circuit: { ...circuit, openUntil: Date.now() },
    });
    writes.reset();
    const { pump } = await import('../../../../lambdas/lane/pump.ts');
    const { accountId, name } = lane;
    await pump({ kind: 'pump', accountId, lane: 'circuit', name, dueAt: Date.now() });
    await world.work();
    expect(writes.unitsIn(world.settings.messagesTable)).toBe(count);
    // It leaves, which lets others go. A row with the leases of many in flight is larger than a kilobyte.
    expect(world.callsOf('PutItemCommand') - count).toBeLessThanOrEqual(1.2 * count);
    expect(writes.unitsIn(world.settings.lanesTable)).toBeLessThanOrEqual(4 * count);
  });
});
