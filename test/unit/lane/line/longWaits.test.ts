import { GetItemCommand } from '@aws-sdk/client-dynamodb';
import { randomBytes } from 'node:crypto';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { limitsOf } from '../../../../lambdas/account/account.ts';
import { formatEntry } from '../../../../lambdas/lane/rules/entry.ts';
import { joinLine } from '../../../../lambdas/lane/rules/arrival.ts';
import { newLane, type LaneKey } from '../../../../lambdas/lane/lane.ts';
import { pageSize } from '../../../../lambdas/lane/rules/line.ts';
import { expiryOf } from '../../../../lambdas/message/message.ts';
import type { PumpJob } from '../../../../lambdas/job/job.ts';
import { setClockAhead } from '../../../support/clockAhead.ts';
import { importLaneLambdas, type LaneLambdas } from '../../../support/laneFixture.ts';
import { sizeOf } from '../../../support/sample.ts';
import { useFixture } from '../../../support/useFixture.ts';
import type { Fixture } from '../../../support/fixture.ts';

const secondMs = 1_000;
const dayMs = 86_400 * secondMs;
const realNow = Date.now;

let fixture: Fixture;
let lambdas: LaneLambdas;
useFixture(async (opened) => {
  fixture = opened;
  lambdas = await importLaneLambdas();
});

let passedMs = 0;
beforeEach(async () => {
  passedMs = 0;
  await fixture.drain();
  fixture.reset();
});

function pass(ms: number): void {
  passedMs += ms;
  setClockAhead(passedMs);
}

const queue = (name: string): LaneKey => ({ accountId: fixture.account.id, kind: 'queue', name });

const pumpOf = ({ accountId, kind: lane, name }: LaneKey, more: Partial<PumpJob> = {}): PumpJob => ({
  kind: 'pump',
  accountId,
  lane,
  name,
  dueAt: Date.now(),
  ...more,
});

const pumpsFor = async ({ name }: LaneKey): Promise<readonly PumpJob[]> =>
  (await fixture.drain()).flatMap((job) => (job.kind === 'pump' && job.name === name ? [job] : []));

const enqueue = (name: string, url: string, body: string): Promise<string> =>
  fixture.enqueue(name, url, { retries: '3' }, body);

/** Returns when a row expires, in Unix milliseconds. */
async function expiryOfRow(table: string, key: Readonly<Record<string, string>>): Promise<number> {
  const Key = Object.fromEntries(Object.entries(key).map(([name, S]) => [name, { S }]));
  const { Item } = await fixture.dynamodb.send(
    new GetItemCommand({ TableName: table, Key, ConsistentRead: true }),
  );
  return Number(Item?.['expiresAt']?.N) * secondMs;
}

describe('a line in which messages wait for months', () => {
  it('keeps their rows, their bodies and its pages as long as needed and not much longer', async () => {
    const key = queue('patient');
    await lambdas.putQueue(fixture.account, Buffer.from('{"queueName":"patient","paused":true}'));
    const inbox = fixture.receiver.inbox();
    // The first three bodies are in the message’s row, in a separate row, and in the bucket.
    const bodies = ['small', randomBytes(1_500).toString('hex'), randomBytes(20_000).toString('hex')];
    while (bodies.length < 2 * pageSize + 3) bodies.push(`number ${bodies.length}`);
    const ids: string[] = [];
    for (const body of bodies) ids.push(await enqueue('patient', inbox.url, body));
    const { messagesTable, lanesTable } = fixture.settings;
    const waiting = await lambdas.loadLane(key);
    expect(waiting?.line.nextPage).toBeGreaterThan(1);

    const histories = () =>
      Promise.all(ids.map((messageId) => fixture.loadMessage({ accountId: fixture.account.id, messageId })));
    const limits = limitsOf(fixture.account);
    for (let day = 0; day < sizeOf({ ordinary: 75, thorough: 600 }); day += 3) {
      pass(3 * dayMs);
      fixture.reset();
      await fixture.perform(pumpOf(key, { keepsFrom: 0 }), { isAgain: false });
      for (const history of await histories()) {
        if (history === undefined) throw new Error('A message is gone.');
        const { message, body } = history;
        const needed = expiryOf({ ...message, notBefore: Date.now() }, limits);
        expect(message.expiresAt).toBeGreaterThanOrEqual(needed);
        expect(message.expiresAt).toBeLessThan(needed + 40 * dayMs);
        if (body.at === 'row') {
          const { messageId } = message;
          const bodyExpiry = await expiryOfRow(messagesTable, { shard: `body#${messageId}`, id: messageId });
          expect(bodyExpiry).toBeGreaterThanOrEqual(needed);
        }
        // An object’s key begins with the days for which it is kept.
        if (body.at === 'bucket') expect(Number(/^(\d+)d/.exec(body.key)?.[1])).toBeGreaterThanOrEqual(64);
      }
      for (const page of [0, 1]) {
        const part = `page#${String(page).padStart(12, '0')}`;
        const pageExpiry = await expiryOfRow(lanesTable, {
          lane: `${fixture.account.id}#queue#patient`,
          part,
        });
        expect(pageExpiry).toBeGreaterThan(Date.now() + 30 * dayMs);
      }
    }

    await lambdas.resumeQueue(fixture.account, 'patient');
    await fixture.doJobs();
    expect(inbox.deliveries.map(({ body }) => body.toString())).toEqual(bodies);
  });
});

describe('a line that is too long for one invocation', () => {
  /** Makes each read of a message slow. */
  function slowReads(readMs = secondMs): void {
    fixture.reset();
    vi.spyOn(Date, 'now').mockImplementation(
      () => realNow() + passedMs + fixture.callsOf('QueryCommand') * readMs,
    );
  }

  const pages = 24;
  const entries = Array.from({ length: pages * pageSize }, (_, index) =>
    formatEntry({
      messageId: `msg_01${String(index).padStart(24, '0')}`,
      attempt: 0,
      queue: 'short',
    }),
  );

  it('is extended by several invocations, one after the other', async () => {
    const key = queue('long');
    const all = Array.from({ length: pages }, (_, number) => ({
      number,
      entries: entries.slice(number * pageSize, (number + 1) * pageSize),
    }));
    await lambdas.savePages(key, all);
    await lambdas.saveLane({
      ...newLane(key, Date.now(), { parallelism: 1 }),
      isPaused: true,
      line: { front: [], firstPage: 0, nextPage: pages, back: [] },
      keepAt: Date.now() + dayMs,
    });
    const written = Date.now();
    pass(10 * dayMs);
    slowReads();
    const seen: (number | undefined)[] = [];
    let next: PumpJob | undefined = pumpOf(key, { keepsFrom: 0 });
    while (next !== undefined) {
      seen.push(next.keepsFrom);
      slowReads();
      await fixture.perform(next, { isAgain: false });
      passedMs += fixture.callsOf('QueryCommand') * secondMs;
      // Scheduler holds the pump that is due in three days.
      const [pump, ...others]: readonly PumpJob[] = await pumpsFor(key);
      expect(others).toEqual([]);
      next = pump;
    }
    // Ten pages are read together, which takes longer than one invocation may.
    expect(seen).toEqual([0, 10, 20]);
    for (const { number } of all) {
      const part = `page#${String(number).padStart(12, '0')}`;
      const expiry = await expiryOfRow(fixture.settings.lanesTable, {
        lane: `${key.accountId}#queue#long`,
        part,
      });
      expect(expiry).toBeGreaterThan(written + 69 * dayMs);
    }
  });

  it('is left to the next invocation, too, if the lines of several deleted queues are to be cancelled', async () => {
    const key = queue('often');
    for (let line = 0; line < 3; line += 1) {
      await lambdas.putQueue(fixture.account, Buffer.from('{"queueName":"often","paused":true}'));
      for (let number = 0; number < 4 * pageSize; number += 1) {
        await enqueue('often', fixture.receiver.origin, 'x');
      }
      await lambdas.deleteQueue(fixture.account, 'often');
    }
    await fixture.drain();
    slowReads(secondMs / 2);
    await fixture.perform(pumpOf(key), { isAgain: false });
    const left = await lambdas.loadLane(key);
    expect(left?.deletedLines).toHaveLength(1);
    expect(await pumpsFor(key)).not.toEqual([]);
  });

  it('is cancelled by several invocations when its queue is deleted', async () => {
    const key = queue('doomed');
    await lambdas.putQueue(fixture.account, Buffer.from('{"queueName":"doomed","paused":true}'));
    const ids: string[] = [];
    for (let number = 0; number < 14 * pageSize; number += 1) {
      ids.push(await enqueue('doomed', fixture.receiver.origin, 'x'));
    }
    await lambdas.deleteQueue(fixture.account, 'doomed');
    const [pump, ...others] = await pumpsFor(key);
    expect(others).toEqual([]);
    if (pump === undefined) throw new Error('No pump is on its way.');
    slowReads(secondMs / 2);
    await fixture.perform(pump, { isAgain: false });
    const left = await lambdas.loadLane(key);
    expect(left?.deletedLines).toMatchObject([{ entries: [], firstPage: 10 }]);
    // One pump continues at once. A second one is due a minute later in case the first dies.
    const next = await pumpsFor(key);
    expect(next).toHaveLength(1);
    vi.restoreAllMocks();
    for (const one of next) await fixture.perform({ ...one, dueAt: Date.now() }, { isAgain: false });
    expect(await pumpsFor(key)).toEqual([]);
    // A process may still write a page or the row, so their numbers are reused only after the row expires.
    const emptied = await lambdas.loadLane(key);
    expect(emptied).toMatchObject({ isDeleted: true, deletedLines: [] });
    for (const messageId of ids) {
      expect((await fixture.loadMessage({ accountId: fixture.account.id, messageId }))?.end).toBe('CANCELED');
    }
  });
});

describe('a pump', () => {
  it('that arrives two minutes early is sent again, and reads no lane', async () => {
    const key = queue('early');
    const ms = 120 * secondMs;
    const pump = pumpOf(key, { dueAt: Date.now() + ms, keepsFrom: 0 });
    await fixture.perform(pump, { isAgain: false });
    expect(fixture.operations()).toEqual({ SendMessageCommand: 1 });
    expect(await pumpsFor(key)).toEqual([]);
    pass(ms);
    expect(await pumpsFor(key)).toEqual([pump]);
  });

  it('starts no attempt early and loses none if a timer ends before the clock reaches its time', async () => {
    const key: LaneKey = { accountId: fixture.account.id, kind: 'key', name: 'rated' };
    // This clock runs at half the speed of the timers.
    const start = realNow();
    vi.spyOn(Date, 'now').mockImplementation(() => start + (realNow() - start) / 2);
    const dueAt = start + 400;
    const entry = formatEntry({ messageId: `msg_${'0'.repeat(26)}`, attempt: 0, queue: 'short' });
    const lane = newLane(key, start, { rate: 1, periodMs: secondMs });
    await lambdas.saveLane({
      ...joinLine(lane, entry),
      starts: [{ at: dueAt - secondMs, count: 1 }],
      pumpAt: dueAt,
      keepAt: start + dayMs,
    });
    await fixture.perform(pumpOf(key, { dueAt }), { isAgain: false });
    const after = await lambdas.loadLane(key);
    expect(after?.starts.map(({ count }) => count)).toEqual([1]);
    expect(after?.starts[0]?.at).toBeGreaterThanOrEqual(dueAt);
    expect(after?.line).toMatchObject({ front: [], back: [] });
  });
});
