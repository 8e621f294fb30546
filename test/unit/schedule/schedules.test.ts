import {
  GetScheduleCommand,
  ListSchedulesCommand,
  type CreateScheduleCommandInput,
} from '@aws-sdk/client-scheduler';
import { ScanCommand } from '@aws-sdk/client-dynamodb';
import { HeadObjectCommand, NotFound, S3Client } from '@aws-sdk/client-s3';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { randomBytes } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { imported } from '../../support/imported.ts';
import * as z from 'zod/mini';
import { parseNotice, type FireNotice } from '../../../lambdas/schedule/schedule.ts';
import { itAtEachDeath } from '../../support/faults.ts';
import { limitForHangsMs } from '../../support/limits.ts';
import { useFixture } from '../../support/useFixture.ts';
import { idOf, idsOf, requestOf, type Fixture } from '../../support/fixture.ts';

let fixture: Fixture;
useFixture(
  (opened) => {
    fixture = opened;
  },
  { overHttp: true },
);
const lambdas = imported(async () => {
  const { loadSchedule, deleteSchedule: dropRow } = await import('../../../lambdas/schedule/rows.ts');
  return {
    ...(await import('../../../lambdas/schedule/fire.ts')),
    ...(await import('../../../lambdas/schedule/schedules.ts')),
    ...(await import('../../../lambdas/schedule/run.ts')),
    ...(await import('../../../lambdas/schedule/shownSchedules.ts')),
    ...(await import('../../../lambdas/schedule/lastFires.ts')),
    ...(await import('../../../lambdas/publish/messages.ts')),
    ...(await import('../../../lambdas/urlGroup/defaults.ts')),
    ...(await import('../../../lambdas/publish/cancel.ts')),
    ...(await import('../../../lambdas/urlGroup/endpoints.ts')),
    loadSchedule,
    dropRow,
    scheduler: await (await import('../../../lambdas/aws/scheduler.ts')).scheduler(),
  };
});
beforeAll(() => {
  lambdas.scheduler.client.middlewareStack.add(
    (next, context) => (args) => fixture.mortal(context.commandName ?? '', () => next(args)),
    { step: 'initialize', name: 'mortal' },
  );
});

const groupName = (): string => fixture.settings.scheduleGroup;

async function inScheduler(prefix: string): Promise<readonly string[]> {
  const { Schedules = [] } = await lambdas.scheduler.client.send(
    new ListSchedulesCommand({ GroupName: groupName(), NamePrefix: prefix }),
  );
  return Schedules.map(({ Name = '' }) => Name);
}

const create = (scheduleId: string, destination: string, cron = '* * * * *', body = 'tick') =>
  lambdas.createSchedule(fixture.account, requestOf(destination, { cron, 'schedule-id': scheduleId }, body));

async function saveIdOf(scheduleId: string): Promise<string> {
  const schedule = await lambdas.loadSchedule('acct', scheduleId);
  if (schedule === undefined) throw new Error('There is no schedule.');
  return schedule.saveId;
}

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

const noticeOf = (scheduleId: string, saveId: string, time = minute): FireNotice => ({
  accountId: 'acct',
  scheduleId,
  saveId,
  time: new Date(time).toISOString(),
});

async function whenScheduled(
  happens: (input: CreateScheduleCommandInput) => Promise<unknown>,
  during: () => Promise<unknown>,
): Promise<void> {
  const { middlewareStack } = lambdas.scheduler.client;
  let left = 1;
  middlewareStack.add(
    (next) => async (args) => {
      const result = await next(args);
      if ('ScheduleExpression' in args.input && (left -= 1) === 0) await happens(args.input);
      return result;
    },
    { step: 'initialize', name: 'whenScheduled' },
  );
  try {
    await during();
  } finally {
    middlewareStack.remove('whenScheduled');
  }
}

describe('a message that is due later than a message timer allows', () => {
  it.each([
    ['16m', 16 * 60_000],
    ['40d', 40 * 86_400_000],
  ])('in %s is one schedule, two minutes early, to its queue', async (delay, delayMs) => {
    const before = Date.now();
    const messageId = await fixture.send('https://example.com/', { delay, timeout: '20s' });
    expect(fixture.callsOf('CreateScheduleCommand')).toBe(1);
    expect(fixture.callsOf('SendMessageCommand')).toBe(0);

    const stored = await fixture.loadMessage({ accountId: 'acct', messageId });
    const { notBefore = 0 } = stored?.message ?? {};
    expect(notBefore - before - delayMs).toBeLessThan(limitForHangsMs);

    const schedule = await lambdas.scheduler.client.send(
      new GetScheduleCommand({ GroupName: groupName(), Name: `${messageId}-0` }),
    );
    const at = new Date(Math.floor((notBefore - 120_000) / 1000) * 1000).toISOString().slice(0, 19);
    expect(schedule).toMatchObject({
      ScheduleExpression: `at(${at})`,
      ActionAfterCompletion: 'DELETE',
      FlexibleTimeWindow: { Mode: 'OFF' },
      Target: {
        Arn: fixture.settings.shortQueueArn,
        DeadLetterConfig: { Arn: fixture.settings.deadQueueArn },
      },
    });
    expect(JSON.parse(schedule.Target?.Input ?? '')).toMatchObject({ messageId, attempt: 0, queue: 'short' });

    await lambdas.cancelMessage(fixture.account, messageId);
    expect(await inScheduler(messageId)).toEqual([]);
  });
});

describe('a fire', () => {
  it('that is delivered three times at once makes one message for each endpoint', async () => {
    const inbox = fixture.receiver.inbox();
    await create('five', inbox.url);
    const notice = noticeOf('five', await saveIdOf('five'));
    const outcomes = await Promise.allSettled(
      Array.from({ length: 3 }, () => lambdas.fire(notice, { sentAt: Date.now() })),
    );
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    // A failed fire is repeated, and finds its message.
    await lambdas.fire(notice, { sentAt: Date.now() });
    await fixture.doJobs();
    expect(inbox.deliveries).toHaveLength(1);
    await lambdas.deleteSchedule(fixture.account, 'five');
  });

  it('of an overwritten save publishes nothing, and deletes its schedule in Scheduler', async () => {
    const inbox = fixture.receiver.inbox();
    await create('stale', inbox.url);
    const old = await saveIdOf('stale');
    await create('stale', inbox.url);
    expect(await inScheduler(old)).toEqual([]);
    await lambdas.fire(noticeOf('stale', old), { sentAt: Date.now() });
    await fixture.doJobs();
    expect(inbox.deliveries).toHaveLength(0);
    await lambdas.deleteSchedule(fixture.account, 'stale');
  });

  it('of a save whose row may still be written keeps its entry in Scheduler, and deletes it if no row follows', async () => {
    const inbox = fixture.receiver.inbox();
    await create('young', inbox.url);
    const saveId = await saveIdOf('young');
    await lambdas.dropRow('acct', 'young');
    await expect(lambdas.fire(noticeOf('young', saveId), { sentAt: Date.now() })).rejects.toThrow(
      'may still come',
    );
    expect(await inScheduler(saveId)).toHaveLength(1);
    await later(() => lambdas.fire(noticeOf('young', saveId), { sentAt: Date.now() }));
    expect(await inScheduler(saveId)).toEqual([]);
  });

  it.each(['', ' again'])(
    'that arrives while its schedule is saved%s publishes afterwards',
    async (again) => {
      const inbox = fixture.receiver.inbox();
      const id = `while-saved${again.trim()}`;
      if (again !== '') await create(id, inbox.url, '* * * * *', 'old');
      const notices: FireNotice[] = [];
      const comeAsItIsSaved = async ({ Target }: CreateScheduleCommandInput): Promise<void> => {
        const { saveId } = parseNotice(Target?.Input ?? '');
        notices.push(noticeOf(id, saveId));
        await expect(lambdas.fire(noticeOf(id, saveId), { sentAt: Date.now() })).rejects.toThrow(
          'may still come',
        );
      };
      await whenScheduled(comeAsItIsSaved, () => create(id, inbox.url, '* * * * *', 'new'));
      for (const notice of notices) await lambdas.fire(notice, { sentAt: Date.now() });
      await fixture.doJobs();
      expect(inbox.deliveries.map(({ body }) => body.toString())).toEqual(['new']);
      await lambdas.deleteSchedule(fixture.account, id);
    },
  );

  it('is listed with its messages, newest first, even if it made none', async () => {
    const inbox = fixture.receiver.inbox();
    await create('listed', inbox.url);
    const saveId = await saveIdOf('listed');
    const minuteMs = 60_000;
    const fireAt = (time: number) => lambdas.fire(noticeOf('listed', saveId, time), { sentAt: Date.now() });
    expect(await lambdas.getFires(fixture.account, 'listed')).toEqual({ fires: [] });
    for (let fired = 0; fired < 11; fired += 1) await fireAt(minute + fired * minuteMs);
    await fixture.doJobs();
    // The fire was given up, and is not marked as handled.
    const missed = minute + 20 * minuteMs;
    await lambdas.giveUpFire(noticeOf('listed', saveId, missed), 'deaths', { sentAt: Date.now() });
    const { fires } = await lambdas.getFires(fixture.account, 'listed');
    expect(fires.map(({ time }) => time)).toEqual([
      missed,
      ...Array.from({ length: 9 }, (_, index) => minute + (10 - index) * minuteMs),
    ]);
    expect(fires[0]?.messages).toBe(0);
    expect(fires[0]?.error).toContain('died');
    expect(fires[1]).toMatchObject({ messages: 1 });
    expect(Object.values(fires[1]?.states ?? {})).toEqual(['SUCCESS']);
    await lambdas.deleteSchedule(fixture.account, 'listed');
    await expect(lambdas.getFires(fixture.account, 'listed')).rejects.toThrow('There is no schedule');
  });

  itAtEachDeath('whose worker dies at any of its AWS calls makes its message once', async (fate) => {
    const inbox = fixture.receiver.inbox();
    const id = fate.name;
    await create(id, inbox.url);
    const notice = noticeOf(id, await saveIdOf(id));
    await fixture.underFate(fate, () => lambdas.fire(notice, { sentAt: Date.now() }));
    // A claim counts as dead after a minute. The fire is redelivered later than that.
    await later(async () => {
      await lambdas.fire(notice, { sentAt: Date.now() });
      await fixture.doJobs();
    });
    expect(idsOf(inbox.deliveries).size).toBe(1);
    expect(inbox.deliveries).toHaveLength(1);
    await lambdas.deleteSchedule(fixture.account, id);
  });
});

describe('running a schedule by hand', () => {
  const run = (id: string) => lambdas.runSchedule(fixture.account, id, 'api.example.com');

  it('takes one read, one write and one send, and leaves the fires as they are', async () => {
    await create('by-hand', 'https://example.com/');
    const before = await lambdas.loadSchedule('acct', 'by-hand');
    await fixture.readUsage(fixture.account);
    fixture.reset();
    await run('by-hand');
    // Reads the schedule, writes the message’s row, and sends its first attempt.
    expect(fixture.operations()).toEqual({
      GetItemCommand: 1,
      BatchWriteItemCommand: 1,
      SendMessageBatchCommand: 1,
    });
    expect(await lambdas.loadSchedule('acct', 'by-hand')).toEqual(before);
    await fixture.drain();
    await lambdas.deleteSchedule(fixture.account, 'by-hand');
  });

  it.each(['BatchWriteItemCommand', 'SendMessageBatchCommand'])(
    'that cannot be stored because %s fails publishes to no endpoint of the group',
    async (operation) => {
      const inbox = fixture.receiver.inbox();
      const name = `run-${operation}`;
      const endpoints = [1, 2, 3].map((number) => ({ url: `${inbox.url}/${number}` }));
      const body = Buffer.from(JSON.stringify({ endpoints }));
      await lambdas.addEndpoints(fixture.account, { name, body, prefix: 'Svc', host: 'api.example.com' });
      await create(name, name);
      fixture.refuse(operation);
      await expect(run(name)).rejects.toMatchObject({ status: 503 });
      fixture.reset();
      await fixture.doJobs();
      expect(inbox.deliveries).toHaveLength(0);
      await run(name);
      await fixture.doJobs();
      expect(inbox.deliveries).toHaveLength(3);
      await lambdas.deleteSchedule(fixture.account, name);
    },
  );
});

describe('overwriting a schedule', () => {
  it('keeps it paused if it was paused at the same moment', async () => {
    await create('paused', 'https://example.com/');
    await whenScheduled(
      () => lambdas.pauseSchedule(fixture.account, 'paused', true),
      () => create('paused', 'https://example.com/', '0 2 * * *'),
    );
    const { cron, isPaused } = await lambdas.getSchedule(fixture.account, 'paused');
    expect({ cron, isPaused }).toEqual({ cron: '0 2 * * *', isPaused: true });
    await lambdas.deleteSchedule(fixture.account, 'paused');
  });

  it('by many at once leaves exactly one complete save', async () => {
    const inbox = fixture.receiver.inbox();
    const outcomes = await Promise.allSettled(
      Array.from({ length: 4 }, (_, index) => create('many', inbox.url, `${index} 3 * * *`, String(index))),
    );
    expect(outcomes.some(({ status }) => status === 'fulfilled')).toBe(true);
    const saveId = await saveIdOf('many');
    const shown = await lambdas.getSchedule(fixture.account, 'many');
    expect(shown.cron).toBe(`${'body' in shown ? String(shown.body) : ''} 3 * * *`);
    expect(await inScheduler(saveId)).toHaveLength(1);
    await lambdas.deleteSchedule(fixture.account, 'many');
    expect(await inScheduler(saveId)).toEqual([]);
  });
});

describe('a schedule that is replaced while it is read', () => {
  /** Replaces a schedule once, after its row has been read and before its body has. */
  async function replacedWhenRead<T>(body: string, read: () => Promise<T>): Promise<T> {
    const { middlewareStack } = fixture.dynamodb;
    let left = 1;
    middlewareStack.add(
      (next) => async (args) => {
        const result = await next(args);
        const { TableName } = z.object({ TableName: z.optional(z.string()) }).parse(args.input);
        if (TableName === fixture.settings.schedulesTable && left > 0) {
          left -= 1;
          await create('replaced', 'https://example.com', '0 2 * * *', body);
        }
        return result;
      },
      { step: 'initialize', name: 'replacedWhenRead' },
    );
    try {
      return await read();
    } finally {
      middlewareStack.remove('replacedWhenRead');
    }
  }

  it('is shown and run in its new state', async () => {
    const [first, second, third] = ['a', 'b', 'c'].map((letter) => letter.repeat(400_000)) as [
      string,
      string,
      string,
    ];
    await create('replaced', 'https://example.com', '0 1 * * *', first);
    const shown = await replacedWhenRead(second, () => lambdas.getSchedule(fixture.account, 'replaced'));
    expect(shown).toMatchObject({ cron: '0 2 * * *', body: second });
    const published = await replacedWhenRead(third, () =>
      lambdas.runSchedule(fixture.account, 'replaced', 'localhost'),
    );
    expect(await lambdas.getMessage(fixture.account, idOf(published))).toMatchObject({ body: third });
    await lambdas.deleteSchedule(fixture.account, 'replaced');
  });
});

/** Returns all saves whose body has a row, and those of the given saves whose body has an object. */
async function savesWithBodies(saves: readonly string[]): Promise<readonly string[]> {
  const rows = await fixture.dynamodb.send(
    new ScanCommand({
      TableName: fixture.settings.messagesTable,
      FilterExpression: 'begins_with(id, :prefix)',
      ExpressionAttributeValues: { ':prefix': { S: 'scd_' } },
      ConsistentRead: true,
    }),
  );
  const s3 = new S3Client({ forcePathStyle: true });
  const objects = await Promise.all(
    saves.map(async (saveId) => {
      const object = { Bucket: fixture.settings.bodiesBucket, Key: `kept/acct/${saveId}` };
      const isThere = await s3.send(new HeadObjectCommand(object)).then(
        () => true,
        (error: unknown) => {
          if (error instanceof NotFound) return false;
          throw error;
        },
      );
      return isThere ? [saveId] : [];
    }),
  );
  s3.destroy();
  return [...(rows.Items ?? []).map((item) => String(unmarshall(item)['id'])), ...objects.flat()];
}

/** Returns random bytes as text, which cannot be compressed. */
const large = (bytes: number): string => randomBytes(bytes).toString('base64');

describe('the rest of a schedule whose process dies', () => {
  /** Bytes of a body that is in a separate row, and of one that is in an object. */
  const [inRow, inObject] = [2_000, 20_000];

  /** Fires everything in Scheduler except the schedule’s own save, and expects that only this save is left. */
  async function expectNothingLost(id: string, known: readonly string[]): Promise<void> {
    const own = (await lambdas.loadSchedule('acct', id))?.saveId;
    const saves = new Set([...known, ...(await inScheduler('scd_')).map((name) => name.replace(/-\d$/, ''))]);
    await later(async () => {
      for (const saveId of saves) {
        if (saveId !== own && (await inScheduler(saveId)).length > 0) {
          await lambdas.fire(noticeOf(id, saveId), { sentAt: Date.now() });
        }
      }
    });
    const left = own === undefined ? [] : [own];
    expect(await savesWithBodies([...saves])).toEqual(left);
    expect((await inScheduler('scd_')).map((name) => name.replace(/-\d$/, ''))).toEqual(left);
  }

  itAtEachDeath('at any call of its overwriting ends with its next fire', async (fate) => {
    const id = fate.name;
    const inbox = fixture.receiver.inbox();
    const [old, young] = [large(inObject), large(inRow)];
    await create(id, `${inbox.url}/old`, '0 1 * * *', old);
    const before = await saveIdOf(id);
    await fixture.underFate(fate, () => create(id, `${inbox.url}/new`, '0 2 * * *', young));
    const saveId = await saveIdOf(id);
    const isNew = saveId !== before;
    const { destination, cron, body } = await lambdas.getSchedule(fixture.account, id);
    expect([destination, cron, body]).toEqual(
      isNew ? [`${inbox.url}/new`, '0 2 * * *', young] : [`${inbox.url}/old`, '0 1 * * *', old],
    );
    // Scheduler has the current save, and only that save publishes if both fire.
    expect(await inScheduler(saveId)).toEqual([`${saveId}-0`]);
    await lambdas.fire(noticeOf(id, saveId), { sentAt: Date.now() });
    if (isNew) await lambdas.fire(noticeOf(id, before, minute + 60_000), { sentAt: Date.now() });
    await fixture.doJobs();
    expect(inbox.deliveries.map((delivery) => delivery.body.toString())).toEqual([isNew ? young : old]);
    await expectNothingLost(id, [before]);
    await lambdas.deleteSchedule(fixture.account, id);
    await expectNothingLost(id, [before]);
  });

  itAtEachDeath('at any call of its first save ends with its next fire', async (fate) => {
    const id = fate.name;
    await fixture.underFate(fate, () => create(id, 'https://example.com/', '0 1 * * *', large(inObject)));
    await expectNothingLost(id, []);
    if ((await lambdas.loadSchedule('acct', id)) !== undefined) {
      await lambdas.deleteSchedule(fixture.account, id);
    }
    await expectNothingLost(id, []);
  });

  itAtEachDeath('at any call of its deletion ends with its next fire', async (fate) => {
    const id = fate.name;
    await create(id, 'https://example.com/', '0 1 * * *', large(inRow));
    const saveId = await saveIdOf(id);
    await fixture.underFate(fate, () => lambdas.deleteSchedule(fixture.account, id));
    if ((await lambdas.loadSchedule('acct', id)) !== undefined) {
      await lambdas.deleteSchedule(fixture.account, id);
    }
    await expectNothingLost(id, [saveId]);
  });

  itAtEachDeath('at any call of the ending of a leftover ends with the fire after that', async (fate) => {
    const id = fate.name;
    await create(id, 'https://example.com/', '0 1 * * *', large(inObject));
    const saveId = await saveIdOf(id);
    await lambdas.dropRow('acct', id);
    await later(() =>
      fixture.underFate(fate, () => lambdas.fire(noticeOf(id, saveId), { sentAt: Date.now() })),
    );
    await expectNothingLost(id, [saveId]);
  });
});

describe('a schedule to a URL group', () => {
  const group = (name: string, body: object) => ({
    name,
    body: Buffer.from(JSON.stringify(body)),
    prefix: 'Svc',
    host: 'api.example.com',
  });
  const ownToken = Buffer.from(JSON.stringify({ UserID: 'acct', Password: 'secret' })).toString('base64');

  it.each<[string, 'before' | 'after' | 'never', string | undefined, string | undefined]>([
    ['says so by the time of the fire', 'after', undefined, 'push'],
    ['says so, but not the schedule itself,', 'before', 'false', undefined],
    ['does not say so, but the schedule itself,', 'never', 'true', 'push'],
  ])(
    'whose default %s passes on its request’s headers accordingly, and keeps no token',
    async (_, when, own, expected) => {
      const inbox = fixture.receiver.inbox();
      const name = `forward-${when}-${own ?? 'unsaid'}`;
      await lambdas.addEndpoints(fixture.account, group(name, { endpoints: [{ url: inbox.url }] }));
      const setDefault = () =>
        lambdas.setDefaults(fixture.account, group(name, { headers: { 'Svc-Header-Forward': 'true' } }));
      if (when === 'before') await setDefault();
      await lambdas.createSchedule(fixture.account, {
        ...requestOf(name, {
          cron: '* * * * *',
          'schedule-id': name,
          ...(own !== undefined && { 'header-forward': own }),
        }),
        otherHeaders: [
          ['content-type', 'text/plain'],
          ['x-github-event', 'push'],
          ['authorization', `Bearer ${ownToken}`],
          ['x-forwarded-for', '192.0.2.1'],
        ],
      });
      if (when === 'after') await setDefault();
      const kept = await lambdas.loadSchedule('acct', name);
      expect(JSON.stringify(kept?.otherHeaders)).not.toMatch(/authorization|x-forwarded-for/);
      await lambdas.fire(noticeOf(name, await saveIdOf(name)), { sentAt: Date.now() });
      await fixture.doJobs();
      const [delivery] = inbox.deliveries;
      expect(delivery?.headers).toMatchObject({ 'content-type': 'text/plain' });
      expect(delivery?.headers['x-github-event']).toBe(expected);
      expect(delivery?.headers).not.toHaveProperty('authorization');
      expect(delivery?.headers).not.toHaveProperty('x-forwarded-for');
      await lambdas.deleteSchedule(fixture.account, name);
    },
  );
});

describe('a save whose answer is lost', () => {
  it('is recognized as made when the SDK tries again', async () => {
    fixture.loseAnswer('PutItemCommand', 1);
    await create('answerless', 'https://example.com/');
    expect(fixture.callsOf('CreateScheduleCommand')).toBe(1);
    expect(await inScheduler(await saveIdOf('answerless'))).toHaveLength(1);
    await lambdas.deleteSchedule(fixture.account, 'answerless');
  });
});
