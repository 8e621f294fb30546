import { GetScheduleCommand, ListSchedulesCommand } from '@aws-sdk/client-scheduler';
import { QueryCommand } from '@aws-sdk/client-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { shardOf } from '../../../lambdas/domain/ids.ts';
import { configOf, deathsAt, idsOf, openWorld, requestOf, type World } from '../../support/world.ts';

/** Schedules and far messages, seen from inside: what stands in the table and in Scheduler, and what a death leaves. */

let world: World;
let lambdas: Awaited<ReturnType<typeof importLambdas>>;

async function importLambdas() {
  const [fire, schedules, scheduler, stores, messages] = await Promise.all([
    import('../../../lambdas/services/fire.ts'),
    import('../../../lambdas/services/schedules.ts'),
    import('../../../lambdas/transport/scheduler.ts'),
    import('../../../lambdas/stores/schedules.ts'),
    import('../../../lambdas/services/messages.ts'),
  ]);
  const { loadSchedule, deleteSchedule: dropRow } = stores;
  return {
    ...fire,
    ...schedules,
    ...messages,
    loadSchedule,
    dropRow,
    scheduler: await scheduler.scheduler(),
  };
}

beforeAll(async () => {
  world = await openWorld();
  lambdas = await importLambdas();
  lambdas.scheduler.client.middlewareStack.add(
    (next, context) => (args) => world.mortal(context.commandName ?? '', () => next(args)),
    { step: 'initialize', name: 'mortal' },
  );
});
afterAll(() => world.close());
beforeEach(() => {
  world.reset();
});

const groupName = (): string => world.settings.scheduleGroup;

async function inScheduler(prefix: string): Promise<readonly string[]> {
  const { Schedules = [] } = await lambdas.scheduler.client.send(
    new ListSchedulesCommand({ GroupName: groupName(), NamePrefix: prefix }),
  );
  return Schedules.map(({ Name = '' }) => Name);
}

const create = (scheduleId: string, destination: string, cron = '* * * * *', body = 'tick') =>
  lambdas.createSchedule(world.account, requestOf(destination, { cron, 'schedule-id': scheduleId }, body));

async function saveIdOf(scheduleId: string): Promise<string> {
  const schedule = await lambdas.loadSchedule('acct', scheduleId);
  if (schedule === undefined) throw new Error('There is no schedule.');
  return schedule.saveId;
}

/** Does something 61 seconds from now. */
async function later(act: () => Promise<unknown>): Promise<void> {
  const realNow = Date.now;
  Date.now = () => realNow() + 61_000;
  try {
    await act();
  } finally {
    Date.now = realNow;
  }
}

const minute = Date.UTC(2027, 0, 1, 12, 0);

const noticeOf = (scheduleId: string, saveId: string, time = minute): string =>
  JSON.stringify({ accountId: 'acct', scheduleId, saveId, time: new Date(time).toISOString() });

describe('a message that is due later than a message timer reaches', () => {
  it.each([
    ['16m', 16 * 60_000],
    ['40d', 40 * 86_400_000],
  ])('in %s is one schedule, two minutes early, to its queue', async (delay, delayMs) => {
    const before = Date.now();
    const messageId = await world.send('https://example.com/', { delay, timeout: '20s' });
    expect(world.callsOf('CreateScheduleCommand')).toBe(1);
    expect(world.callsOf('SendMessageCommand')).toBe(0);

    const { Items = [] } = await world.dynamodb.send(
      new QueryCommand({
        TableName: world.settings.messagesTable,
        KeyConditionExpression: '#shard = :shard AND #id = :id',
        ExpressionAttributeNames: { '#shard': 'shard', '#id': 'id' },
        ExpressionAttributeValues: { ':shard': { S: shardOf('acct', messageId) }, ':id': { S: messageId } },
      }),
    );
    const [row = {}] = Items.map((item) => unmarshall(item));
    const notBefore = Number(row['notBefore']);
    expect(notBefore - before - delayMs).toBeLessThan(5_000);

    const schedule = await lambdas.scheduler.client.send(
      new GetScheduleCommand({ GroupName: groupName(), Name: `${messageId}-0` }),
    );
    const at = new Date(Math.floor((notBefore - 120_000) / 1000) * 1000).toISOString().slice(0, 19);
    expect(schedule).toMatchObject({
      ScheduleExpression: `at(${at})`,
      ActionAfterCompletion: 'DELETE',
      FlexibleTimeWindow: { Mode: 'OFF' },
      Target: { Arn: world.settings.shortQueueArn, DeadLetterConfig: { Arn: world.settings.deadQueueArn } },
    });
    expect(JSON.parse(schedule.Target?.Input ?? '')).toMatchObject({ messageId, attempt: 0, queue: 'short' });

    await lambdas.cancelMessage(world.account, messageId);
    expect(await inScheduler(messageId)).toEqual([]);
  });
});

describe('a fire', () => {
  it('that is handed out five times at once makes one message for each endpoint', async () => {
    const inbox = world.receiver.inbox();
    await create('five', inbox.url);
    const notice = noticeOf('five', await saveIdOf('five'));
    const outcomes = await Promise.allSettled(
      Array.from({ length: 5 }, () => lambdas.fire(notice, Date.now())),
    );
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    // The others come back, and find it done.
    await lambdas.fire(notice, Date.now());
    await world.work();
    expect(inbox.deliveries).toHaveLength(1);
    await lambdas.deleteSchedule(world.account, 'five');
  });

  it('of what was overwritten publishes nothing, and ends what fired it', async () => {
    const inbox = world.receiver.inbox();
    await create('stale', inbox.url);
    const old = await saveIdOf('stale');
    await create('stale', inbox.url);
    expect(await inScheduler(old)).toEqual([]);
    await lambdas.fire(noticeOf('stale', old), Date.now());
    await world.work();
    expect(inbox.deliveries).toHaveLength(0);
    await lambdas.deleteSchedule(world.account, 'stale');
  });

  it('of a save whose row may still come leaves alone what fires it, and ends it when none has come', async () => {
    const inbox = world.receiver.inbox();
    await create('young', inbox.url);
    const saveId = await saveIdOf('young');
    await lambdas.dropRow('acct', 'young');
    await lambdas.fire(noticeOf('young', saveId), Date.now());
    expect(await inScheduler(saveId)).toHaveLength(1);
    await later(() => lambdas.fire(noticeOf('young', saveId), Date.now()));
    expect(await inScheduler(saveId)).toEqual([]);
  });

  it.each(deathsAt(9))('whose worker dies $when its AWS call $call makes its message once', async (death) => {
    const inbox = world.receiver.inbox();
    const id = `dies-${death.when}-${death.call}`;
    await create(id, inbox.url);
    const notice = noticeOf(id, await saveIdOf(id));
    world.reset(death);
    await lambdas.fire(notice, Date.now()).catch(() => undefined);
    world.reset();
    // A claim counts as dead after a minute; its fire comes back after the visibility of the queue, which is longer.
    await later(async () => {
      await lambdas.fire(notice, Date.now());
      await world.work();
    });
    expect(idsOf(inbox.deliveries).size).toBe(1);
    expect(inbox.deliveries).toHaveLength(1);
    await lambdas.deleteSchedule(world.account, id);
  });
});

describe('overwriting a schedule', () => {
  it.each(deathsAt(8))(
    'that dies $when its AWS call $call leaves the old or the new, whole',
    async (death) => {
      const id = `half-${death.when}-${death.call}`;
      const inbox = world.receiver.inbox();
      await create(id, `${inbox.url}/old`, '0 1 * * *', 'old');
      const before = await saveIdOf(id);
      world.reset(death);
      await create(id, `${inbox.url}/new`, '0 2 * * *', 'new').catch(() => undefined);
      world.reset();

      const saveId = await saveIdOf(id);
      const shown = await lambdas.getSchedule(world.account, id);
      const isNew = saveId !== before;
      expect([shown.destination, shown.cron, 'body' in shown && shown.body]).toEqual(
        isNew ? [`${inbox.url}/new`, '0 2 * * *', 'new'] : [`${inbox.url}/old`, '0 1 * * *', 'old'],
      );
      // What counts is fired, and only that publishes.
      expect(await inScheduler(saveId)).toEqual([`${saveId}-0`]);
      await lambdas.fire(noticeOf(id, saveId), Date.now());
      if (isNew) await lambdas.fire(noticeOf(id, before, minute + 60_000), Date.now());
      await world.work();
      expect(inbox.deliveries.map(({ body }) => body.toString())).toEqual([isNew ? 'new' : 'old']);
      await lambdas.deleteSchedule(world.account, id);
    },
  );

  it('by many at once leaves one of them, whole', async () => {
    const inbox = world.receiver.inbox();
    const outcomes = await Promise.allSettled(
      Array.from({ length: 4 }, (_, index) => create('many', inbox.url, `${index} 3 * * *`, String(index))),
    );
    expect(outcomes.some(({ status }) => status === 'fulfilled')).toBe(true);
    const saveId = await saveIdOf('many');
    const shown = await lambdas.getSchedule(world.account, 'many');
    expect(shown.cron).toBe(`${'body' in shown ? String(shown.body) : ''} 3 * * *`);
    expect(await inScheduler(saveId)).toHaveLength(1);
    await lambdas.deleteSchedule(world.account, 'many');
    expect(await inScheduler(saveId)).toEqual([]);
  });
});

describe('the limit max_schedules', () => {
  it('refuses one more than it allows, and leaves nothing of it', async () => {
    const account = { ...world.account, id: 'few', limits: { max_schedules: 1 } };
    const request = (scheduleId: string) =>
      lambdas.createSchedule(account, {
        prefix: 'Svc',
        config: configOf({ cron: '0 4 * * *', 'schedule-id': scheduleId }),
        otherHeaders: [],
        otherQuery: [],
        destination: 'https://example.com/',
        body: new Uint8Array(),
        callerIp: '127.0.0.1',
        host: 'api.example.com',
      });
    await request('one');
    world.reset();
    await expect(request('two')).rejects.toThrow(
      "The schedule would be number 2, but the account's limit max_schedules is 1.",
    );
    expect(world.callsOf('CreateScheduleCommand')).toBe(0);
    // To overwrite is not one more.
    await request('one');
    await lambdas.deleteSchedule(account, 'one');
  });
});
