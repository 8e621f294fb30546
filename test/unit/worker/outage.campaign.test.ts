import { DeleteItemCommand, ScanCommand } from '@aws-sdk/client-dynamodb';
import { PurgeQueueCommand, ReceiveMessageCommand } from '@aws-sdk/client-sqs';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { randomBytes } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { mostFaults } from '../../../lambdas/job/redelivery.ts';
import { formatJob } from '../../../lambdas/job/job.ts';
import { maxReceives, mostDeaths, visibilitySecondsOf } from '../../../lambdas/aws/resources.ts';
import { itAtEachDeath, type Fate } from '../../support/faults.ts';
import { callbackOf } from '../../support/callbacks.ts';
import { startFleet, type Fleet } from '../../support/fleet.ts';
import { idsOf, openFixture, requestOf, type Fixture } from '../../support/fixture.ts';
import { sizeOf } from '../../support/sample.ts';

// Clients wait as long as on AWS: a silent stand-in counts as away instead of slow.
process.env['CLIENT_PATIENCE'] = '1';

/** Messages wait while AWS is away for hours or days, and only one that kills its worker fails. */

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
/** Returns how long SQS hides a message whose worker could not extend that time. */
const hiddenMs = (queue: 'short' | 'dead' | 'fire'): number => visibilitySecondsOf(queue) * 1_000;
const outageMs = sizeOf({ ordinary: 2 * hourMs, thorough: dayMs });

let fixture: Fixture;
beforeAll(async () => {
  fixture = await openFixture();
});
afterAll(() => fixture.close());

let fleet: Fleet;
beforeEach(async () => {
  fleet = await startFleet(fixture.standIns);
});
afterEach(() => fleet.close());

/** Runs a test with a death at each AWS call of workers, which are new processes each time. */
function diesAtEachCall(title: string, way: (fate: Fate) => Promise<void>): void {
  itAtEachDeath(
    title,
    async (fate) => {
      await fleet.close();
      fleet = await startFleet(fixture.standIns);
      await way(fate);
    },
    { every: { ordinary: 11, thorough: 1 } },
  );
}

async function deadLetters(): Promise<readonly Record<string, unknown>[]> {
  const { Items = [] } = await fixture.dynamodb.send(
    new ScanCommand({ TableName: fixture.settings.dlqTable, ConsistentRead: true }),
  );
  return Items.map((item) => unmarshall(item));
}
const deadLettersOf = async (messageId: string) =>
  (await deadLetters()).filter((letter) => letter['messageId'] === messageId);

describe('a message', () => {
  it.each([
    // Longer than the 14 days for which SQS keeps a message.
    { service: 'dynamodb', days: sizeOf({ ordinary: 0.5, thorough: 15 }), deliveries: 1 },
    { service: 'PutItemCommand', days: sizeOf({ ordinary: 0.5, thorough: 3 }), deliveries: undefined },
  ])(
    'waits for $service for $days days, is retried less and less often, and is delivered afterwards',
    async ({ service, days, deliveries }) => {
      fleet.takeAway(service);
      const inbox = fixture.receiver.inbox();
      const messageId = await fixture.send(inbox.url, { timeout: '20s' });
      const watchedMs = Math.min(3, days) * dayMs;
      await fleet.advance(watchedMs);
      const invocations = fleet.invocationsOf('short') + fleet.invocationsOf('dead');
      // After its first seven retries, the message is retried after 15 to 30 minutes.
      expect(invocations).toBeGreaterThan(watchedMs / (43 * minuteMs));
      expect(invocations).toBeLessThan(watchedMs / (7.5 * minuteMs) + 10);
      await fleet.advance(days * dayMs - watchedMs);
      fleet.bringBack();
      await fleet.advance(15 * minuteMs);
      const delivered = inbox.deliveries.length;
      expect(delivered).toBeGreaterThan(0);
      if (deliveries !== undefined) expect(delivered).toBe(deliveries);
      expect(await deadLettersOf(messageId)).toEqual([]);
      await fleet.advance(hourMs);
      expect(inbox.deliveries).toHaveLength(delivered);
    },
  );

  it('waits for the master secret', async () => {
    const secrets = fixture.standIns.secretValues;
    const secret = secrets.get('master-secret') ?? '';
    const inbox = fixture.receiver.inbox();
    secrets.delete('master-secret');
    const messageId = await fixture.send(inbox.url, { timeout: '20s' });
    await fleet.advance(outageMs);
    expect(inbox.deliveries).toHaveLength(0);
    secrets.set('master-secret', secret);
    await fleet.advance(15 * minuteMs);
    expect(inbox.deliveries).toHaveLength(1);
    expect(await deadLettersOf(messageId)).toEqual([]);
  });

  it('waits if no job can be sent either, and SQS redelivers it', async () => {
    fleet.takeAway('dynamodb', 'sqs');
    const inbox = fixture.receiver.inbox();
    const messageId = await fixture.send(inbox.url, { timeout: '20s' });
    await fleet.advance(maxReceives * hiddenMs('short') + (mostDeaths + 1) * hiddenMs('dead'));
    expect(fleet.invocationsOf('short')).toBeLessThanOrEqual(maxReceives);
    expect(fleet.invocationsOf('dead')).toBeGreaterThan(mostDeaths);
    fleet.bringBack();
    await fleet.advance(hiddenMs('dead') + 10_000);
    expect(inbox.deliveries).toHaveLength(1);
    expect(await deadLettersOf(messageId)).toEqual([]);
  });

  it('does not fail because Lambda has no capacity for it, however often it was received', async () => {
    fleet.throttle(true);
    const inbox = fixture.receiver.inbox();
    const messageId = await fixture.send(inbox.url, { timeout: '20s' });
    await fleet.advance(4 * hourMs);
    expect(inbox.deliveries).toHaveLength(0);
    fleet.throttle(false);
    await fleet.advance(hiddenMs('dead'));
    expect(inbox.deliveries).toHaveLength(1);
    expect(await deadLettersOf(messageId)).toEqual([]);
  });
});

describe('a message for which Lambda has no capacity for an hour', () => {
  it('does not count as one that kills its workers', async () => {
    fleet.throttle(true);
    const inbox = fixture.receiver.inbox();
    await fixture.send(inbox.url, { timeout: '5m' });
    await fleet.advance(hourMs);
    expect(fixture.standIns.sqs.queues.unsettled('dead')).toEqual([]);
    fleet.throttle(false);
    await fleet.advance(visibilitySecondsOf('long') * 1_000);
    expect(fleet.invocationsOf('dead')).toBe(0);
    expect(inbox.deliveries).toHaveLength(1);
  });
});

describe('a message that kills its worker', () => {
  it('is parked if giving it up kills workers, too, and is delivered once a release can handle it', async () => {
    const inbox = fixture.receiver.inbox();
    fleet.hold(true);
    const messageId = await fixture.send(inbox.url, { timeout: '20s', retries: '0' });
    await fleet.advance(0);
    await fixture.sqs.send(new PurgeQueueCommand({ QueueUrl: fixture.settings.shortQueueUrl }));
    fleet.hold(false);
    const job = { accountId: fixture.account.id, messageId, attempt: 0, queue: 'short' as const };
    fleet.killAt('QueryCommand');
    await fixture.standIns.sqs.send('dead', formatJob({ kind: 'attempt', ...job }));
    await fleet.advance(dayMs);
    expect(fleet.invocationsOf('dead')).toBe(2 * mostDeaths + 1);
    expect(fixture.standIns.sqs.queues.unsettled('parked')).toHaveLength(1);
    expect(await deadLettersOf(messageId)).toEqual([]);
    fleet.killAt(undefined);
    const { redriveParked } = await import('../../../lambdas/recovery/redrive.ts');
    const until = Date.now() + hourMs;
    expect(await redriveParked({ isWanted: () => false, until })).toEqual({ sent: 0, left: 1, since: 0 });
    expect(await redriveParked({ isWanted: ({ why }) => why === 'deaths', until })).toEqual({
      sent: 1,
      left: 0,
      since: 0,
    });
    await fleet.advance(hourMs);
    expect(fixture.standIns.sqs.queues.unsettled('parked')).toEqual([]);
    expect(inbox.deliveries).toHaveLength(1);
  });

  it('fails after some deaths with its reason, without the others of its batch', async () => {
    const mates = fixture.receiver.inbox();
    const killer = fixture.receiver.inbox(({ headers }) => {
      fleet.killWorkerOf(headers['svc-message-id'] ?? '');
    });
    fleet.hold(true);
    const ids = await Promise.all(
      Array.from({ length: 9 }, () => fixture.send(mates.url, { timeout: '20s', retries: '0' })),
    );
    const killerId = await fixture.send(killer.url, { timeout: '20s', retries: '3' });
    fleet.hold(false);
    await fleet.advance(2 * hourMs);

    expect(killer.deliveries.length).toBeGreaterThan(mostDeaths);
    expect(killer.deliveries.length).toBeLessThanOrEqual(maxReceives + mostDeaths + 1);
    expect(await deadLettersOf(killerId)).toMatchObject([
      { error: expect.stringMatching(/^The delivery worker died each time/) as unknown, responseStatus: 0 },
    ]);
    const delivered = new Set(mates.deliveries.map(({ headers }) => headers['svc-message-id']));
    expect([...delivered].sort()).toEqual([...ids].sort());
    for (const id of ids) expect(await deadLettersOf(id)).toEqual([]);
  });

  it('is distinguished from one whose worker met errors, even if the worker could not record that', async () => {
    const inbox = fixture.receiver.inbox();
    fleet.throttle(true);
    const messageId = await fixture.send(inbox.url, { timeout: '20s', retries: '0' });
    // The message is received repeatedly, until it is to be handled alone.
    await fleet.advance(maxReceives * hiddenMs('short') + 1_000);
    // The start can be recorded, but the attempt cannot, nor can the job be sent again.
    fleet.takeAway('PutItemCommand', 'sqs');
    fleet.throttle(false);
    await fleet.advance((mostDeaths + 1) * hiddenMs('dead'));
    fleet.bringBack();
    // The job can be sent again, and has to record itself that its starts have ended.
    fleet.takeAway('PutItemCommand');
    await fleet.advance(2 * hourMs);
    expect(fleet.invocationsOf('dead')).toBeGreaterThan(2 * mostDeaths);
    fleet.bringBack();
    await fleet.advance(16 * minuteMs);
    expect(await deadLettersOf(messageId)).toEqual([]);
    expect(inbox.deliveries.length).toBeGreaterThan(0);
    expect(await fixture.loadMessage({ accountId: fixture.account.id, messageId })).toMatchObject({
      attempts: [{ state: 'DELIVERED' }],
    });
  });
});

describe('a worker that handles a message alone', () => {
  async function alone() {
    fleet.hold(true, ['short']);
    const inbox = fixture.receiver.inbox();
    const messageId = await fixture.send(inbox.url, { timeout: '20s', retries: '0' });
    return {
      inbox,
      messageId,
      job: { kind: 'attempt', accountId: 'acct', messageId, attempt: 0, queue: 'short' } as const,
    };
  }

  diesAtEachCall('and dies at any of its AWS calls fails nothing, and loses nothing', async (fate) => {
    const { inbox, messageId, job } = await alone();
    fleet.setFate(fate);
    await fixture.standIns.sqs.send('dead', formatJob(job));
    await fleet.advance(hiddenMs('dead') + 20 * minuteMs);
    expect(inbox.deliveries.length).toBeGreaterThan(0);
    expect(inbox.deliveries.length).toBeLessThanOrEqual(2);
    expect(await deadLettersOf(messageId)).toEqual([]);
    expect(await fixture.loadMessage(job)).toMatchObject({ attempts: [{ state: 'DELIVERED' }] });
  });

  diesAtEachCall(
    'and dies at any of its AWS calls while it puts the message off loses nothing',
    async (fate) => {
      const { inbox, messageId, job } = await alone();
      // The start cannot be recorded. The second call sends the message again.
      fleet.takeAway('dynamodb');
      fleet.setFate(fate);
      await fixture.standIns.sqs.send('dead', formatJob(job));
      await fleet.advance(minuteMs);
      fleet.setFate(undefined);
      await fleet.advance(hiddenMs('dead') + 19 * minuteMs);
      fleet.bringBack();
      await fleet.advance(20 * minuteMs);
      expect(inbox.deliveries.length).toBeGreaterThan(0);
      expect(await deadLettersOf(messageId)).toEqual([]);
    },
  );
});

describe('a message on which the service itself fails', () => {
  const givenUp = { error: expect.stringMatching(/^The service itself failed 10 times/) as unknown };

  const recordsAnswer = (call: string, input: unknown): boolean =>
    call === 'PutItemCommand' && JSON.stringify(input).includes('"status":{"N":"500"}');

  it('because its answer cannot be recorded fails visibly within about an hour instead of being sent for days', async () => {
    const inbox = fixture.receiver.inbox((_delivery, response) => response.writeHead(500).end('no'));
    const failures = fixture.receiver.inbox();
    fleet.refuse(recordsAnswer);
    const messageId = await fixture.send(inbox.url, {
      timeout: '20s',
      retries: '3',
      'failure-callback': failures.url,
    });
    await fleet.advance(1.25 * hourMs);
    expect(inbox.deliveries).toHaveLength(mostFaults);
    expect(await deadLettersOf(messageId)).toMatchObject([{ ...givenUp, responseStatus: 0 }]);
    expect(failures.deliveries).toHaveLength(1);
    await fleet.advance(dayMs);
    expect(inbox.deliveries).toHaveLength(mostFaults);
    expect(await deadLettersOf(messageId)).toHaveLength(1);
  });

  it('because its body is gone fails, and its failure callback has no body', async () => {
    const inbox = fixture.receiver.inbox();
    const failures = fixture.receiver.inbox();
    fleet.hold(true);
    const config = { timeout: '20s', 'failure-callback': failures.url };
    const { body } = await fixture.publish(inbox.url, config, randomBytes(2_000).toString('hex'));
    const messageId = 'messageId' in body ? body.messageId : '';
    const key = { shard: { S: `body#${messageId}` }, id: { S: messageId } };
    const { Attributes } = await fixture.dynamodb.send(
      new DeleteItemCommand({
        TableName: fixture.settings.messagesTable,
        Key: key,
        ReturnValues: 'ALL_OLD',
      }),
    );
    expect(Attributes).toBeDefined();
    fleet.hold(false);
    await fleet.advance(2 * hourMs);
    expect(inbox.deliveries).toHaveLength(0);
    expect(await deadLettersOf(messageId)).toMatchObject([givenUp]);
    expect(failures.deliveries).toHaveLength(1);
    expect(failures.deliveries[0] && callbackOf(failures.deliveries[0])).toMatchObject({
      sourceMessageId: messageId,
    });
  });

  it('fails even if its callbacks cannot be stored', async () => {
    const inbox = fixture.receiver.inbox();
    const callbacks = fixture.receiver.inbox();
    fleet.refuse((call, input) => call === 'PutItemCommand' && JSON.stringify(input).includes('"body":{"M"'));
    const messageId = await fixture.send(inbox.url, { timeout: '20s', callback: callbacks.url });
    await fleet.advance(2 * hourMs);
    expect(inbox.deliveries).toHaveLength(mostFaults);
    expect(callbacks.deliveries).toHaveLength(0);
    expect(await deadLettersOf(messageId)).toMatchObject([givenUp]);
  });

  it('fails if its next attempt cannot be sent', async () => {
    const inbox = fixture.receiver.inbox((_delivery, response) => response.writeHead(500).end('no'));
    const messageId = await fixture.send(inbox.url, { timeout: '20s', retries: '3', 'retry-delay': '1000' });
    fleet.refuse(
      (call, input) => call === 'SendMessageCommand' && JSON.stringify(input).includes('attempt\\":1'),
    );
    await fleet.advance(2 * hourMs);
    expect(inbox.deliveries).toHaveLength(1);
    expect(await deadLettersOf(messageId)).toMatchObject([{ ...givenUp, retried: 1 }]);
  });

  diesAtEachCall('and is given up by a worker that dies at any of its AWS calls fails once', async (fate) => {
    const inbox = fixture.receiver.inbox();
    const failures = fixture.receiver.inbox();
    fleet.hold(true, ['short']);
    const config = { timeout: '20s', 'failure-callback': failures.url };
    const messageId = await fixture.send(inbox.url, config);
    await fleet.advance(0);
    await fixture.sqs.send(new PurgeQueueCommand({ QueueUrl: fixture.settings.shortQueueUrl }));
    fleet.hold(false);
    fleet.setFate(fate);
    const attempt = { kind: 'attempt', accountId: fixture.account.id, messageId, attempt: 0, queue: 'short' };
    const text = { ...attempt, returns: mostFaults, faults: mostFaults };
    await fixture.standIns.sqs.send('short', JSON.stringify(text));
    await fleet.advance(hiddenMs('dead') + 20 * minuteMs);
    expect(inbox.deliveries).toHaveLength(0);
    expect(await deadLettersOf(messageId)).toMatchObject([givenUp]);
    expect(idsOf(failures.deliveries).size).toBe(1);
  });

  it('is delivered if the fault ends in time, and outages do not count', async () => {
    const inbox = fixture.receiver.inbox();
    fleet.refuse((call) => call === 'PutItemCommand');
    const messageId = await fixture.send(inbox.url, { timeout: '20s' });
    await fleet.advance(20 * minuteMs);
    fleet.takeAway('dynamodb');
    await fleet.advance(outageMs);
    fleet.bringBack();
    fleet.refuse(undefined);
    await fleet.advance(15 * minuteMs);
    expect(await deadLettersOf(messageId)).toEqual([]);
    expect(await fixture.loadMessage({ accountId: fixture.account.id, messageId })).toMatchObject({
      attempts: [{ state: 'DELIVERED' }],
    });
  });
});

describe('a job that this release cannot read', () => {
  const texts = ['no JSON', '{"kind":"ofTheNextRelease","account":"acct"}'];
  const queueNames = ['short', 'dead', 'fire', 'accountChanges'] as const;

  async function parked(): Promise<readonly string[]> {
    const QueueUrl = fixture.standIns.sqs.queueUrl('parked');
    const { parseParked: read } = await import('../../../lambdas/job/parked.ts');
    const found: string[] = [];
    for (;;) {
      const { Messages = [] } = await fixture.sqs.send(
        new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10, VisibilityTimeout: 60 }),
      );
      if (Messages.length === 0) return found.sort();
      for (const { Body = '' } of Messages) {
        const { queue, text } = read(Body);
        found.push(`${queue} ${text}`);
      }
    }
  }

  it('is parked with everything needed to send it back, and logged', async () => {
    const log = vi.spyOn(console, 'error').mockReturnValue(undefined);
    for (const queue of queueNames) for (const text of texts) await fixture.standIns.sqs.send(queue, text);
    await fleet.advance(dayMs);
    for (const queue of queueNames) {
      expect(fixture.standIns.sqs.queues.unsettled(queue)).toEqual([]);
      expect(fixture.standIns.sqs.queues.nextDueIn(queue)).toBeUndefined();
    }
    expect(await parked()).toEqual(
      queueNames.flatMap((queue) => texts.map((text) => `${queue} ${text}`)).sort(),
    );
    log.mockRestore();
  });
});

describe('a change of an account on which the service itself fails', () => {
  it('is retried for ever', async () => {
    const notice = JSON.stringify({ accountId: fixture.account.id, others: [] });
    fleet.refuse((call) => call === 'GetItemCommand');
    await fixture.standIns.sqs.send('accountChanges', notice);
    await fleet.advance(2 * outageMs);
    expect(fleet.invocationsOf('accountChanges')).toBeGreaterThan(2 * mostFaults);
    fleet.refuse(undefined);
    await fleet.advance(15 * minuteMs);
    expect(fixture.standIns.sqs.queues.nextDueIn('accountChanges')).toBeUndefined();
  });
});

describe('a schedule’s fire', () => {
  async function scheduled(
    inboxUrl: string,
  ): Promise<{ readonly scheduleId: string; readonly notice: string }> {
    const { createSchedule } = await import('../../../lambdas/schedule/schedules.ts');
    const { loadSchedule } = await import('../../../lambdas/schedule/rows.ts');
    const request = requestOf(inboxUrl, { cron: '0 0 1 1 *', timeout: '20s' });
    const { scheduleId } = await createSchedule(fixture.account, request);
    const schedule = await loadSchedule(fixture.account.id, scheduleId);
    const time = new Date(Date.now()).toISOString();
    const notice = { accountId: fixture.account.id, scheduleId, saveId: schedule?.saveId, time };
    return { scheduleId, notice: JSON.stringify(notice) };
  }

  it('waits for AWS and Lambda for days, and makes its messages once', async () => {
    const inbox = fixture.receiver.inbox();
    const { notice } = await scheduled(inbox.url);
    fleet.takeAway('dynamodb');
    await fixture.standIns.sqs.send('fire', notice);
    await fleet.advance(outageMs);
    fleet.throttle(true);
    await fleet.advance(15 * minuteMs);
    fleet.bringBack();
    fleet.throttle(false);
    await fleet.advance(hourMs);
    expect(inbox.deliveries).toHaveLength(1);
    expect(fixture.standIns.sqs.queues.unsettled('undeliveredFires')).toEqual([]);
  });

  it('is given up if it kills its worker, which its schedule and the operator’s queue show', async () => {
    const inbox = fixture.receiver.inbox();
    const { scheduleId, notice } = await scheduled(inbox.url);
    fleet.killAt('BatchWriteItemCommand');
    await fixture.standIns.sqs.send('fire', notice);
    await fleet.advance(hourMs);
    expect(fleet.invocationsOf('fire')).toBe(1 + mostDeaths + 1);
    expect(fixture.standIns.sqs.queues.unsettled('undeliveredFires')).toHaveLength(1);
    const { loadSchedule } = await import('../../../lambdas/schedule/rows.ts');
    expect((await loadSchedule(fixture.account.id, scheduleId))?.lastFire).toMatchObject({
      messageIds: [],
      error: expect.stringMatching(/^The worker died each time/) as unknown,
    });
    fleet.killAt(undefined);
    await fleet.advance(dayMs);
    expect(inbox.deliveries).toHaveLength(0);
  });
  it('is given up if the service itself fails on it, and published once if its text is sent to its queue again', async () => {
    const inbox = fixture.receiver.inbox();
    const { scheduleId, notice } = await scheduled(inbox.url);
    fleet.refuse((call) => call === 'BatchWriteItemCommand');
    await fixture.standIns.sqs.send('fire', notice);
    await fleet.advance(3 * hourMs);
    const { loadSchedule } = await import('../../../lambdas/schedule/rows.ts');
    expect((await loadSchedule(fixture.account.id, scheduleId))?.lastFire).toMatchObject({
      messageIds: [],
      error: expect.stringMatching(/^The service itself failed 10 times/) as unknown,
    });
    fleet.refuse(undefined);

    const QueueUrl = fixture.standIns.sqs.queueUrl('undeliveredFires');
    const { Messages = [] } = await fixture.sqs.send(
      new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10 }),
    );
    const texts = Messages.flatMap(({ Body = '' }) => (Body.includes(scheduleId) ? [Body] : []));
    expect(texts).toHaveLength(1);
    for (const text of [...texts, ...texts]) await fixture.standIns.sqs.send('fire', text);
    await fleet.advance(15 * minuteMs);
    expect(inbox.deliveries).toHaveLength(1);
  });
});
