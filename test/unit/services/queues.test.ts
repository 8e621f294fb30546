import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Account } from '../../../lambdas/domain/account.ts';
import { deathsAt, openWorld, requestOf, type World } from '../../support/world.ts';

/** Queues, seen from inside: what they cost, how long they are remembered, and what a schedule's fire makes of them. */

let world: World;
let lambdas: Awaited<ReturnType<typeof importLambdas>>;

async function importLambdas() {
  const [publish, queues, schedules, fire, stores] = await Promise.all([
    import('../../../lambdas/services/publish.ts'),
    import('../../../lambdas/services/queues.ts'),
    import('../../../lambdas/services/schedules.ts'),
    import('../../../lambdas/services/fire.ts'),
    import('../../../lambdas/stores/schedules.ts'),
  ]);
  return { ...publish, ...queues, ...schedules, ...fire, loadSchedule: stores.loadSchedule };
}

beforeAll(async () => {
  world = await openWorld();
  lambdas = await importLambdas();
});
afterAll(() => world.close());
beforeEach(async () => {
  await world.drain();
  world.reset();
});
afterEach(() => {
  vi.restoreAllMocks();
});

const requestTo = (queueName: string | undefined, config: Readonly<Record<string, string>> = {}) => ({
  ...requestOf(world.receiver.origin, config),
  queueName,
});

const enqueue = (queueName: string | undefined, account: Account = world.account) =>
  lambdas.publish(account, requestTo(queueName));

const namesOf = async (account: Account): Promise<readonly string[]> =>
  (await lambdas.listQueues(account)).map(({ name }) => name);

/** An account of its own, which has used nothing. */
async function accountWith(id: string, limits: Account['limits'] = {}): Promise<Account> {
  const account = { ...world.account, id, limits };
  await world.saveAccount(account, undefined);
  await world.gateOf(account, 1);
  return account;
}

/** Lets so much time pass. */
function pass(ms: number): void {
  const { now } = Date;
  vi.spyOn(Date, 'now').mockImplementation(() => now() + ms);
}

const callsOf = async (act: () => Promise<unknown>): Promise<number> => {
  world.reset();
  await act();
  return world.calls();
};

describe('an enqueue', () => {
  it('costs as much as a publish once the process has seen the queue, and a look-up each minute', async () => {
    await enqueue('known');
    await enqueue('known');
    const published = await callsOf(() => enqueue(undefined));
    expect(await callsOf(() => enqueue('known'))).toBe(published);
    expect(await callsOf(() => Promise.all(Array.from({ length: 20 }, () => enqueue('known'))))).toBe(
      20 * published,
    );
    pass(61_000);
    // The other look is at what the account has used meanwhile.
    expect(await callsOf(() => enqueue('known'))).toBe(published + 1 + 1);
    expect(await callsOf(() => enqueue('known'))).toBe(published);
  });

  it('reads, counts and writes a queue that is missing, once', async () => {
    const published = await callsOf(() => enqueue(undefined));
    expect(await callsOf(() => enqueue('unknown'))).toBe(published + 3);
    expect(world.callsOf('QueryCommand')).toBe(1);
  });

  it('creates a queue again that was deleted, within a minute', async () => {
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

  it('by many at once creates one queue', async () => {
    const account = await accountWith('many', { max_queues: 1 });
    await Promise.all(Array.from({ length: 10 }, () => enqueue('same', account)));
    expect(await namesOf(account)).toEqual(['same']);
  });

  it.each(deathsAt(4))('that dies $when its AWS call $call can be sent again', async (death) => {
    const account = await accountWith(`dies-${death.when}-${death.call}`, { max_queues: 1 });
    world.reset({ ...death, survived: true });
    await enqueue('fragile', account).catch(() => undefined);
    world.reset();
    await enqueue('fragile', account);
    expect(await namesOf(account)).toEqual(['fragile']);
  });

  it('that is refused does not count as a message of its day', async () => {
    const account = await accountWith('counted', { max_queues: 0, max_requests_per_day_hard: 1 });
    await expect(enqueue('refused', account)).rejects.toMatchObject({ status: 412 });
    const [refused] = await lambdas.publishBatch(account, [requestTo('refused')]);
    expect(refused).toMatchObject({ status: 412 });
    await enqueue(undefined, account);
    await expect(enqueue(undefined, account)).rejects.toMatchObject({ status: 429 });
  });
});

describe('a batch', () => {
  it('looks each queue up once, and counts once', async () => {
    const account = await accountWith('batched');
    const names = Array.from({ length: 100 }, (_, index) => `queue-${index % 5}`);
    world.reset();
    await lambdas.publishBatch(
      account,
      names.map((name) => requestTo(name)),
    );
    expect(world.callsOf('GetItemCommand')).toBe(5);
    expect(world.callsOf('QueryCommand')).toBe(1);
    expect(world.callsOf('PutItemCommand')).toBe(5);
    // One more reserves room for the messages.
    expect(world.calls()).toBe(5 + 1 + 5 + 4 + 10 + 1);
  });
});

describe('a schedule’s fire', () => {
  /** How many messages of an account are on their way; those of tests before may turn up with the time that passes. */
  const sentFor = async ({ id }: Account): Promise<number> =>
    (await world.drain()).filter(({ accountId }) => accountId === id).length;

  async function fireOf(account: Account, queueName: string) {
    const { scheduleId } = await lambdas.createSchedule(account, requestTo(queueName, { cron: '0 0 1 1 *' }));
    const schedule = await lambdas.loadSchedule(account.id, scheduleId);
    const time = new Date(Date.UTC(2027, 0, 1)).toISOString();
    const notice = { accountId: account.id, scheduleId, saveId: schedule?.saveId, time };
    return { scheduleId, fire: () => lambdas.fire(JSON.stringify(notice), Date.now()) };
  }

  it('creates its queue again where it was deleted', async () => {
    const account = await accountWith('fires');
    const { fire } = await fireOf(account, 'scheduled');
    await lambdas.deleteQueue(account, 'scheduled');
    pass(61_000);
    await fire();
    expect(await namesOf(account)).toEqual(['scheduled']);
    expect(await sentFor(account)).toBe(1);
  });

  it('makes no message, and says why, where the account has all its queues', async () => {
    const account = await accountWith('full', { max_queues: 1 });
    const { scheduleId, fire } = await fireOf(account, 'scheduled');
    await lambdas.deleteQueue(account, 'scheduled');
    pass(61_000);
    await enqueue('other', account);
    await world.drain();
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
