import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  ConflictException,
  CreateScheduleCommand,
  CreateScheduleGroupCommand,
  DeleteScheduleCommand,
  DeleteScheduleGroupCommand,
  GetScheduleCommand,
  GetScheduleGroupCommand,
  ListScheduleGroupsCommand,
  ListSchedulesCommand,
  ResourceNotFoundException,
  SchedulerClient,
  UpdateScheduleCommand,
  ValidationException,
  type CreateScheduleCommandInput,
  type ListSchedulesCommandInput,
  type Target,
} from '@aws-sdk/client-scheduler';
import { DeleteMessageCommand, ReceiveMessageCommand, SQSClient, type Message } from '@aws-sdk/client-sqs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { noJournal, openJournal, type Journal } from '../../../local/journal.ts';
import { startScheduler } from '../../../local/scheduler.ts';
import {
  noSchedulerJournal,
  openSchedulerJournal,
  type SchedulerJournal,
} from '../../../local/schedulerJournal.ts';
import { scheduleSettings } from '../../../local/schedulerSettings.ts';
import { Schedules } from '../../../local/schedules.ts';
import { queueArn, startSqs } from '../../../local/sqs.ts';

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

interface Journals {
  readonly journal: SchedulerJournal;
  readonly sqsJournal: Journal;
}

/** The stand-in with a clock that only the test moves, and the real clients before it. */
async function start(journals: Journals = { journal: noSchedulerJournal(), sqsJournal: noJournal }) {
  const failures: unknown[] = [];
  const report = (error: unknown): void => void failures.push(error);
  const now = (): number => clock;
  const sqs = await startSqs({ queues, region, journal: journals.sqsJournal, now, report });
  const options = { sqs, groups: ['svc'], region, now, report };
  const scheduler = await startScheduler({ ...options, journal: journals.journal });
  const settings = { region, credentials: { accessKeyId: 'any', secretAccessKey: 'any' }, maxAttempts: 1 };
  const client = new SchedulerClient({ ...settings, endpoint: scheduler.url });
  const sqsClient = new SQSClient({ ...settings, endpoint: sqs.url });
  endings.push(async () => {
    client.destroy();
    sqsClient.destroy();
    await scheduler.close();
    await sqs.close();
  });

  /** Takes all messages that are there. */
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
      if (Messages.length === 0) return taken;
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
    update: async (changes?: Partial<CreateScheduleCommandInput>) =>
      client.send(new UpdateScheduleCommand(input(changes))),
    get: async (Name = 'one') => client.send(new GetScheduleCommand({ Name, GroupName: 'svc' })),
    remove: async (Name = 'one') => client.send(new DeleteScheduleCommand({ Name, GroupName: 'svc' })),
    /** From one due moment to the next, as time passes. */
    pass: (ms: number): void => {
      const end = clock + ms;
      for (let due = scheduler.nextDue(); due !== undefined && due <= end; due = scheduler.nextDue()) {
        clock = due;
        scheduler.wake();
      }
      clock = end;
      scheduler.wake();
    },
  };
}

/** A pair on what the pair before, which is never closed, has written. */
const startAgain = async () =>
  start({
    journal: openSchedulerJournal(join(folder, 'scheduler.journal')),
    sqsJournal: openJournal(join(folder, 'sqs.journal')),
  });

const bodies = (messages: readonly Message[]): (string | undefined)[] => messages.map(({ Body }) => Body);
const scheduledTime = '<aws.scheduler.scheduled-time>';

describe('a schedule', () => {
  test('is read as it was created, with defaults', async () => {
    const { create, get } = await start();
    const arn = 'arn:aws:scheduler:eu-central-1:000000000000:schedule/svc/one';
    const StartDate = new Date(clock + 5000);
    const EndDate = new Date(clock + 500_000);
    const created = await create({ ScheduleExpression: 'rate(5 minutes)', StartDate, EndDate });
    expect(created.ScheduleArn).toBe(arn);
    clock += 1000;
    expect(await get()).toMatchObject({
      Arn: arn,
      Name: 'one',
      GroupName: 'svc',
      ScheduleExpression: 'rate(5 minutes)',
      ScheduleExpressionTimezone: 'UTC',
      StartDate,
      EndDate,
      State: 'ENABLED',
      ActionAfterCompletion: 'NONE',
      FlexibleTimeWindow: { Mode: 'OFF' },
      Target: { ...target, RetryPolicy: { MaximumEventAgeInSeconds: 86_400, MaximumRetryAttempts: 185 } },
      CreationDate: new Date(1_800_000_000_000),
      LastModificationDate: new Date(1_800_000_000_000),
    });
  });

  test('is there once in a group; a repetition of the same call changes nothing', async () => {
    const { client, create } = await start();
    const { ScheduleArn } = await create({ ClientToken: 'first' });
    expect(await create({ ClientToken: 'first' })).toMatchObject({ ScheduleArn });
    await expect(create()).rejects.toBeInstanceOf(ConflictException);
    await expect(create()).rejects.toThrow('Schedule one already exists.');
    await create({ GroupName: 'default' });
    await client.send(new GetScheduleCommand({ Name: 'one' }));
  });

  test('that is not there cannot be read, updated or deleted', async () => {
    const { get, update, remove, create } = await start();
    await expect(get()).rejects.toBeInstanceOf(ResourceNotFoundException);
    await expect(update()).rejects.toThrow('Schedule one does not exist.');
    await expect(remove()).rejects.toBeInstanceOf(ResourceNotFoundException);
    const inNone = create({ GroupName: 'none' });
    await expect(inNone).rejects.toBeInstanceOf(ResourceNotFoundException);
    await expect(inNone).rejects.toThrow('Schedule group none does not exist.');
  });

  test('is replaced whole by an update', async () => {
    const { create, update, get } = await start();
    await create({ Description: 'old', State: 'DISABLED', ActionAfterCompletion: 'DELETE' });
    clock += 1000;
    await update({ ScheduleExpression: 'rate(1 hour)' });
    const schedule = await get();
    expect(schedule).toMatchObject({
      ScheduleExpression: 'rate(1 hour)',
      State: 'ENABLED',
      ActionAfterCompletion: 'NONE',
      CreationDate: new Date(clock - 1000),
      LastModificationDate: new Date(clock),
    });
    expect(schedule.Description).toBeUndefined();
  });

  test.each<[string, Partial<CreateScheduleCommandInput>]>([
    ['Name', { Name: 'a/b' }],
    ['Name', { Name: 'x'.repeat(65) }],
    ['GroupName', { GroupName: 'a b' }],
    ['ScheduleExpressionTimezone', { ScheduleExpressionTimezone: '' }],
    ["no time zone 'Mars/Base'", { ScheduleExpressionTimezone: 'Mars/Base' }],
    ["no time zone '+01:00'", { ScheduleExpressionTimezone: '+01:00' }],
    ['Invalid Schedule Expression soon', { ScheduleExpression: 'soon' }],
    ["'2027-02-30T00:00:00' is no time", { ScheduleExpression: 'at(2027-02-30T00:00:00)' }],
    ["'2027-02-01T00:00:00Z' is no time", { ScheduleExpression: 'at(2027-02-01T00:00:00Z)' }],
    ['in the past', { ScheduleExpression: 'at(2027-01-15T07:59:59)' }],
    ["'0 minutes' is no positive number", { ScheduleExpression: 'rate(0 minutes)' }],
    ["'5 weeks' is no positive number", { ScheduleExpression: 'rate(5 weeks)' }],
    ['6 fields', { ScheduleExpression: 'cron(* * * * *)' }],
    ['FlexibleTimeWindow', { FlexibleTimeWindow: { Mode: 'FLEXIBLE' } }],
    ['FlexibleTimeWindow', { FlexibleTimeWindow: { Mode: 'OFF', MaximumWindowInMinutes: 5 } }],
    ['SQS queues', { Target: { ...target, Arn: 'arn:aws:lambda:eu-central-1:000000000000:function:f' } }],
    ['RoleArn', { Target: { ...target, RoleArn: 'role' } }],
    ['MaximumRetryAttempts', { Target: { ...target, RetryPolicy: { MaximumRetryAttempts: 186 } } }],
    ['262144 bytes', { Target: { ...target, Input: 'x'.repeat(262_145) } }],
    ['SQS queues', { Target: { ...target, KinesisParameters: { PartitionKey: 'k' } } }],
    [
      'earlier than 5 minutes ago',
      { ScheduleExpression: 'rate(1 day)', StartDate: new Date(1_800_000_000_000 - 301_000) },
    ],
    ['in the past', { ScheduleExpression: 'rate(1 day)', EndDate: new Date(1_800_000_000_000) }],
    [
      'must come before',
      {
        ScheduleExpression: 'rate(1 day)',
        StartDate: new Date(1_800_000_100_000),
        EndDate: new Date(1_800_000_100_000),
      },
    ],
  ])('is refused where it is wrong: %s', async (reason, changes) => {
    const { create, client } = await start();
    const created = create(changes);
    await expect(created).rejects.toBeInstanceOf(ValidationException);
    await expect(created).rejects.toThrow(reason);
    expect((await client.send(new ListSchedulesCommand())).Schedules).toEqual([]);
  });

  test('that is updated wrongly stays as it is', async () => {
    const { create, update, get, pass, take } = await start();
    await create();
    await expect(update({ ScheduleExpression: 'soon' })).rejects.toBeInstanceOf(ValidationException);
    expect(await get()).toMatchObject({ ScheduleExpression: 'at(2027-01-15T08:16:00)' });
    pass(16 * minuteMs);
    expect(bodies(await take())).toEqual(['fired']);
  });
});

describe('a one-time schedule', () => {
  test('fires at its second, once', async () => {
    const { create, pass, take, get } = await start();
    await create({ ScheduleExpression: 'at(2027-01-15T08:16:01)' });
    pass(16 * minuteMs + 999);
    expect(await take()).toEqual([]);
    pass(1);
    expect(bodies(await take())).toEqual(['fired']);
    pass(400 * 24 * 60 * minuteMs);
    expect(await take()).toEqual([]);
    expect(await get()).toMatchObject({ State: 'ENABLED' });
  });

  test('fires by itself', async () => {
    const { create, take } = await start();
    await create({ ScheduleExpression: 'at(2027-01-15T08:00:01)' });
    await new Promise((resolve) => {
      const timer = setInterval(() => (clock += 10), 10);
      setTimeout(() => {
        clearInterval(timer);
        resolve(undefined);
      }, 1500);
    });
    expect(bodies(await take())).toEqual(['fired']);
  });

  test('reads its time in its zone', async () => {
    const { create, pass, take } = await start();
    await create({
      ScheduleExpression: 'at(2027-01-15T03:05:00)',
      ScheduleExpressionTimezone: 'America/New_York',
      Target: { ...target, Input: scheduledTime },
    });
    pass(5 * minuteMs);
    expect(bodies(await take())).toEqual(['2027-01-15T08:05:00Z']);
  });

  test('is deleted afterwards when it says so', async () => {
    const { create, pass, take, get } = await start();
    await create({ ActionAfterCompletion: 'DELETE' });
    pass(16 * minuteMs);
    expect(bodies(await take())).toEqual(['fired']);
    await expect(get()).rejects.toBeInstanceOf(ResourceNotFoundException);
  });

  test('does not fire when it was deleted, and fires at its new time when it was updated', async () => {
    const { create, update, remove, pass, take } = await start();
    await create({ Name: 'deleted' });
    await remove('deleted');
    await create();
    await update({ ScheduleExpression: 'at(2027-01-15T09:00:00)' });
    pass(59 * minuteMs);
    expect(await take()).toEqual([]);
    pass(minuteMs);
    expect(bodies(await take())).toEqual(['fired']);
    await update({ ScheduleExpression: 'at(2027-01-15T10:00:00)' });
    pass(60 * minuteMs);
    expect(bodies(await take())).toEqual(['fired']);
  });

  test('in the hour that clocks skip fires as much later', async () => {
    const { create, pass, take } = await start();
    await create({
      ScheduleExpression: 'at(2027-03-28T02:30:00)',
      ScheduleExpressionTimezone: 'Europe/Berlin',
      Target: { ...target, Input: scheduledTime },
    });
    pass(100 * 24 * 60 * minuteMs);
    expect(bodies(await take())).toEqual(['2027-03-28T01:30:00Z']);
  });
});

describe('a recurring schedule', () => {
  test('with cron fires at each of its times, but not while it is disabled', async () => {
    const { create, update, pass, take } = await start();
    const cron = {
      ScheduleExpression: 'cron(0/10 10 ? * MON-FRI *)',
      ScheduleExpressionTimezone: 'Europe/Berlin',
      Target: { ...target, Input: scheduledTime },
    };
    await create(cron);
    pass(75 * minuteMs);
    expect(bodies(await take())).toEqual(['2027-01-15T09:00:00Z', '2027-01-15T09:10:00Z']);
    await update({ ...cron, State: 'DISABLED' });
    pass(20 * minuteMs);
    expect(await take()).toEqual([]);
    await update(cron);
    pass(3 * 24 * 60 * minuteMs - 35 * minuteMs);
    expect(bodies(await take())).toEqual([
      '2027-01-15T09:40:00Z',
      '2027-01-15T09:50:00Z',
      '2027-01-18T09:00:00Z',
    ]);
  });

  test('that is updated at the very time of a fire does not fire twice', async () => {
    const { create, update, pass, take } = await start();
    const cron = { ScheduleExpression: 'cron(* * * * ? *)' };
    await create(cron);
    pass(minuteMs);
    await update(cron);
    expect(await take()).toHaveLength(1);
  });

  test('with a rate fires at once and then regularly', async () => {
    const { create, pass, take } = await start();
    clock += 12_345;
    await create({ ScheduleExpression: 'rate(2 hours)', Target: { ...target, Input: scheduledTime } });
    pass(5 * 60 * minuteMs);
    expect(bodies(await take())).toEqual([
      '2027-01-15T08:00:12Z',
      '2027-01-15T10:00:12Z',
      '2027-01-15T12:00:12Z',
    ]);
  });

  test('stays within its dates, and is deleted after the last time when it says so', async () => {
    const { create, pass, take, get } = await start();
    await create({
      ScheduleExpression: 'rate(1 minute)',
      StartDate: new Date(clock + 10 * minuteMs),
      EndDate: new Date(clock + 12 * minuteMs),
      ActionAfterCompletion: 'DELETE',
      Target: { ...target, Input: scheduledTime },
    });
    pass(10 * minuteMs);
    await get();
    pass(60 * minuteMs);
    expect(bodies(await take())).toEqual(['2027-01-15T08:10:00Z', '2027-01-15T08:11:00Z']);
    await expect(get()).rejects.toBeInstanceOf(ResourceNotFoundException);
  });

  test('does not make up for what a sleeping machine has missed', async () => {
    const { create, scheduler, pass, take } = await start();
    await create({
      ScheduleExpression: 'cron(* * * * ? *)',
      Target: { ...target, Input: scheduledTime },
    });
    clock += 8 * 60 * minuteMs + 30_000;
    scheduler.wake();
    expect(await take()).toEqual([]);
    pass(30_000);
    expect(bodies(await take())).toEqual(['2027-01-15T16:01:00Z']);
  });

  test('may have a flexible window; here it fires at its start', async () => {
    const { create, pass, take } = await start();
    await create({
      ScheduleExpression: 'cron(5 * * * ? *)',
      FlexibleTimeWindow: { Mode: 'FLEXIBLE', MaximumWindowInMinutes: 15 },
    });
    pass(5 * minuteMs);
    expect(await take()).toHaveLength(1);
  });
});

describe('a message', () => {
  test('has the context attributes in its input replaced, and the message group', async () => {
    const { create, pass, take } = await start();
    const Input = `{"time":"<aws.scheduler.scheduled-time>","again":"<aws.scheduler.scheduled-time>","arn":"<aws.scheduler.schedule-arn>","attempt":<aws.scheduler.attempt-number>,"other":"<aws.scheduler.other>"}`;
    await create({ Target: { ...target, Input, SqsParameters: { MessageGroupId: 'local:host' } } });
    pass(16 * minuteMs);
    const [message] = await take();
    expect(JSON.parse(message?.Body ?? '')).toEqual({
      time: '2027-01-15T08:16:00Z',
      again: '2027-01-15T08:16:00Z',
      arn: 'arn:aws:scheduler:eu-central-1:000000000000:schedule/svc/one',
      attempt: 1,
      other: '<aws.scheduler.other>',
    });
    expect(message?.Attributes?.MessageGroupId).toBe('local:host');
  });

  test('has an execution id of its own for each fire', async () => {
    const { create, pass, take } = await start();
    const Input = '<aws.scheduler.execution-id>';
    await create({ ScheduleExpression: 'cron(* * * * ? *)', Target: { ...target, Input } });
    pass(2 * minuteMs);
    const [first, second] = bodies(await take());
    expect(first).toMatch(/^[0-9a-f]{16}$/);
    expect(second).toMatch(/^[0-9a-f]{16}$/);
    expect(first).not.toBe(second);
  });

  test("is Scheduler's own notification when there is no input", async () => {
    const { create, pass, take } = await start();
    await create({ Target: { ...target, Input: undefined } });
    pass(16 * minuteMs);
    const [message] = await take();
    expect(JSON.parse(message?.Body ?? '')).toMatchObject({
      'detail-type': 'Scheduled Event',
      source: 'aws.scheduler',
      time: '2027-01-15T08:16:00Z',
      resources: ['arn:aws:scheduler:eu-central-1:000000000000:schedule/svc/one'],
    });
  });

  test('that its queue refuses goes to the dead letter queue, or is reported', async () => {
    const { create, pass, take, failures } = await start();
    const Arn = queueArn(region, 'gone');
    const DeadLetterConfig = { Arn: queueArn(region, 'undelivered') };
    await create({ Target: { ...target, Arn, DeadLetterConfig }, ActionAfterCompletion: 'DELETE' });
    pass(16 * minuteMs);
    expect(bodies(await take('undelivered'))).toEqual(['fired']);
    expect(failures).toEqual([]);
    await create({ ScheduleExpression: 'at(2027-01-15T09:00:00)', Target: { ...target, Arn } });
    pass(60 * minuteMs);
    expect(failures).toMatchObject([{ message: expect.stringContaining('does not exist') as string }]);
  });
});

describe('a list', () => {
  test('of schedules is filtered, and comes page by page', async () => {
    const { client, create } = await start();
    const names = ['a-1', 'a-2', 'a-3', 'b-1', 'b-2'];
    for (const Name of names) await create({ Name, ...(Name === 'a-2' && { State: 'DISABLED' }) });
    await create({ Name: 'a-9', GroupName: 'default' });
    const list = async (input: ListSchedulesCommandInput) => {
      const { Schedules = [], NextToken } = await client.send(new ListSchedulesCommand(input));
      return { names: Schedules.map(({ Name }) => Name), NextToken };
    };
    expect(await list({})).toEqual({ names: ['a-9', ...names], NextToken: undefined });
    expect(await list({ GroupName: 'svc', NamePrefix: 'a-' })).toMatchObject({ names: names.slice(0, 3) });
    expect(await list({ State: 'DISABLED' })).toMatchObject({ names: ['a-2'] });
    const first = await list({ GroupName: 'svc', MaxResults: 2 });
    const second = await list({ GroupName: 'svc', MaxResults: 2, NextToken: first.NextToken });
    const third = await list({ GroupName: 'svc', MaxResults: 2, NextToken: second.NextToken });
    expect([first.names, second.names, third.names]).toEqual([['a-1', 'a-2'], ['a-3', 'b-1'], ['b-2']]);
    expect(third.NextToken).toBeUndefined();
    const [summary] = (await client.send(new ListSchedulesCommand({ MaxResults: 1 }))).Schedules ?? [];
    expect(summary).toEqual({
      Arn: 'arn:aws:scheduler:eu-central-1:000000000000:schedule/default/a-9',
      Name: 'a-9',
      GroupName: 'default',
      State: 'ENABLED',
      CreationDate: new Date(clock),
      LastModificationDate: new Date(clock),
      Target: { Arn: target.Arn },
    });
    await expect(list({ MaxResults: 101 })).rejects.toBeInstanceOf(ValidationException);
    await expect(list({ GroupName: 'none' })).rejects.toBeInstanceOf(ResourceNotFoundException);
  });

  test('of groups comes page by page', async () => {
    const { client } = await start();
    for (const Name of ['x-1', 'x-2']) await client.send(new CreateScheduleGroupCommand({ Name }));
    const first = await client.send(new ListScheduleGroupsCommand({ MaxResults: 3 }));
    expect(first.ScheduleGroups?.map(({ Name }) => Name)).toEqual(['default', 'svc', 'x-1']);
    const { NextToken } = first;
    const second = await client.send(new ListScheduleGroupsCommand({ NextToken }));
    expect(second.ScheduleGroups?.map(({ Name }) => Name)).toEqual(['x-2']);
    expect(second.NextToken).toBeUndefined();
    const prefixed = await client.send(new ListScheduleGroupsCommand({ NamePrefix: 'x' }));
    expect(prefixed.ScheduleGroups).toHaveLength(2);
  });
});

describe('a group', () => {
  test('is created, read, and deleted with its schedules', async () => {
    const { client, create, get, pass, take } = await start();
    const Name = 'svc';
    await expect(client.send(new CreateScheduleGroupCommand({ Name }))).rejects.toBeInstanceOf(
      ConflictException,
    );
    expect(await client.send(new GetScheduleGroupCommand({ Name }))).toMatchObject({
      Arn: 'arn:aws:scheduler:eu-central-1:000000000000:schedule-group/svc',
      State: 'ACTIVE',
      CreationDate: new Date(clock),
    });
    await create();
    await client.send(new DeleteScheduleGroupCommand({ Name }));
    await expect(client.send(new GetScheduleGroupCommand({ Name }))).rejects.toBeInstanceOf(
      ResourceNotFoundException,
    );
    pass(16 * minuteMs);
    expect(await take()).toEqual([]);
    await client.send(new CreateScheduleGroupCommand({ Name }));
    await expect(get()).rejects.toThrow('Schedule one does not exist.');
    await expect(client.send(new DeleteScheduleGroupCommand({ Name: 'default' }))).rejects.toBeInstanceOf(
      ValidationException,
    );
  });
});

describe('after the process was killed', () => {
  test('schedules are as they were, and a group that was deleted is not there', async () => {
    const before = await startAgain();
    await before.create({ Description: 'kept' });
    await before.create({ Name: 'two' });
    await before.update({ Name: 'two', State: 'DISABLED' });
    await before.create({ Name: 'gone' });
    await before.remove('gone');
    await before.client.send(new CreateScheduleGroupCommand({ Name: 'gone' }));
    await before.create({ GroupName: 'gone' });
    await before.client.send(new DeleteScheduleGroupCommand({ Name: 'gone' }));

    const after = await startAgain();
    const { Schedules } = await after.client.send(new ListSchedulesCommand());
    expect(Schedules?.map(({ Name, State }) => [Name, State])).toEqual([
      ['one', 'ENABLED'],
      ['two', 'DISABLED'],
    ]);
    expect(await after.get()).toMatchObject({ Description: 'kept', Target: target });
    after.pass(16 * minuteMs);
    expect(bodies(await after.take())).toEqual(['fired']);
  });

  test('a one-time schedule that was due meanwhile fires at once, with its time, and only once', async () => {
    const before = await startAgain();
    await before.create({ Target: { ...target, Input: scheduledTime } });
    clock += 24 * 60 * minuteMs;

    const after = await startAgain();
    expect(bodies(await after.take())).toEqual(['2027-01-15T08:16:00Z']);

    const last = await startAgain();
    last.pass(24 * 60 * minuteMs);
    expect(await last.take()).toEqual([]);
  });

  test('one that is disabled does not fire, due or not', async () => {
    const before = await startAgain();
    await before.create({ State: 'DISABLED' });
    clock += 24 * 60 * minuteMs;
    expect(await (await startAgain()).take()).toEqual([]);
  });

  test('recurring ones go on with their next time', async () => {
    const before = await startAgain();
    const Target = { ...target, Input: `<aws.scheduler.schedule-arn> ${scheduledTime}` };
    await before.create({ Name: 'cron', ScheduleExpression: 'cron(0 * * * ? *)', Target });
    await before.create({ Name: 'rate', ScheduleExpression: 'rate(7 minutes)', Target });
    expect(await before.take()).toHaveLength(1);
    clock += 185 * minuteMs;

    const after = await startAgain();
    expect(await after.take()).toEqual([]);
    after.pass(60 * minuteMs);
    const times = bodies(await after.take()).map((body) => body?.split('/').at(-1));
    expect(times.filter((text) => text?.startsWith('cron'))).toEqual(['cron 2027-01-15T12:00:00Z']);
    expect(times.filter((text) => text?.startsWith('rate'))[0]).toBe('rate 2027-01-15T11:09:00Z');
    expect(times).toHaveLength(10);
  });

  test('a fire whose record was lost is repeated', async () => {
    const before = await startAgain();
    await before.create({ ActionAfterCompletion: 'DELETE' });
    const file = join(folder, 'scheduler.journal');
    const recorded = readFileSync(file);
    before.pass(16 * minuteMs);
    expect(bodies(await before.take())).toEqual(['fired']);
    writeFileSync(file, recorded);

    expect(bodies(await (await startAgain()).take())).toEqual(['fired']);
  });
});

test('a fire that fails is tried again, holding up no other', () => {
  const attempts: [string, number][] = [];
  const failures: unknown[] = [];
  const schedules = new Schedules({
    journal: openSchedulerJournal(join(folder, 'scheduler.journal')),
    now: () => clock,
    invoke: ({ schedule, attempt }) => {
      attempts.push([schedule.name, attempt]);
      if (schedule.name === 'one' && attempt < 3) throw new Error('no space left on device');
    },
    report: (error) => void failures.push(error),
  });
  endings.push(() => {
    schedules.close();
  });
  const settings = (ScheduleExpression: string) =>
    scheduleSettings.parse({ ScheduleExpression, FlexibleTimeWindow: { Mode: 'OFF' }, Target: target });
  schedules.create({ group: 'default', name: 'one' }, settings('at(2027-01-15T08:16:00)'));
  schedules.create({ group: 'default', name: 'two' }, settings('at(2027-01-15T08:16:01)'));
  clock += 16 * minuteMs;
  for (let second = 0; second < 10; second += 1) {
    schedules.wake();
    clock += 1000;
  }
  const ones = attempts.filter(([name]) => name === 'one').map(([, attempt]) => attempt);
  expect(ones).toEqual([1, 2, 3]);
  expect(attempts).toContainEqual(['two', 1]);
  expect(attempts).toHaveLength(4);
  expect(failures).toHaveLength(2);
});

test('ten thousand schedules are cheap to make, to find and to fire', () => {
  const file = join(folder, 'scheduler.journal');
  const fired: string[] = [];
  const open = (): Schedules =>
    new Schedules({
      journal: openSchedulerJournal(file),
      now: () => clock,
      invoke: ({ schedule }) => void fired.push(schedule.name),
      report: (error) => {
        throw error;
      },
    });
  const started = performance.now();
  const before = open();
  const settings = scheduleSettings.parse({
    ScheduleExpression: 'at(2027-01-15T08:16:00)',
    FlexibleTimeWindow: { Mode: 'OFF' },
    ActionAfterCompletion: 'DELETE',
    Target: target,
  });
  const names = Array.from({ length: 10_000 }, (_, index) => `s-${index}`);
  for (const name of names) before.create({ group: 'default', name }, settings);
  let pages = 0;
  const everything = { group: undefined, state: undefined };
  for (let after: string | undefined = ''; after !== undefined; pages += 1) {
    after = before.list(everything, { namePrefix: '', after, max: 100 }).next;
  }
  expect(pages).toBe(100);
  before.close();

  const schedules = open();
  clock += 16 * minuteMs;
  schedules.wake();
  expect(new Set(fired)).toEqual(new Set(names));
  expect(fired).toHaveLength(10_000);
  expect(schedules.nextDue).toBeUndefined();
  schedules.close();
  expect(statSync(file).size).toBeLessThan(10_000_000);
  expect(performance.now() - started).toBeLessThan(10_000);
}, 20_000);
