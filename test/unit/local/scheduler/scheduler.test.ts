import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  ConflictException,
  CreateScheduleCommand,
  DeleteScheduleCommand,
  GetScheduleCommand,
  ListSchedulesCommand,
  ResourceNotFoundException,
  SchedulerClient,
  ValidationException,
  type CreateScheduleCommandInput,
  type Target,
} from '@aws-sdk/client-scheduler';
import { DeleteMessageCommand, ReceiveMessageCommand, SQSClient, type Message } from '@aws-sdk/client-sqs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { startScheduler } from '../../../../local/scheduler/scheduler.ts';
import { scheduleKey, toBytes, type Fire } from '../../../../local/scheduler/storedSchedules.ts';
import { scheduleSettings } from '../../../../local/scheduler/settings.ts';
import { Firing } from '../../../../local/scheduler/firing.ts';
import { Schedules } from '../../../../local/scheduler/schedules.ts';
import { queueArn } from '../../../../local/aws/arns.ts';
import { startSqs } from '../../../../local/sqs/sqs.ts';
import { Store } from '../../../../local/store/store.ts';
import { eventually } from '../../../support/eventually.ts';
import { nextStore } from '../../../support/nextStore.ts';

const region = 'eu-central-1';
const queues = ['fire', 'undelivered'].map((name) => ({ name, visibilityTimeoutMs: 70_000 }));
const minuteMs = 60_000;

const target: Target = {
  Arn: queueArn(region, 'fire'),
  RoleArn: 'arn:aws:iam::000000000000:role/scheduler',
  Input: 'fired',
};

let clock = 0;
let folder = '';
const endings: (() => Promise<void> | void)[] = [];

beforeEach(() => {
  // 2027-01-15T08:00:00Z, a Friday.
  clock = 1_800_000_000_000;
  folder = mkdtempSync(join(tmpdir(), 'svc-scheduler-'));
  endings.push(() => {
    rmSync(folder, { recursive: true });
  });
});

afterEach(async () => {
  for (let end = endings.pop(); end !== undefined; end = endings.pop()) await end();
});

/** Starts the stand-in with a clock that only the test moves. */
async function start(store = new Store(undefined)) {
  const failures: unknown[] = [];
  const report = (error: unknown): void => void failures.push(error);
  const now = (): number => clock;
  const sqs = await startSqs({ queues, region, store, now, report });
  const scheduler = await startScheduler({ sqs, groups: ['svc'], region, store, now, report });
  await scheduler.fire();
  const settings = { region, credentials: { accessKeyId: 'any', secretAccessKey: 'any' }, maxAttempts: 1 };
  const client = new SchedulerClient({ ...settings, endpoint: scheduler.url });
  const sqsClient = new SQSClient({ ...settings, endpoint: sqs.url });
  endings.push(async () => {
    client.destroy();
    sqsClient.destroy();
    await scheduler.close();
    await sqs.close();
  });

  const take = async (queue = 'fire'): Promise<Message[]> => {
    const QueueUrl = sqs.queueUrl(queue);
    const taken: Message[] = [];
    for (;;) {
      const { Messages = [] } = await sqsClient.send(
        new ReceiveMessageCommand({
          QueueUrl,
          MaxNumberOfMessages: 10,
          MessageSystemAttributeNames: ['All'],
        }),
      );
      if (Messages.length === 0) {
        await store.committed();
        return taken;
      }
      for (const message of Messages) {
        taken.push(message);
        const { ReceiptHandle } = message;
        await sqsClient.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle }));
      }
    }
  };
  const input = (changes: Partial<CreateScheduleCommandInput> = {}): CreateScheduleCommandInput => ({
    Name: 'one',
    GroupName: 'svc',
    ScheduleExpression: 'at(2027-01-15T08:16:00)',
    FlexibleTimeWindow: { Mode: 'OFF' },
    Target: target,
    ...changes,
  });
  return {
    client,
    scheduler,
    failures,
    take,
    create: async (changes?: Partial<CreateScheduleCommandInput>) =>
      client.send(new CreateScheduleCommand(input(changes))),
    get: async (Name = 'one') => client.send(new GetScheduleCommand({ Name, GroupName: 'svc' })),
    remove: async (Name = 'one') => client.send(new DeleteScheduleCommand({ Name, GroupName: 'svc' })),
    pass: async (ms: number): Promise<void> => {
      const end = clock + ms;
      for (let due = scheduler.nextDue(); due !== undefined && due <= end; due = scheduler.nextDue()) {
        clock = due;
        scheduler.wake();
        await store.committed();
      }
      clock = end;
      scheduler.wake();
      await store.committed();
    },
  };
}

const startAgain = async () => start(nextStore(folder));

const bodies = (messages: readonly Message[]): (string | undefined)[] => messages.map(({ Body }) => Body);
const scheduledTime = '<aws.scheduler.scheduled-time>';

describe('a schedule', () => {
  test('exists once in a group, and a repeated call changes nothing', async () => {
    const { client, create } = await start();
    const { ScheduleArn } = await create({ ClientToken: 'first' });
    expect(await create({ ClientToken: 'first' })).toMatchObject({ ScheduleArn });
    await expect(create()).rejects.toBeInstanceOf(ConflictException);
    await expect(create()).rejects.toThrow('Schedule one already exists.');
    await create({ GroupName: 'default' });
    await client.send(new GetScheduleCommand({ Name: 'one' }));
  });

  test('that is missing cannot be read or deleted', async () => {
    const { get, remove, create } = await start();
    await expect(get()).rejects.toBeInstanceOf(ResourceNotFoundException);
    await expect(get()).rejects.toThrow('Schedule one does not exist.');
    await expect(remove()).rejects.toBeInstanceOf(ResourceNotFoundException);
    const inNone = create({ GroupName: 'none' });
    await expect(inNone).rejects.toBeInstanceOf(ResourceNotFoundException);
    await expect(inNone).rejects.toThrow('Schedule group none does not exist.');
  });

  test.each<[string, Partial<CreateScheduleCommandInput>]>([
    ['Name', { Name: 'a/b' }],
    ["no time zone 'Mars/Base'", { ScheduleExpressionTimezone: 'Mars/Base' }],
    ['Invalid Schedule Expression soon', { ScheduleExpression: 'soon' }],
    ['in the past', { ScheduleExpression: 'at(2027-01-15T07:59:59)' }],
    ["the local stage's are at", { ScheduleExpression: 'rate(5 minutes)' }],
    ['FlexibleTimeWindow', { FlexibleTimeWindow: { Mode: 'FLEXIBLE' } }],
    ['SQS queues', { Target: { ...target, Arn: 'arn:aws:lambda:eu-central-1:000000000000:function:f' } }],
    ['MaximumRetryAttempts', { Target: { ...target, RetryPolicy: { MaximumRetryAttempts: 186 } } }],
    ['262144 bytes', { Target: { ...target, Input: 'x'.repeat(262_145) } }],
    ['KinesisParameters', { Target: { ...target, KinesisParameters: { PartitionKey: 'k' } } }],
    ['no other context attribute', { Target: { ...target, Input: '<aws.scheduler.execution-id>' } }],
    ['StartDate', { StartDate: new Date(1_800_000_000_000) }],
  ])('is refused where it is wrong: %s', async (reason, changes) => {
    const { create, client } = await start();
    const created = create(changes);
    await expect(created).rejects.toBeInstanceOf(ValidationException);
    await expect(created).rejects.toThrow(reason);
    expect((await client.send(new ListSchedulesCommand())).Schedules).toEqual([]);
  });
});

describe('a one-time schedule', () => {
  test('fires at its second, once', async () => {
    const { create, pass, take, get } = await start();
    await create({ ScheduleExpression: 'at(2027-01-15T08:16:01)' });
    await pass(16 * minuteMs + 999);
    expect(await take()).toEqual([]);
    await pass(1);
    expect(bodies(await take())).toEqual(['fired']);
    await pass(400 * 24 * 60 * minuteMs);
    expect(await take()).toEqual([]);
    expect(await get()).toMatchObject({ Name: 'one' });
  });

  test('fires without a call', async () => {
    const { create, take } = await start();
    await create({ ScheduleExpression: 'at(2027-01-15T08:00:01)' });
    const timer = setInterval(() => (clock += 10), 10);
    try {
      expect(
        bodies(
          await eventually(
            () => take(),
            (messages) => messages.length > 0,
          ),
        ),
      ).toEqual(['fired']);
    } finally {
      clearInterval(timer);
    }
  });

  test('is deleted after firing if it says so', async () => {
    const { create, pass, take, get } = await start();
    await create({ ActionAfterCompletion: 'DELETE' });
    await pass(16 * minuteMs);
    expect(bodies(await take())).toEqual(['fired']);
    await expect(get()).rejects.toBeInstanceOf(ResourceNotFoundException);
  });

  test('in the hour that clocks skip fires later by that hour', async () => {
    const { create, pass, take } = await start();
    await create({
      ScheduleExpression: 'at(2027-03-28T02:30:00)',
      ScheduleExpressionTimezone: 'Europe/Berlin',
      Target: { ...target, Input: scheduledTime },
    });
    await pass(100 * 24 * 60 * minuteMs);
    expect(bodies(await take())).toEqual(['2027-03-28T01:30:00Z']);
  });
});

describe('a recurring schedule', () => {
  test('fires at each of its times', async () => {
    const { create, pass, take } = await start();
    await create({
      ScheduleExpression: 'cron(0/10 10 ? * 2-6 *)',
      ScheduleExpressionTimezone: 'Europe/Berlin',
      Target: { ...target, Input: scheduledTime },
    });
    await pass(75 * minuteMs);
    expect(bodies(await take())).toEqual(['2027-01-15T09:00:00Z', '2027-01-15T09:10:00Z']);
    await pass(3 * 24 * 60 * minuteMs - 15 * minuteMs);
    expect(bodies(await take())).toEqual([
      '2027-01-15T09:20:00Z',
      '2027-01-15T09:30:00Z',
      '2027-01-15T09:40:00Z',
      '2027-01-15T09:50:00Z',
      '2027-01-18T09:00:00Z',
    ]);
  });

  test('does not catch up on times during which the machine slept', async () => {
    const { create, scheduler, pass, take } = await start();
    await create({
      ScheduleExpression: 'cron(* * * * ? *)',
      Target: { ...target, Input: scheduledTime },
    });
    clock += 8 * 60 * minuteMs + 30_000;
    scheduler.wake();
    expect(await take()).toEqual([]);
    await pass(30_000);
    expect(bodies(await take())).toEqual(['2027-01-15T16:01:00Z']);
  });
});

describe('a message', () => {
  test('continues at its next time when the clock has stepped back', async () => {
    const { create, scheduler, pass, take } = await start();
    await create({ ScheduleExpression: 'cron(* * * * ? *)' });
    clock -= 60 * minuteMs;
    scheduler.wake();
    await eventually(
      () => Promise.resolve(scheduler.nextDue()),
      (due) => due === clock + minuteMs,
    );
    await pass(minuteMs);
    expect(await take()).toHaveLength(1);
  });

  test('that its queue refuses goes to the dead-letter queue, or is reported', async () => {
    const { create, pass, take, failures } = await start();
    const Arn = queueArn(region, 'gone');
    const DeadLetterConfig = { Arn: queueArn(region, 'undelivered') };
    await create({ Target: { ...target, Arn, DeadLetterConfig }, ActionAfterCompletion: 'DELETE' });
    await pass(16 * minuteMs);
    expect(bodies(await take('undelivered'))).toEqual(['fired']);
    expect(failures).toEqual([]);
    await create({ ScheduleExpression: 'at(2027-01-15T09:00:00)', Target: { ...target, Arn } });
    await pass(60 * minuteMs);
    expect(failures).toMatchObject([{ message: expect.stringContaining('does not exist') as string }]);
  });
});

describe('after the process was killed', () => {
  test('schedules are unchanged, and deleted ones are gone', async () => {
    const before = await startAgain();
    await before.create();
    await before.create({ Name: 'two', ScheduleExpression: 'at(2027-01-15T10:00:00)' });
    await before.create({ Name: 'gone' });
    await before.remove('gone');

    const after = await startAgain();
    const { Schedules } = await after.client.send(new ListSchedulesCommand());
    expect(Schedules?.map(({ Name }) => Name)).toEqual(['one', 'two']);
    expect(await after.get()).toMatchObject({ Target: target });
    await after.pass(16 * minuteMs);
    expect(bodies(await after.take())).toEqual(['fired']);
  });

  test('a one-time schedule that became due fires at once, with its time, and only once', async () => {
    const before = await startAgain();
    await before.create({ Target: { ...target, Input: scheduledTime } });
    clock += 24 * 60 * minuteMs;

    const after = await startAgain();
    await after.pass(0);
    expect(bodies(await after.take())).toEqual(['2027-01-15T08:16:00Z']);

    const last = await startAgain();
    await last.pass(24 * 60 * minuteMs);
    expect(await last.take()).toEqual([]);
  });

  test('recurring schedules continue with their next time', async () => {
    const before = await startAgain();
    const Target = { ...target, Input: scheduledTime };
    await before.create({ ScheduleExpression: 'cron(0 * * * ? *)', Target });
    clock += 185 * minuteMs;

    const after = await startAgain();
    expect(await after.take()).toEqual([]);
    await after.pass(60 * minuteMs);
    expect(bodies(await after.take())).toEqual(['2027-01-15T12:00:00Z']);
  });

  test('a fire and its record are written together or not at all', async () => {
    const before = await startAgain();
    await before.create({ ActionAfterCompletion: 'DELETE' });
    const passing = before.pass(16 * minuteMs);
    const early = await startAgain();
    await passing;
    const late = await startAgain();
    for (const after of [early, late]) {
      await after.pass(16 * minuteMs);
      expect(bodies(await after.take())).toEqual(['fired']);
    }
  });
});

test('schedules of an earlier release, which has no index of them, fire at their times', async () => {
  const store = new Store(undefined);
  const stored = (name: string, ScheduleExpression: string, isDone = false) => {
    const settings = scheduleSettings.parse({
      ScheduleExpression,
      FlexibleTimeWindow: { Mode: 'OFF' },
      Target: { ...target, Input: name },
    });
    const schedule = { group: 'svc', name, settings, createdAt: clock, isDone };
    store.write(scheduleKey(schedule), toBytes(schedule));
  };
  stored('once', 'at(2027-01-15T08:16:00)');
  stored('overdue', 'at(2027-01-15T07:59:00)');
  stored('later', 'at(2027-01-18T08:00:00)');
  stored('hourly', 'cron(30 * * * ? *)');
  stored('done', 'at(2027-01-15T07:00:00)', true);
  await store.committed();
  const { pass, take } = await start(store);
  await pass(60 * minuteMs);
  expect(bodies(await take()).toSorted()).toEqual(['hourly', 'once', 'overdue']);
  await pass(71 * 60 * minuteMs);
  expect(bodies(await take()).filter((body) => body !== 'hourly')).toEqual(['later']);
});

test('a schedule that another process creates fires when this one is told of it, or looks again', async () => {
  const store = new Store(undefined);
  const told: Fire[] = [];
  const now = (): number => clock;
  const sqs = await startSqs({ queues, region, store, owner: 1, now, report: () => undefined });
  const options = { sqs, groups: ['svc'], region, store, now, report: () => undefined };
  const other = await startScheduler({ ...options, tell: (fire) => told.push(fire) });
  endings.push(other.close, sqs.close);
  const { scheduler, pass, take } = await start(store);
  const create = (Name: string): Promise<object> =>
    other.handedOver.handOver('CreateSchedule', {
      ...{ Name, GroupName: 'svc', FlexibleTimeWindow: { Mode: 'OFF' } },
      ...{ ScheduleExpression: 'at(2027-01-15T08:16:00)', Target: { ...target, Input: Name } },
    });
  await create('one');
  await create('two');
  const [first] = told;
  if (first !== undefined) for (let times = 0; times < 2; times += 1) scheduler.planned(first);
  await pass(16 * minuteMs);
  expect(bodies(await take())).toEqual(['one']);
  await scheduler.readAgain();
  await pass(0);
  expect(bodies(await take())).toEqual(['two']);
});

/** A store whose next reads of an index fail, as while it is opened again after a failure of the disk. */
class FailingStore extends Store {
  failures = 0;

  override *keys(options: Parameters<Store['keys']>[0]): ReturnType<Store['keys']> {
    this.failures -= 1;
    if (this.failures >= 0) throw new Error('EIO: the store could not be written, and is opened again.');
    yield* super.keys(options);
  }
}

describe('after a failed read of the store', () => {
  async function startFailing() {
    const store = new FailingStore(undefined);
    const { failures, ...rest } = await start(store);
    const fail = async (act: () => unknown): Promise<void> => {
      store.failures = 1;
      act();
      await eventually(
        () => Promise.resolve(failures),
        ({ length }) => length === 1,
      );
    };
    return { store, fail, ...rest };
  }

  test('the fires of the next hour are not missed', async () => {
    const { create, scheduler, take, fail } = await startFailing();
    await create({ ScheduleExpression: 'at(2027-01-15T09:15:00)' });
    clock += 30 * minuteMs;
    await fail(scheduler.wake);
    clock += 60 * minuteMs;
    scheduler.wake();
    await eventually(take, (messages) => messages.length === 1);
  });

  test('the fires of a process that has ended are not missed', async () => {
    const { scheduler, take, fail, store } = await startFailing();
    const now = (): number => clock;
    const schedules = new Schedules({ groups: ['svc'], store, now, invoke: () => () => undefined });
    const settings = {
      ...{ FlexibleTimeWindow: { Mode: 'OFF' }, Target: target },
      ScheduleExpression: 'at(2027-01-15T08:16:00)',
    };
    await schedules.create({ group: 'svc', name: 'one' }, scheduleSettings.parse(settings));
    await fail(() => void scheduler.readAgain().catch(() => undefined));
    clock += 16 * minuteMs;
    scheduler.wake();
    await eventually(take, (messages) => messages.length === 1);
  });

  test('recurring schedules are recalculated after a step of the clock', async () => {
    const { create, scheduler, fail } = await startFailing();
    await create({ ScheduleExpression: 'cron(* * * * ? *)' });
    clock -= 60 * minuteMs;
    await fail(scheduler.wake);
    await eventually(
      () => Promise.resolve(scheduler.nextDue()),
      (due) => due === clock + minuteMs,
    );
  });

  test('the next start reads again', async () => {
    const { create, scheduler, pass, take, store } = await startFailing();
    await create();
    store.failures = 1;
    await expect(scheduler.fire()).rejects.toThrow('EIO');
    await scheduler.fire();
    await pass(16 * minuteMs);
    expect(bodies(await take())).toEqual(['fired']);
  });
});

test('a fire that fails is retried, and does not delay others', async () => {
  const attempts: string[] = [];
  const failures: unknown[] = [];
  const store = new Store(undefined);
  const now = (): number => clock;
  const schedules = new Schedules({
    ...{ groups: [], store, now },
    invoke: ({ schedule: { name } }) => {
      attempts.push(name);
      if (name === 'one' && attempts.filter((tried) => tried === 'one').length < 3)
        throw new Error('no space left on device');
      return () => undefined;
    },
  });
  const firing = new Firing({ schedules, now, report: (error) => void failures.push(error) });
  await firing.start();
  endings.push(() => firing.close());
  const settings = (ScheduleExpression: string) =>
    scheduleSettings.parse({ ScheduleExpression, FlexibleTimeWindow: { Mode: 'OFF' }, Target: target });
  for (const [name, expression] of [
    ['one', 'at(2027-01-15T08:16:00)'],
    ['two', 'at(2027-01-15T08:16:01)'],
  ] as const) {
    const fire = await schedules.create({ group: 'default', name }, settings(expression));
    if (fire !== undefined) firing.add(fire);
  }
  clock += 16 * minuteMs;
  for (let second = 0; second < 10; second += 1) {
    firing.wake();
    await store.committed();
    clock += 1000;
  }
  expect(attempts.toSorted()).toEqual(['one', 'one', 'one', 'two']);
  expect(failures).toHaveLength(2);
});
