import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { Account } from '../../../lambdas/account/account.ts';
import { setClockAhead } from '../../support/clockAhead.ts';
import { itAtEachDeath } from '../../support/faults.ts';
import { useFixture } from '../../support/useFixture.ts';
import { idOf, requestOf, type Fixture } from '../../support/fixture.ts';

let fixture: Fixture;
let lambdas: Awaited<ReturnType<typeof importLambdas>>;

const importLambdas = async () => ({
  ...(await import('../../../lambdas/publish/publish.ts')),
  ...(await import('../../../lambdas/publish/batch.ts')),
  ...(await import('../../../lambdas/publish/cancel.ts')),
  ...(await import('../../../lambdas/lane/queues.ts')),
  ...(await import('../../../lambdas/schedule/schedules.ts')),
  ...(await import('../../../lambdas/schedule/shownSchedules.ts')),
  ...(await import('../../../lambdas/schedule/fire.ts')),
  loadSchedule: (await import('../../../lambdas/schedule/rows.ts')).loadSchedule,
});

const realNow = Date.now;
let now = 0;
/** Lets time pass. Otherwise the clock is stopped, so that what a process knows stays fresh. */
function pass(ms: number): void {
  now += ms;
  vi.spyOn(Date, 'now').mockReturnValue(now);
}

useFixture(async (opened) => {
  fixture = opened;
  lambdas = await importLambdas();
  now = Date.now();
});
beforeEach(async () => {
  // No earlier job is due later than this.
  pass(15 * 60_000);
  await fixture.drain();
  fixture.reset();
});

const requestTo = (queueName: string | undefined, config: Readonly<Record<string, string>> = {}) => ({
  ...requestOf(fixture.receiver.origin, config),
  queueName,
});

const enqueue = (queueName: string | undefined, account: Account = fixture.account) =>
  lambdas.publish(account, requestTo(queueName));

const enqueueEach = (queueNames: readonly string[], account: Account) => {
  const items = queueNames.map((queue) => ({ destination: fixture.receiver.origin, queue }));
  const { prefix, callerIp, host } = requestTo(undefined);
  return lambdas.batch(account, { body: Buffer.from(JSON.stringify(items)), prefix, callerIp, host });
};

const namesOf = async (account: Account): Promise<readonly string[]> =>
  (await lambdas.listQueues(account, undefined)).records.map(({ name }) => name);

async function accountWith(id: string, limits: Account['limits'] = {}): Promise<Account> {
  const account = { ...fixture.account, id, limits };
  await fixture.saveAccount(account, undefined);
  await fixture.readUsage(account);
  return account;
}

const callsOf = async (act: () => Promise<unknown>): Promise<Readonly<Record<string, number>>> => {
  fixture.reset();
  await act();
  return fixture.operations();
};

const aPublish = { PutItemCommand: 1, SendMessageCommand: 1 };

describe('an enqueue', () => {
  it('reads and writes its lane before it sends a job, and reads its queue each minute', async () => {
    await enqueue('known');
    await enqueue('known');
    expect(await callsOf(() => enqueue(undefined))).toEqual(aPublish);
    pass(1_000);
    expect(await callsOf(() => enqueue('known'))).toEqual({ GetItemCommand: 1, PutItemCommand: 2 });
    pass(61_000);
    // Reads the queue and its lane, and queries the account’s usage.
    expect(await callsOf(() => enqueue('known'))).toEqual({
      GetItemCommand: 2,
      PutItemCommand: 2,
      QueryCommand: 1,
    });
    expect(await callsOf(() => enqueue('known'))).toEqual({ PutItemCommand: 2 });
  });

  it('by many clients at once writes several of them to the lane together', async () => {
    await enqueue('shared');
    const calls = await callsOf(() => Promise.all(Array.from({ length: 20 }, () => enqueue('shared'))));
    expect(calls['PutItemCommand']).toBeGreaterThan(20);
    expect(calls['PutItemCommand']).toBeLessThan(40);
    expect(calls['QueryCommand']).toBeUndefined();
    expect(calls['SendMessageCommand']).toBeUndefined();
  });

  it('reads, counts and writes a missing queue once', async () => {
    await enqueue(undefined);
    expect(await callsOf(() => enqueue('unknown'))).toEqual({
      // The reads get the setting of circuits, the queue and its lane.
      GetItemCommand: 3,
      QueryCommand: 1,
      // Writes the queue, the message and its grant.
      PutItemCommand: 3,
      SendMessageBatchCommand: 1,
    });
  });

  it('does not remember a refusal', async () => {
    const account = await accountWith('small', { max_queues: 0 });
    await expect(enqueue('first', account)).rejects.toMatchObject({ status: 412 });
    await enqueue('first', { ...account, limits: { max_queues: 1 } });
    expect(await namesOf(account)).toEqual(['first']);
  });

  it('by many clients at once creates one queue, and its deletion makes room for another at once', async () => {
    const account = await accountWith('many', { max_queues: 1 });
    await Promise.all(Array.from({ length: 10 }, () => enqueue('same', account)));
    expect(await namesOf(account)).toEqual(['same']);
    await lambdas.deleteQueue(account, 'same');
    await enqueue('other', account);
    expect(await namesOf(account)).toEqual(['other']);
  });

  itAtEachDeath('that dies at any of its AWS calls can be sent again', async (fate) => {
    const account = await accountWith(fate.name, { max_queues: 1 });
    await fixture.underFate(fate, () => enqueue('fragile', account));
    await enqueue('fragile', account);
    expect(await namesOf(account)).toEqual(['fragile']);
  });

  it('that is refused does not count as a message of the day', async () => {
    const account = await accountWith('counted', { max_queues: 0, max_requests_per_day_hard: 1 });
    await expect(enqueue('refused', account)).rejects.toMatchObject({ status: 412 });
    const [refused] = await enqueueEach(['refused'], account);
    expect(refused).toMatchObject({ status: 412 });
    await enqueue(undefined, account);
    await expect(enqueue(undefined, account)).rejects.toMatchObject({ status: 429 });
  });
});

describe('a queue that is deleted', () => {
  it('has its waiting messages cancelled, even if it is created again before that', async () => {
    const account = await accountWith('again');
    const enqueueOne = async () => idOf(await enqueue('again', account));
    const endOf = async (messageId: string) =>
      (await fixture.loadMessage({ accountId: account.id, messageId }))?.end;
    await lambdas.putQueue(account, Buffer.from('{"queueName":"again","paused":true}'));
    const lost = [await enqueueOne(), await enqueueOne()];
    await lambdas.deleteQueue(account, 'again');
    const kept = await enqueueOne();
    // A pump waits until its time.
    setClockAhead(now - realNow());
    await fixture.doJobs();
    for (const messageId of lost) expect(await endOf(messageId)).toBe('CANCELED');
    expect(await endOf(kept)).toBeUndefined();
    expect(await lambdas.getQueue(account, 'again')).toMatchObject({ parallelism: 1, paused: false, lag: 1 });
  });
});

describe('a delayed message of a deleted queue', () => {
  it.each([
    ['is cancelled when it is due', false],
    ['is cancelled when it is due, also where the queue was made again', true],
  ])('%s, and not delivered', async (_, isMadeAgain) => {
    const account = await accountWith(`delayed-${String(isMadeAgain)}`);
    const inbox = fixture.receiver.inbox();
    const request = { ...requestOf(inbox.url, { delay: '60s' }), queueName: 'delayed' };
    const messageId = idOf(await lambdas.publish(account, request));
    pass(10_000);
    await lambdas.deleteQueue(account, 'delayed');
    if (isMadeAgain) await lambdas.putQueue(account, Buffer.from('{"queueName":"delayed"}'));
    pass(120_000);
    // The job is delivered twice because a worker may die at any moment.
    const job = (await fixture.drain()).find((one) => one.kind === 'attempt' && one.messageId === messageId);
    if (job === undefined) throw new Error('The message has no job.');
    for (const isAgain of [false, true]) await fixture.perform(job, { isAgain });
    await fixture.doJobs();
    expect((await fixture.loadMessage({ accountId: account.id, messageId }))?.end).toBe('CANCELED');
    expect(inbox.deliveries).toEqual([]);
  });
});

describe('the deletion of a queue with many delayed messages', () => {
  it('cancels as many as there is time for, and the rest when they are due', async () => {
    const account = await accountWith('many-delayed');
    const inbox = fixture.receiver.inbox();
    const request = { ...requestOf(inbox.url, { delay: '10m' }), queueName: 'delayed' };
    const ids: string[] = [];
    for (let sent = 0; sent < 25; sent += 1) ids.push(idOf(await lambdas.publish(account, request)));
    const cancelled = async (): Promise<number> => {
      const found = await Promise.all(
        ids.map((messageId) => fixture.loadMessage({ accountId: account.id, messageId })),
      );
      return found.filter((history) => history?.end === 'CANCELED').length;
    };
    pass(60_000);
    await lambdas.deleteQueue(account, 'delayed');
    fixture.reset();
    fixture.beforeCall('PutItemCommand', 1, async () => {
      pass(20_001);
      return Promise.resolve();
    });
    await lambdas.cancelDelayed(account, 'delayed');
    expect(await cancelled()).toBe(1);
    pass(600_000);
    await fixture.doJobs();
    expect(await cancelled()).toBe(25);
    expect(inbox.deliveries).toEqual([]);
  });
});

describe('the oldest message of a queue', () => {
  it('is the one that was published first, even if pages of the line are between', async () => {
    await lambdas.putQueue(fixture.account, Buffer.from('{"queueName":"old","paused":true}'));
    const oldest = async () => (await lambdas.getQueue(fixture.account, 'old')).oldestAt;
    expect(await oldest()).toBeUndefined();
    await enqueue('old');
    const firstAt = await oldest();
    expect(firstAt).toBe(now);
    for (let sent = 0; sent < 20; sent += 1) {
      pass(1_000);
      await enqueue('old');
    }
    fixture.reset();
    expect(await oldest()).toBe(firstAt);
    // Reads the lane and at most one page of its line.
    expect(fixture.callsOf('GetItemCommand')).toBeLessThanOrEqual(2);
    await lambdas.deleteQueue(fixture.account, 'old');
  });
});

describe('a list of queues', () => {
  it('reads 100 queues per call', async () => {
    const account = await accountWith('lists', { max_queues: 1_000 });
    const names = Array.from({ length: 110 }, (_, index) => `queue-${String(index).padStart(3, '0')}`);
    await enqueueEach(names, account);
    fixture.reset();
    expect(await namesOf(account)).toEqual(names);
    expect(fixture.callsOf('BatchGetItemCommand')).toBe(2);
    expect(fixture.calls()).toBe(3);
  });
});

describe('a batch', () => {
  it('reads each queue once, and counts the queues once', async () => {
    const account = await accountWith('batched');
    const names = Array.from({ length: 20 }, (_, index) => `queue-${index % 5}`);
    // The process reads what it keeps for minutes.
    await enqueueEach(['other'], account);
    expect(await callsOf(() => enqueueEach(names, account))).toEqual({
      // Reads five queues twice: to create and to join them.
      GetItemCommand: 5 + 5 + 5,
      QueryCommand: 1,
      PutItemCommand: 5 + 5,
      SendMessageBatchCommand: 5,
      BatchWriteItemCommand: 1,
      UpdateItemCommand: 1,
    });
  });
});

describe('a schedule’s fire', () => {
  it('creates its queue again if it was deleted, and otherwise no message, and says why', async () => {
    const account = await accountWith('fires', { max_queues: 1 });
    const { scheduleId } = await lambdas.createSchedule(
      account,
      requestTo('scheduled', { cron: '0 0 1 1 *', 'queue-name': 'scheduled' }),
    );
    const { saveId = '' } = (await lambdas.loadSchedule(account.id, scheduleId)) ?? {};
    /** Fires after the deletion of the queue. Returns the number of the account's messages. */
    const fireAt = async (time: Date, before: () => Promise<unknown>): Promise<number> => {
      await lambdas.deleteQueue(account, 'scheduled');
      pass(61_000);
      await before();
      await fixture.drain();
      const notice = { accountId: account.id, scheduleId, saveId, time: time.toISOString() };
      await lambdas.fire(notice, { sentAt: Date.now() });
      const attempts = (await fixture.drain()).filter(({ kind }) => kind === 'attempt');
      return attempts.filter(({ accountId }) => accountId === account.id).length;
    };
    expect(await fireAt(new Date(Date.UTC(2027, 0, 1)), () => Promise.resolve())).toBe(1);
    expect(await namesOf(account)).toEqual(['scheduled']);
    expect(await fireAt(new Date(Date.UTC(2028, 0, 1)), () => enqueue('other', account))).toBe(0);
    expect(await namesOf(account)).toEqual(['other']);
    expect(await lambdas.getSchedule(account, scheduleId)).toMatchObject({
      lastScheduleStates: {
        "The queue would be number 2, but the account's limit max_queues is 1.": 'FAIL',
      },
    });
  });
});

describe('a message whose grant was sent before its queue was deleted', () => {
  it('is delivered at once, even if the queue was created again', async () => {
    const inbox = fixture.receiver.inbox();
    await lambdas.putQueue(fixture.account, Buffer.from(JSON.stringify({ queueName: 'race', paused: true })));
    await fixture.enqueue('race', inbox.url);
    await fixture.doJobs();
    await lambdas.resumeQueue(fixture.account, 'race');
    const { job } = await fixture.receiveAttempt();
    await lambdas.deleteQueue(fixture.account, 'race');
    await lambdas.putQueue(fixture.account, Buffer.from(JSON.stringify({ queueName: 'race', paused: true })));
    await fixture.perform(job, { isAgain: false });
    expect(inbox.deliveries).toHaveLength(1);
    // It needs no slot of the new queue, and leaves none.
    expect(await lambdas.getQueue(fixture.account, 'race')).toMatchObject({ lag: 0 });
    await fixture.doJobs();
    expect(inbox.deliveries).toHaveLength(1);
  });
});
