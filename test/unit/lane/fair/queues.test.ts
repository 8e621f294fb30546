import { GetItemCommand, ScanCommand } from '@aws-sdk/client-dynamodb';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { PumpJob } from '../../../../lambdas/job/job.ts';
import { setClockAhead } from '../../../support/clockAhead.ts';
import type { Fixture } from '../../../support/fixture.ts';
import { importLaneLambdas, type LaneLambdas } from '../../../support/laneFixture.ts';
import { useFixture } from '../../../support/useFixture.ts';

const dayMs = 86_400_000;
const realNow = Date.now;

let fixture: Fixture;
let lambdas: LaneLambdas & Awaited<ReturnType<typeof importMore>>;

const importMore = async () => ({
  ...(await import('../../../../lambdas/lane/recover.ts')),
  ...(await import('../../../../lambdas/lane/store/tenants.ts')),
  ...(await import('../../../../lambdas/lane/line/tenants.ts')),
});

useFixture(async (opened) => {
  fixture = opened;
  lambdas = { ...(await importLaneLambdas()), ...(await importMore()) };
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

const readMs = 2_000;

/** Makes each read of a message slow. */
function slowReads(): void {
  fixture.reset();
  vi.spyOn(Date, 'now').mockImplementation(
    () => realNow() + passedMs + fixture.callsOf('QueryCommand') * readMs,
  );
}

const accountId = (): string => fixture.account.id;
const laneOf = async (name: string) => {
  const lane = await lambdas.loadLane({ accountId: accountId(), kind: 'queue', name });
  if (lane === undefined) throw new Error('The queue is not there.');
  return lane;
};
const pausedQueue = (name: string): Promise<unknown> =>
  lambdas.putQueue(fixture.account, Buffer.from(JSON.stringify({ queueName: name, paused: true })));

const pumpOf = (name: string, more: Partial<PumpJob> = {}): PumpJob => ({
  kind: 'pump',
  accountId: accountId(),
  lane: 'queue',
  name,
  dueAt: Date.now(),
  ...more,
});

/** More keys than a lane’s row keeps. */
const keys = Array.from({ length: 9 }, (_, index) => `key ${index}`);

/** Sends many messages of the first key, then a few of each other one. Returns their ids by key. */
async function fill(name: string, url: string, { many = 20, few = 2 } = {}) {
  await pausedQueue(name);
  const ids = new Map<string, string[]>();
  for (const key of keys) {
    const mine: string[] = [];
    ids.set(key, mine);
    for (let sent = 0; sent < (key === keys[0] ? many : few); sent += 1) {
      mine.push(await fixture.enqueue(name, url, { 'fair-key': key, priority: 'normal' }, `${key} ${sent}`));
    }
  }
  return ids;
}

const endOf = async (messageId: string): Promise<string | undefined> =>
  (await fixture.loadMessage({ accountId: accountId(), messageId }))?.end;

describe('a queue in which tenants wait', () => {
  it('gives the tenants turns, and shows how many messages wait', async () => {
    const inbox = fixture.receiver.inbox();
    const ids = await fill('turns', inbox.url);
    const all = [...ids.values()].flat();
    const shown = await lambdas.getQueue(fixture.account, 'turns');
    expect(shown.lag).toBe(all.length);
    expect(shown.fairKeys?.[0]).toEqual({ fairKey: 'key 0', waiting: 20 });
    expect(shown.fairKeys).toHaveLength(keys.length);
    const [first = ''] = all;
    const message = await fixture.loadMessage({ accountId: accountId(), messageId: first });
    expect(Math.abs((shown.oldestAt ?? 0) - (message?.message.createdAt ?? 0))).toBeLessThan(5);

    await lambdas.resumeQueue(fixture.account, 'turns');
    await fixture.doJobs();
    const came = inbox.deliveries.map(({ body }) => body.toString());
    const rounds = [0, 1].flatMap((sent) => keys.map((key) => `${key} ${sent}`));
    expect(came).toEqual([...rounds, ...Array.from({ length: 18 }, (_, index) => `key 0 ${index + 2}`)]);
    expect((await laneOf('turns')).fair).toBeUndefined();
  });

  it('removes a cancelled message, wherever it waits', async () => {
    const inbox = fixture.receiver.inbox();
    const ids = await fill('cancels', inbox.url, { many: 20 });
    const lag = async () => (await lambdas.getQueue(fixture.account, 'cancels')).lag;
    const before = await lag();
    const cancelled = [ids.get('key 1')?.[0], ids.get('key 8')?.[1], ids.get('key 0')?.[12]];
    for (const [index, messageId = ''] of cancelled.entries()) {
      await lambdas.cancelMessage(fixture.account, messageId);
      expect(await lag()).toBe(before - index - 1);
    }
    await lambdas.resumeQueue(fixture.account, 'cancels');
    await fixture.doJobs();
    expect(inbox.deliveries).toHaveLength(before - cancelled.length);
    expect(await lag()).toBe(0);
    expect((await laneOf('cancels')).cancelled).toBe(0);
  });

  it('has all messages cancelled when it is deleted, by several invocations if one is not enough', async () => {
    const inbox = fixture.receiver.inbox();
    const ids = [...(await fill('deleted', inbox.url, { many: 60 })).values()].flat();
    const free = await fixture.enqueue('deleted', inbox.url, { 'fair-key': 'last' }, 'last');
    await lambdas.deleteQueue(fixture.account, 'deleted');
    const deleted = await laneOf('deleted');
    expect(deleted.fair).toBeUndefined();
    expect(deleted.deletedFairLines).toHaveLength(1);
    await fixture.drain();
    let invocations = 0;
    while ((await laneOf('deleted')).deletedFairLines.length > 0) {
      invocations += 1;
      slowReads();
      await fixture.perform(pumpOf('deleted'), { isAgain: false });
      passedMs += fixture.callsOf('QueryCommand') * readMs;
    }
    expect(invocations).toBeGreaterThan(1);
    for (const messageId of [...ids, free]) expect(await endOf(messageId)).toBe('CANCELED');
    await fixture.doJobs();
    expect(inbox.deliveries).toEqual([]);
  });

  it('keeps waiting messages for months, with all its rows', async () => {
    const inbox = fixture.receiver.inbox();
    const ids = [...(await fill('patient', inbox.url, { many: 30 })).values()].flat();
    let continued = 0;
    for (let day = 0; day < 75; day += 3) {
      pass(3 * dayMs);
      let next: PumpJob | undefined = pumpOf('patient', { keepsFrom: 0 });
      while (next !== undefined) {
        slowReads();
        await fixture.perform(next, { isAgain: false });
        passedMs += fixture.callsOf('QueryCommand') * readMs;
        next = (await fixture.drain()).find(
          (job): job is PumpJob => job.kind === 'pump' && job.keepsFairFrom !== undefined,
        );
        if (next !== undefined) continued += 1;
      }
    }
    expect(continued).toBeGreaterThanOrEqual(25);
    const { fair } = await laneOf('patient');
    if (fair === undefined) throw new Error('Nothing waits.');
    const { Items: rows = [] } = await fixture.dynamodb.send(
      new ScanCommand({
        TableName: fixture.settings.lanesTable,
        FilterExpression: 'lane = :lane AND begins_with(part, :part)',
        ExpressionAttributeValues: {
          ':lane': { S: `${accountId()}#queue#patient` },
          ':part': { S: `fair#${fair.id}` },
        },
      }),
    );
    const needed = rows.filter(({ isInRing, entries }) => isInRing?.BOOL === true || entries !== undefined);
    expect(needed.length).toBeGreaterThan(5);
    for (const { part, expiresAt } of needed) {
      expect(Number(expiresAt?.N) * 1_000, part?.S).toBeGreaterThan(Date.now() + 30 * dayMs);
    }
    await lambdas.resumeQueue(fixture.account, 'patient');
    await fixture.doJobs();
    expect(inbox.deliveries).toHaveLength(ids.length);
  });

  it('has a row that a release without fair lines cannot read, and so does not overwrite', async () => {
    await fill('guarded', fixture.receiver.inbox().url);
    const backOf = async () => {
      const { Item: row } = await fixture.dynamodb.send(
        new GetItemCommand({
          TableName: fixture.settings.lanesTable,
          Key: { lane: { S: `${accountId()}#queue#guarded` }, part: { S: 'lane' } },
        }),
      );
      return row?.['back'];
    };
    await fixture.enqueue('guarded', fixture.receiver.inbox().url, {}, 'plain');
    // Code that knows no fair lines expects a list or nothing here.
    expect(await backOf()).toEqual({ S: 'own' });
    expect((await laneOf('guarded')).line.back).toHaveLength(1);
    await lambdas.deleteQueue(fixture.account, 'guarded');
    expect(await backOf()).toEqual({ S: 'own' });
    await fixture.doJobs();
    expect(await backOf()).toBeUndefined();
  });

  it('is found by the recovery of jobs', async () => {
    const ids = [...(await fill('lost', fixture.receiver.inbox().url)).values()].flat();
    const lane = await laneOf('lost');
    const known = async () => [...(await lambdas.laneJobsOf([await laneOf('lost')])).waiting].sort();
    expect(lane.fair?.tenants.size).toBeLessThan(keys.length);
    const names = ids.map((messageId) => lambdas.nameOf(accountId(), { messageId, attempt: 0 })).sort();
    expect(await known()).toEqual(names);
    await lambdas.deleteQueue(fixture.account, 'lost');
    expect(await known()).toEqual(names);
  });
});

describe('the rows of tenants', () => {
  const line = { front: ['a'], firstPage: 0, nextPage: 0, back: [] };
  const none = { front: [], firstPage: 0, nextPage: 0, back: [] };
  const tenantWith = (entry: string) => ({
    lines: { high: none, normal: { ...line, front: [entry] }, low: none },
    overtakes: 3,
    isInRing: true,
  });
  const lane = { accountId: 'rows', kind: 'queue', name: 'rows' } as const;

  it('are read as they were written, and are not overwritten by older ones', async () => {
    await lambdas.saveTenants(lane, 'f', 5, new Map([['one', tenantWith('new')]]));
    await lambdas.saveTenants(lane, 'f', 4, new Map([['one', tenantWith('old')]]));
    await lambdas.saveTenants(lane, 'f', 5, new Map([['one', tenantWith('same')]]));
    const read = await lambdas.loadTenants(lane, 'f', ['one', 'two']);
    expect([...read]).toEqual([['one', tenantWith('new')]]);
    await lambdas.saveTenants(lane, 'f', 6, new Map([['one', tenantWith('newest')]]));
    expect((await lambdas.loadTenants(lane, 'f', ['one'])).get('one')).toEqual(tenantWith('newest'));
  });

  it('are listed by name together with the tenants in the lane’s row, which are newer', async () => {
    const names = ['#', 'a', 'a#b', 'ü', '\u{ff5e}', '\u{1f9fe}', '\u{10fffd}'];
    await lambdas.saveTenants(lane, 'g', 1, new Map(names.map((name) => [name, tenantWith('stored')])));
    await lambdas.saveTenants(lane, 'h', 1, new Map([['other', tenantWith('other')]]));
    const fair = {
      id: 'g',
      ring: none,
      first: [],
      waiting: 0,
      tenants: new Map(['', 'a', 'b', '\u{1f9ff}'].map((name) => [name, tenantWith('row')])),
      asked: [],
    };
    const found: string[] = [];
    for await (const { name, tenant } of lambdas.tenantsOf(lane, fair)) {
      found.push(`${name} ${tenant.lines.normal.front.join()}`);
    }
    expect(found).toEqual([
      ' row',
      '# stored',
      'a row',
      'a#b stored',
      'b row',
      'ü stored',
      '\u{ff5e} stored',
      '\u{1f9fe} stored',
      '\u{1f9ff} row',
      '\u{10fffd} stored',
    ]);
  });
});
