import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { formatEntry } from '../../../lambdas/lane/rules/entry.ts';
import { newLane, type LaneKey } from '../../../lambdas/lane/lane.ts';
import { leave } from '../../../lambdas/lane/rules/leaving.ts';
import { pageSize, type Line } from '../../../lambdas/lane/rules/line.ts';
import { setClockAhead } from '../../support/clockAhead.ts';
import { Fate } from '../../support/faults.ts';
import { importForScenes, Scene, type SceneLambdas } from '../../support/laneScene.ts';
import { useWorld } from '../../support/useWorld.ts';
import { requestOf, type World } from '../../support/world.ts';
import { watchWrites } from '../../support/writes.ts';

/** The cost that lanes add to the bill of a message. DynamoDB bills a write for each kilobyte. */

let world: World;
let lambdas: SceneLambdas;
let lanes: Awaited<ReturnType<typeof importLanes>>;
let writes: ReturnType<typeof watchWrites>;

const importLanes = async () => (await import('../../../lambdas/lane/slots/ourLanes.ts')).lanes;

useWorld(async (opened) => {
  world = opened;
  lambdas = await importForScenes();
  lanes = await importLanes();
  writes = watchWrites(world.dynamodb);
});
beforeEach(async () => {
  await world.drain();
  await warmUp();
  world.reset();
  writes.reset();
});

/** Lets the process read and lease what it has for a minute: the account, and a slot of it. */
async function warmUp(): Promise<void> {
  await send();
  await world.work();
}

async function send(config: Readonly<Record<string, string>> = {}, queueName?: string): Promise<void> {
  const { url } = world.receiver.inbox();
  await world.publishRequest(world.account, { ...requestOf(url, config), queueName });
}

const unitsIn = (name: string): number => writes.unitsIn(name);
const laneUnits = (): number => unitsIn(world.settings.lanesTable);

describe('a message', () => {
  it('without a queue and a key costs what it did before there were lanes', async () => {
    await send();
    expect(world.operations()).toEqual({ PutItemCommand: 1, SendMessageCommand: 1 });
    const { work } = await world.receiveAttempt();
    world.reset();
    await world.deliver(work, false);
    expect(world.operations()).toEqual({ QueryCommand: 1, PutItemCommand: 1 });
    expect(laneUnits()).toBe(0);
  });

  it('that finds capacity in its queue costs two writes more', async () => {
    await send({}, 'roomy');
    await world.work();
    writes.reset();
    await send({}, 'roomy');
    expect(laneUnits()).toBe(1);
    await world.work();
    expect(laneUnits()).toBe(2);
    expect(unitsIn(world.settings.messagesTable)).toBe(2);
  });

  it('that finds capacity with its key costs two writes more', async () => {
    const config = { 'flow-control-key': 'roomy', 'flow-control-value': 'parallelism=2,rate=100' };
    await send(config);
    await world.work();
    world.reset();
    writes.reset();
    await send(config);
    // The process knows that the key is there.
    expect(world.operations()).toEqual({ PutItemCommand: 1, SendMessageCommand: 1 });
    expect(laneUnits()).toBe(0);
    await world.work();
    expect(laneUnits()).toBe(2);
    expect(unitsIn(world.settings.messagesTable)).toBe(2);
  });

  it('that is the first to name a key makes it, with a write and two reads', async () => {
    const config = { 'flow-control-key': 'first', 'flow-control-value': 'parallelism=2' };
    await send(config);
    expect(world.operations()).toEqual({ GetItemCommand: 2, PutItemCommand: 2, SendMessageCommand: 1 });
    expect(laneUnits()).toBe(1);
  });

  it('whose key another process has made reads it, once in ten minutes', async () => {
    const config = { 'flow-control-key': 'theirs', 'flow-control-value': 'parallelism=2' };
    await send(config);
    setClockAhead(11 * 60_000);
    await send();
    world.reset();
    writes.reset();
    await send(config);
    expect(world.operations()).toEqual({ GetItemCommand: 1, PutItemCommand: 1, SendMessageCommand: 1 });
    expect(laneUnits()).toBe(0);
    world.reset();
    await send(config);
    expect(world.operations()).toEqual({ PutItemCommand: 1, SendMessageCommand: 1 });
  });

  it('that waits in its queue’s line costs at most four writes in all', async () => {
    const count = 40;
    for (let number = 0; number < count; number += 1) await send({}, 'busy');
    await world.work();
    expect(unitsIn(world.settings.messagesTable)).toBe(2 * count);
    // It joins, and it leaves, which grants the next its slot; eight share a page of the line.
    expect(laneUnits()).toBeLessThanOrEqual(2 * count + 1 + count / pageSize);
  });

  it('that waits for its key costs at most four writes in all', async () => {
    const count = 30;
    const config = { 'flow-control-key': 'busy', 'flow-control-value': 'parallelism=1' };
    const inbox = world.receiver.inbox();
    const key: LaneKey = { accountId: world.account.id, kind: 'key', name: 'busy' };
    for (let number = 0; number < count; number += 1) {
      await world.send(inbox.url, config);
    }
    // Somebody has the slot while all arrive.
    await lanes.update(key, (lane) => ({
      ...lane,
      parallelism: 1,
      leases: new Map([['somebody', { slots: 1, until: Date.now() + 100_000 }]]),
    }));
    writes.reset();
    await world.work();
    expect(inbox.deliveries).toHaveLength(0);
    await lanes.update(key, (lane) => leave(lane, 'somebody'));
    await world.work();
    expect(inbox.deliveries).toHaveLength(count);
    expect(unitsIn(world.settings.messagesTable)).toBe(count);
    expect(laneUnits()).toBeLessThanOrEqual(2 * count + 1 + count / pageSize);
  });
});

describe('a grant', () => {
  const letters = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
  const entryOf = (number: number): string =>
    formatEntry({
      messageId: `msg_01M${[4, 3, 2, 1, 0].map((digit) => letters[Math.floor(number / 32 ** digit) % 32]).join('')}${'0'.repeat(18)}`,
      attempt: 0,
      queue: 'short',
    });

  /** A queue of one slot, which is taken, with a line of so many. */
  async function filled(name: string, waiting: number, front: number): Promise<LaneKey> {
    const key: LaneKey = { accountId: world.account.id, kind: 'queue', name };
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
    const leases = new Map([['holder', { slots: 1 }]]);
    const keepAt = Date.now() + 1_000_000;
    await lambdas.saveLane({ ...newLane(key, Date.now(), { parallelism: 1 }), leases, line, keepAt });
    return key;
  }

  async function costOf(name: string, waiting: number, front: number) {
    const key = await filled(name, waiting, front);
    world.reset();
    writes.reset();
    await lanes.update(key, (lane) => leave(lane, 'holder'));
    const lane = await lambdas.loadLane(key);
    expect([...(lane?.leases.keys() ?? [])]).toEqual([entryOf(0)]);
    return { calls: world.operations(), units: laneUnits() };
  }

  it.each([
    { from: 'the row', front: 2 },
    { from: 'a page', front: 0 },
  ])('from $from of a line of 10,000 costs as much as from one of ten', async ({ front }) => {
    const few = await costOf(`few-${front}`, 10, front);
    const many = await costOf(`many-${front}`, 10_000, front);
    expect(many).toEqual(few);
    expect(many.units).toBe(1);
    const { GetItemCommand, ...others } = many.calls;
    // One read is this test's own; the page of those that are next is read once for eight of them.
    expect(GetItemCommand).toBe(front === 0 ? 3 : 2);
    expect(others).toEqual({ PutItemCommand: 1, SendMessageBatchCommand: 1 });
  });
});

describe('a lane in which nothing happens', () => {
  let scene: Scene | undefined;
  afterEach(async () => {
    await scene?.close();
  });

  it('costs nothing', async () => {
    scene = await Scene.open(world, lambdas, 'idle', { max_global_parallelism: 1 });
    const inbox = world.receiver.inbox();
    const config = { 'flow-control-key': 'idle', 'flow-control-value': 'parallelism=1,rate=2,period=5' };
    const ids: string[] = [];
    for (let number = 0; number < 3; number += 1) {
      ids.push(await scene.send(inbox.url, config, 'idle'), await scene.send(inbox.url, config));
    }
    await scene.fleet.advance(600_000);
    expect(new Set(inbox.deliveries.map(({ headers }) => headers['svc-message-id']))).toEqual(new Set(ids));
    // The pump for those that wait for days comes once more, and finds nobody.
    await scene.fleet.advance(5 * 86_400_000);
    const counted = new Fate();
    scene.fleet.setFate(counted);
    await scene.fleet.advance(60 * 86_400_000);
    expect(counted.calls).toBe(0);
  });
});
