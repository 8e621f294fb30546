import { beforeEach, describe, expect, it } from 'vitest';
import { newLane, type LaneKey } from '../../../../lambdas/lane/lane.ts';
import { pageSize } from '../../../../lambdas/lane/rules/line.ts';
import { useFixture } from '../../../support/useFixture.ts';
import { requestOf, type Fixture } from '../../../support/fixture.ts';
import { watchWrites } from '../../../support/writes.ts';

let fixture: Fixture;
let writes: ReturnType<typeof watchWrites>;
let stores: Awaited<ReturnType<typeof importStores>>;
let circuits: Awaited<ReturnType<typeof importDomain>>;

const importStores = () => import('../../../../lambdas/lane/store/lanes.ts');
const importDomain = () => import('../../../../lambdas/circuit/circuit.ts');

useFixture(async (opened) => {
  fixture = opened;
  stores = await importStores();
  circuits = await importDomain();
  writes = watchWrites(fixture.dynamodb);
});

const on = { circuit: 'on', retries: '5', 'retry-delay': '60000' };
const send = (url: string, config: Readonly<Record<string, string>> = on) =>
  fixture.publishRequest(fixture.account, requestOf(url, config));

beforeEach(async () => {
  await fixture.drain();
  // The process reads and leases what it keeps for a minute: the account, and one of its slots.
  await send(fixture.receiver.inbox().url, {});
  await fixture.doJobs();
  fixture.reset();
  writes.reset();
});

async function deliverOne(url: string, config?: Readonly<Record<string, string>>) {
  await send(url, config);
  const { job } = await fixture.receiveAttempt();
  fixture.reset();
  writes.reset();
  await fixture.deliver(job, false);
  return fixture.operations();
}

const laneOf = (url: string): LaneKey => ({
  accountId: fixture.account.id,
  kind: 'circuit',
  name: new URL(url).host,
});

describe('a message', () => {
  it('without circuits costs no more calls', async () => {
    const { url } = fixture.receiver.inbox();
    expect(await deliverOne(url, {})).toEqual({ QueryCommand: 1, PutItemCommand: 1 });
  });

  it('whose host is up costs one read, which serves all messages of a second', async () => {
    const { url } = fixture.receiver.inbox();
    const [first, second] = [await deliverOne(url), await deliverOne(url)];
    expect(first).toEqual({ QueryCommand: 1, PutItemCommand: 1, GetItemCommand: 1 });
    expect(second).toEqual({ QueryCommand: 1, PutItemCommand: 1 });
    expect(writes.unitsIn(fixture.settings.lanesTable)).toBe(0);
  });

  it('that waits costs two lane writes, one log write and part of a page, however long its host is down', async () => {
    const count = 40;
    const target = fixture.receiver.inbox().url.replace('127.0.0.1', 'localhost');
    const lane = laneOf(target);
    const circuit = {
      ...circuits.closedCircuit,
      openedAt: Date.now(),
      openUntil: Date.now() + 600_000,
    };
    const keepAt = Date.now() + 1_000_000;
    await stores.saveLane({ ...newLane(lane, Date.now()), circuit, keepAt, pumpAt: circuit.openUntil });
    for (let number = 0; number < count; number += 1) await send(target);
    fixture.reset();
    writes.reset();
    await fixture.doJobs();
    const waiting = await stores.loadLane(lane);
    expect(waiting && { line: waiting.line.nextPage * pageSize + waiting.line.back.length }).toEqual({
      line: count,
    });
    // Messages that arrive together join with one write.
    expect(writes.unitsIn(fixture.settings.lanesTable)).toBeLessThanOrEqual(count + count / pageSize);
    // The log has an entry for each.
    expect(writes.unitsIn(fixture.settings.messagesTable)).toBe(count);
    writes.reset();
    fixture.reset();
    await stores.saveLane({
      ...(waiting ?? newLane(lane, Date.now())),
      circuit: { ...circuit, openUntil: Date.now() },
    });
    writes.reset();
    const { pump } = await import('../../../../lambdas/lane/pump.ts');
    const { accountId, name } = lane;
    await pump({ kind: 'pump', accountId, lane: 'circuit', name, dueAt: Date.now() });
    await fixture.doJobs();
    expect(writes.unitsIn(fixture.settings.messagesTable)).toBe(count);
    // Each message that leaves starts others. A row with many leases exceeds a kilobyte.
    expect(fixture.callsOf('PutItemCommand') - count).toBeLessThanOrEqual(1.2 * count);
    expect(writes.unitsIn(fixture.settings.lanesTable)).toBeLessThanOrEqual(4 * count);
  });
});
