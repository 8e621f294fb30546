import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { formatEntry } from '../../../lambdas/lane/rules/entry.ts';
import { closedCircuit } from '../../../lambdas/circuit/circuit.ts';
import { emptyLine, lengthOf, pageSize, type Line } from '../../../lambdas/lane/rules/line.ts';
import { newLane, type LaneKey } from '../../../lambdas/lane/lane.ts';
import { leave } from '../../../lambdas/lane/rules/leaving.ts';
import { Fate } from '../../support/faults.ts';
import { idsIn, importLaneLambdas, LaneFixture, type LaneLambdas } from '../../support/laneFixture.ts';
import { useFixture } from '../../support/useFixture.ts';
import { requestOf, type Fixture } from '../../support/fixture.ts';
import { watchWrites } from '../../support/writes.ts';

/** DynamoDB bills a write for each kilobyte. */

let fixture: Fixture;
let lambdas: LaneLambdas;
let lanes: Awaited<ReturnType<typeof importLanes>>;
let writes: ReturnType<typeof watchWrites>;

const importLanes = async () => (await import('../../../lambdas/lane/slots/processLanes.ts')).lanes;

const realNow = Date.now;
let startedAt = 0;
/** Stops the clock, so that what a process knows stays fresh, and no earlier test's pump is due. */
function stopClock(aheadMs = 0): void {
  vi.spyOn(Date, 'now').mockReturnValue(startedAt + aheadMs);
}

useFixture(async (opened) => {
  fixture = opened;
  lambdas = await importLaneLambdas();
  lanes = await importLanes();
  writes = watchWrites(fixture.dynamodb);
  startedAt = realNow();
});
beforeEach(async () => {
  stopClock();
  await fixture.drain();
  await warmUp();
  fixture.reset();
  writes.reset();
});

/** Lets the process read and lease what it keeps for a minute: the account, and one of its slots. */
async function warmUp(): Promise<void> {
  await send();
  await fixture.doJobs();
}

async function send(config: Readonly<Record<string, string>> = {}, queueName?: string): Promise<void> {
  const { url } = fixture.receiver.inbox();
  await fixture.publishRequest(fixture.account, { ...requestOf(url, config), queueName });
}

const unitsIn = (name: string): number => writes.unitsIn(name);
const laneUnits = (): number => unitsIn(fixture.settings.lanesTable);

describe('a message', () => {
  it('without a queue and a key costs nothing for lanes', async () => {
    await send();
    expect(fixture.operations()).toEqual({ PutItemCommand: 1, SendMessageCommand: 1 });
    const { job } = await fixture.receiveAttempt();
    fixture.reset();
    await fixture.deliver(job, false);
    expect(fixture.operations()).toEqual({ QueryCommand: 1, PutItemCommand: 1 });
    expect(laneUnits()).toBe(0);
  });

  it('whose queue has capacity costs two more writes', async () => {
    await send({}, 'roomy');
    await fixture.doJobs();
    writes.reset();
    await send({}, 'roomy');
    expect(laneUnits()).toBe(1);
    await fixture.doJobs();
    expect(laneUnits()).toBe(2);
    expect(unitsIn(fixture.settings.messagesTable)).toBe(2);
  });

  it('whose key has capacity costs two more writes', async () => {
    const config = { 'flow-control-key': 'roomy', 'flow-control-value': 'parallelism=2,rate=100' };
    await send(config);
    await fixture.doJobs();
    fixture.reset();
    writes.reset();
    await send(config);
    // The process knows that the key exists.
    expect(fixture.operations()).toEqual({ PutItemCommand: 1, SendMessageCommand: 1 });
    expect(laneUnits()).toBe(0);
    await fixture.doJobs();
    expect(laneUnits()).toBe(2);
    expect(unitsIn(fixture.settings.messagesTable)).toBe(2);
  });

  it('creates its key with a write and two reads, and reads a known key once in ten minutes', async () => {
    const config = { 'flow-control-key': 'first', 'flow-control-value': 'parallelism=2' };
    const costOfOne = async () => {
      fixture.reset();
      writes.reset();
      await send(config);
      return { ...fixture.operations(), units: laneUnits() };
    };
    const others = { PutItemCommand: 1, SendMessageCommand: 1, units: 0 };
    expect(await costOfOne()).toEqual({ ...others, GetItemCommand: 2, PutItemCommand: 2, units: 1 });
    stopClock(11 * 60_000);
    // The account is read again, too.
    await send();
    expect(await costOfOne()).toEqual({ ...others, GetItemCommand: 1 });
    expect(await costOfOne()).toEqual(others);
  });

  /** Sends and delivers messages of several tenants. Returns the calls on lanes and their write units. */
  async function costOfTenants(name: string, tenants: number) {
    const count = 24;
    fixture.reset();
    writes.reset();
    for (let number = 0; number < count; number += 1) {
      await send(tenants === 0 ? {} : { 'fair-key': `customer ${number % tenants}` }, name);
    }
    await fixture.doJobs();
    expect(unitsIn(fixture.settings.messagesTable)).toBe(2 * count);
    return { calls: fixture.calls() / count, units: laneUnits() / count };
  }

  it('that waits in its queue’s line costs at most four writes altogether, and more for its tenant only if many tenants wait', async () => {
    const plain = await costOfTenants('of-nobody', 0);
    // It joins with one write and leaves with another, which grants the next its slot. Eight share a page.
    expect(plain.units).toBeLessThan(2 + 2 / pageSize);
    const few = await costOfTenants('of-four', 4);
    expect(few.calls).toBeLessThanOrEqual(plain.calls);
    expect(few.units).toBeLessThan(plain.units + 3);
    // A read and a write when it joins and when it leaves.
    const many = await costOfTenants('of-twelve', 12);
    expect(many.calls).toBeLessThan(plain.calls + 5);
    expect(many.units).toBeLessThan(plain.units + 5);
  });

  it('with a fair key costs the same as without one if no message waits', async () => {
    /** A lane that was just read is not read again. */
    const operationsOf = async (config: Readonly<Record<string, string>>) => {
      await send(config, 'free');
      await fixture.doJobs();
      fixture.reset();
      writes.reset();
      await send(config, 'free');
      expect(laneUnits()).toBe(1);
      await fixture.doJobs();
      expect(laneUnits()).toBe(2);
      const { GetItemCommand: _, ...others } = fixture.operations();
      return others;
    };
    const others = await operationsOf({ 'fair-key': 'customer 1', priority: 'high' });
    expect(others).toEqual(await operationsOf({}));
  });

  it('that waits for its key costs at most four writes altogether', async () => {
    const count = 16;
    const config = { 'flow-control-key': 'busy', 'flow-control-value': 'parallelism=1' };
    const inbox = fixture.receiver.inbox();
    const key: LaneKey = { accountId: fixture.account.id, kind: 'key', name: 'busy' };
    for (let number = 0; number < count; number += 1) {
      await fixture.send(inbox.url, config);
    }
    // The only slot is taken while all messages arrive.
    await lanes.update(key, (lane) => ({
      ...lane,
      parallelism: 1,
      leases: new Map([['somebody', { slots: 1, until: Date.now() + 100_000 }]]),
    }));
    writes.reset();
    await fixture.doJobs();
    expect(inbox.deliveries).toHaveLength(0);
    await lanes.update(key, (lane) => leave(lane, 'somebody'));
    await fixture.doJobs();
    expect(inbox.deliveries).toHaveLength(count);
    expect(unitsIn(fixture.settings.messagesTable)).toBe(count);
    expect(laneUnits()).toBeLessThanOrEqual(2 * count + 1 + count / pageSize);
  });
});

describe('a message to a host with a circuit', () => {
  const config = { circuit: 'on', retries: '5', 'retry-delay': '60000' };

  it('that is up costs one read, which serves all messages of a second', async () => {
    const { url } = fixture.receiver.inbox();
    const calls: Readonly<Record<string, number>>[] = [];
    for (let made = 0; made < 2; made += 1) {
      await fixture.send(url, config);
      const { job } = await fixture.receiveAttempt();
      fixture.reset();
      await fixture.deliver(job, false);
      calls.push(fixture.operations());
    }
    const others = { QueryCommand: 1, PutItemCommand: 1 };
    expect(calls).toEqual([{ ...others, GetItemCommand: 1 }, others]);
    expect(laneUnits()).toBe(0);
  });

  it('that is down costs two lane writes, one log write and part of a page, however long it waits', async () => {
    const count = 16;
    // The process knows that this host is up, under another name.
    const url = fixture.receiver.inbox().url.replace('127.0.0.1', 'localhost');
    const key: LaneKey = { accountId: fixture.account.id, kind: 'circuit', name: new URL(url).host };
    const openUntil = Date.now() + 600_000;
    const circuit = { ...closedCircuit, openedAt: Date.now(), openUntil };
    const row = { ...newLane(key, Date.now()), circuit, keepAt: openUntil + 1, pumpAt: openUntil };
    await lanes.update(key, ({ version }) => ({ ...row, version }));
    for (let number = 0; number < count; number += 1) await fixture.send(url, config);
    writes.reset();
    await fixture.doJobs();
    expect(lengthOf((await lambdas.loadLane(key))?.line ?? emptyLine)).toBe(count);
    // Messages that arrive together join with one write. The log has an entry for each.
    expect(laneUnits()).toBeLessThanOrEqual(count + count / pageSize);
    expect(unitsIn(fixture.settings.messagesTable)).toBe(count);
    stopClock(600_000);
    fixture.reset();
    writes.reset();
    const { accountId, name } = key;
    const pump = { kind: 'pump', accountId, lane: 'circuit', name, dueAt: Date.now() } as const;
    await fixture.perform(pump, { isAgain: false });
    await fixture.doJobs();
    expect(unitsIn(fixture.settings.messagesTable)).toBe(count);
    // Each message that leaves starts others. A row with many leases exceeds a kilobyte.
    expect(fixture.callsOf('PutItemCommand') - count).toBeLessThanOrEqual(1.2 * count);
    expect(laneUnits()).toBeLessThanOrEqual(4 * count);
  });
});

describe('a grant', () => {
  const entryOf = (number: number): string =>
    formatEntry({ messageId: `msg_01${String(number).padStart(24, '0')}`, attempt: 0, queue: 'short' });

  /** Creates a queue with one slot, which is taken, and a line. */
  async function filled(name: string, waiting: number, front: number): Promise<LaneKey> {
    const key: LaneKey = { accountId: fixture.account.id, kind: 'queue', name };
    const pages = Math.floor((waiting - front) / pageSize);
    const entries = Array.from({ length: waiting }, (_, index) => entryOf(index));
    const line: Line = {
      front: entries.slice(0, front),
      firstPage: 0,
      nextPage: pages,
      back: entries.slice(front + pages * pageSize),
    };
    await lambdas.savePages(
      key,
      Array.from({ length: pages }, (_, number) => ({
        number,
        entries: entries.slice(front + number * pageSize, front + (number + 1) * pageSize),
      })),
    );
    const hour = Math.floor(Date.now() / 3_600_000);
    await lambdas.saveLane({
      ...newLane(key, Date.now(), { parallelism: 1 }),
      leases: new Map([['holder', { slots: 1 }]]),
      line,
      keepAt: Date.now() + 1_000_000,
      // The line was as long for a day, so that the history needs the same room.
      depths: `${hour.toString(36)}:${Array.from({ length: 24 }, () => (1_000).toString(36)).join(',')}`,
    });
    return key;
  }

  async function costOf(name: string, waiting: number, front: number) {
    const key = await filled(name, waiting, front);
    fixture.reset();
    writes.reset();
    await lanes.update(key, (lane) => leave(lane, 'holder'));
    const lane = await lambdas.loadLane(key);
    expect([...(lane?.leases.keys() ?? [])]).toEqual([entryOf(0)]);
    return { calls: fixture.operations(), units: laneUnits() };
  }

  it.each([
    { from: 'the row', front: 2 },
    { from: 'a page', front: 0 },
  ])('to entry $from of a line of 1,000 costs the same as in a line of ten', async ({ front }) => {
    const few = await costOf(`few-${front}`, 10, front);
    const many = await costOf(`many-${front}`, 1_000, front);
    expect(many).toEqual(few);
    expect(many.units).toBe(1);
    const { GetItemCommand, ...others } = many.calls;
    // This test makes one read. The first page is read once for its eight entries.
    expect(GetItemCommand).toBe(front === 0 ? 3 : 2);
    expect(others).toEqual({ PutItemCommand: 1, SendMessageBatchCommand: 1 });
  });
});

describe('a lane with an empty line', () => {
  it('has no history of its depth unless a message has waited in it', async () => {
    const name = 'quick';
    await send({}, name);
    await fixture.doJobs();
    const key: LaneKey = { accountId: fixture.account.id, kind: 'queue', name };
    const load = async () => (await lambdas.loadLane(key)) ?? newLane(key, 0);
    expect((await load()).version).toBeGreaterThan(0);
    expect((await load()).depths).toBeUndefined();
    await lanes.update(key, (lane) => ({ ...lane, isPaused: true }));
    await send({}, name);
    await send({}, name);
    const { depths = '' } = await load();
    expect(depths.split(':')[1]).toBe('2');
    await lanes.update(key, (lane) => ({ ...lane, isPaused: false }));
    await fixture.doJobs();
    expect((await load()).depths).toBe(depths);
  });
});

describe('an idle lane', () => {
  let laneFixture: LaneFixture | undefined;
  afterEach(async () => {
    await laneFixture?.close();
  });

  it('costs nothing', async () => {
    // The fleet has its own clock.
    vi.restoreAllMocks();
    laneFixture = await LaneFixture.open(fixture, lambdas, 'idle', { max_global_parallelism: 1 });
    const inbox = fixture.receiver.inbox();
    const config = { 'flow-control-key': 'idle', 'flow-control-value': 'parallelism=1,rate=2,period=5' };
    const ids = [
      await laneFixture.send(inbox.url, config, 'idle'),
      await laneFixture.send(inbox.url, config, 'idle'),
      await laneFixture.send(inbox.url, config),
      await laneFixture.send(inbox.url, config),
    ];
    await laneFixture.fleet.advance(600_000);
    expect(idsIn(inbox)).toEqual(new Set(ids));
    // The pump that extends long waits runs once more and finds an empty line.
    await laneFixture.fleet.advance(5 * 86_400_000);
    const counted = new Fate();
    laneFixture.fleet.setFate(counted);
    await laneFixture.fleet.advance(60 * 86_400_000);
    expect(counted.calls).toBe(0);
  });
});
