import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { Account } from '../../../lambdas/account/account.ts';
import { itAtEachDeath, type Fate } from '../../support/faults.ts';
import { setClockAhead } from '../../support/clockAhead.ts';
import { useFixture } from '../../support/useFixture.ts';
import { idOf, requestOf, type Fixture } from '../../support/fixture.ts';

let fixture: Fixture;
let lambdas: Awaited<ReturnType<typeof importLambdas>>;

async function importLambdas() {
  const [publish, batch, queues, schedules, shown, fire, stores] = await Promise.all([
    import('../../../lambdas/publish/publish.ts'),
    import('../../../lambdas/publish/batch.ts'),
    import('../../../lambdas/lane/queues.ts'),
    import('../../../lambdas/schedule/schedules.ts'),
    import('../../../lambdas/schedule/shownSchedules.ts'),
    import('../../../lambdas/schedule/fire.ts'),
    import('../../../lambdas/schedule/rows.ts'),
  ]);
  return {
    ...publish,
    ...batch,
    ...queues,
    ...schedules,
    ...shown,
    ...fire,
    loadSchedule: stores.loadSchedule,
  };
}

useFixture(async (opened) => {
  fixture = opened;
  lambdas = await importLambdas();
});
beforeEach(async () => {
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

let passedMs = 0;
beforeEach(() => {
  passedMs = 0;
});

function pass(ms: number): void {
  passedMs += ms;
  setClockAhead(passedMs);
}

/** Keeps what a process knows about a lane fresh for the whole test instead of some milliseconds. */
function stopClock(): void {
  const stopped = Date.now();
  vi.spyOn(Date, 'now').mockReturnValue(stopped);
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
    stopClock();
    expect(await callsOf(() => enqueue('known'))).toEqual({ PutItemCommand: 2 });
  });

  it('sends the job of a message with the write of its lane if there is capacity', async () => {
    const account = await accountWith('roomy');
    await lambdas.putQueue(account, Buffer.from('{"queueName":"roomy","parallelism":10}'));
    await enqueue('roomy', account);
    pass(1_000);
    expect(await callsOf(() => enqueue('roomy', account))).toEqual({
      GetItemCommand: 1,
      PutItemCommand: 2,
      SendMessageBatchCommand: 1,
    });
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
    stopClock();
    expect(await callsOf(() => enqueue('unknown'))).toEqual({
      // The reads get the setting of circuits, the queue and its lane.
      GetItemCommand: 3,
      QueryCommand: 1,
      // Writes the queue, the message and its grant.
      PutItemCommand: 3,
      SendMessageBatchCommand: 1,
    });
  });

  it('creates a deleted queue again within a minute', async () => {
    const account = await accountWith('forgetful');
    await enqueue('deleted', account);
    await enqueue('deleted', account);
    await lambdas.deleteQueue(account, 'deleted');
    pass(61_000);
    await enqueue('deleted', account);
    expect(await namesOf(account)).toEqual(['deleted']);
  });

  it('does not remember a refusal', async () => {
    const account = await accountWith('small', { max_queues: 0 });
    await expect(enqueue('first', account)).rejects.toMatchObject({ status: 412 });
    await enqueue('first', { ...account, limits: { max_queues: 1 } });
    expect(await namesOf(account)).toEqual(['first']);
  });

  it('by many clients at once creates one queue', async () => {
    const account = await accountWith('many', { max_queues: 1 });
    await Promise.all(Array.from({ length: 10 }, () => enqueue('same', account)));
    expect(await namesOf(account)).toEqual(['same']);
  });

  const canBeSentAgain = async (fate: Fate): Promise<void> => {
    const account = await accountWith(fate.name, { max_queues: 1 });
    await fixture.underFate(fate, () => enqueue('fragile', account));
    await enqueue('fragile', account);
    expect(await namesOf(account)).toEqual(['fragile']);
  };
  itAtEachDeath('one of whose AWS calls fails can be sent again', canBeSentAgain, { survived: true });
  itAtEachDeath('that dies at any of its AWS calls can be sent again', canBeSentAgain);

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
  const stateOf = async (account: Account, messageId: string) =>
    (await fixture.loadMessage({ accountId: account.id, messageId }))?.end;

  async function one(name: string, account: Account): Promise<string> {
    return idOf(await enqueue(name, account));
  }

  it('makes room for another queue at once', async () => {
    const account = await accountWith('replaces', { max_queues: 1 });
    await enqueue('first', account);
    await lambdas.deleteQueue(account, 'first');
    await enqueue('second', account);
    expect(await namesOf(account)).toEqual(['second']);
  });

  it('has its waiting messages cancelled, even if it is created again before that', async () => {
    const account = await accountWith('again');
    await lambdas.putQueue(account, Buffer.from('{"queueName":"again","paused":true}'));
    const lost = [await one('again', account), await one('again', account)];
    await lambdas.deleteQueue(account, 'again');
    const kept = await one('again', account);
    await fixture.doJobs();
    for (const messageId of lost) expect(await stateOf(account, messageId)).toBe('CANCELED');
    expect(await stateOf(account, kept)).toBeUndefined();
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

describe('the oldest message of a queue', () => {
  it('is the one that was published first, even if pages of the line are between', async () => {
    await lambdas.putQueue(fixture.account, Buffer.from('{"queueName":"old","paused":true}'));
    const oldest = async () => (await lambdas.getQueue(fixture.account, 'old')).oldestAt;
    expect(await oldest()).toBeUndefined();
    const begun = Date.now();
    await enqueue('old');
    const firstAt = await oldest();
    expect(firstAt).toBeGreaterThanOrEqual(begun);
    for (let sent = 0; sent < 30; sent += 1) {
      pass(sent * 1_000);
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
    const names = Array.from({ length: 250 }, (_, index) => `queue-${String(index).padStart(3, '0')}`);
    await enqueueEach(names, account);
    fixture.reset();
    expect(await namesOf(account)).toEqual(names);
    expect(fixture.callsOf('BatchGetItemCommand')).toBe(3);
    expect(fixture.calls()).toBe(4);
  });
});

describe('a batch', () => {
  it('reads each queue once, and counts the queues once', async () => {
    const account = await accountWith('batched');
    const names = Array.from({ length: 100 }, (_, index) => `queue-${index % 5}`);
    stopClock();
    expect(await callsOf(() => enqueueEach(names, account))).toEqual({
      // Reads five queues twice: to create and to join them.
      GetItemCommand: 5 + 5 + 5,
      QueryCommand: 1,
      PutItemCommand: 5 + 5,
      SendMessageBatchCommand: 5,
      BatchWriteItemCommand: 4,
      UpdateItemCommand: 1,
    });
  });
});

describe('a schedule’s fire', () => {
  /** Counts one account’s messages, because those of earlier tests may become due. */
  const sentFor = async ({ id }: Account): Promise<number> =>
    (await fixture.drain()).filter(({ kind, accountId }) => kind === 'attempt' && accountId === id).length;

  async function fireOf(account: Account, queueName: string) {
    const { scheduleId } = await lambdas.createSchedule(
      account,
      requestTo(queueName, { cron: '0 0 1 1 *', 'queue-name': queueName }),
    );
    const schedule = await lambdas.loadSchedule(account.id, scheduleId);
    const time = new Date(Date.UTC(2027, 0, 1)).toISOString();
    const notice = { accountId: account.id, scheduleId, saveId: schedule?.saveId ?? '', time };
    return { scheduleId, fire: () => lambdas.fire(notice, { sentAt: Date.now() }) };
  }

  it('creates its queue again if it was deleted', async () => {
    const account = await accountWith('fires');
    const { fire } = await fireOf(account, 'scheduled');
    await lambdas.deleteQueue(account, 'scheduled');
    pass(61_000);
    await fire();
    expect(await namesOf(account)).toEqual(['scheduled']);
    expect(await sentFor(account)).toBe(1);
  });

  it('creates no message and says why if the account has too many queues', async () => {
    const account = await accountWith('full', { max_queues: 1 });
    const { scheduleId, fire } = await fireOf(account, 'scheduled');
    await lambdas.deleteQueue(account, 'scheduled');
    pass(61_000);
    await enqueue('other', account);
    await fixture.drain();
    await fire();
    expect(await sentFor(account)).toBe(0);
    expect(await namesOf(account)).toEqual(['other']);
    expect(await lambdas.getSchedule(account, scheduleId)).toMatchObject({
      lastScheduleStates: {
        "The queue would be number 2, but the account's limit max_queues is 1.": 'FAIL',
      },
    });
  });
});
