import { GetScheduleCommand, ListSchedulesCommand } from '@aws-sdk/client-scheduler';
import { describe, expect, it, vi } from 'vitest';
import { fixture, waitFixture, useWaits } from '../../support/useRuns.ts';
import { setClockAhead } from '../../support/clockAhead.ts';
import { fateAt, itAtEachDeath } from '../../support/faults.ts';
import { imported } from '../../support/imported.ts';
import { configOf, idsOf, requestOf } from '../../support/fixture.ts';

/** All jobs are lost if tables are restored without their queues and schedules. */

useWaits();
const lambdas = imported(async () => ({
  ...(await import('../../../lambdas/recovery/recover.ts')),
  ...(await import('../../../lambdas/recovery/missing.ts')),
  ...(await import('../../../lambdas/schedule/schedules.ts')),
  ...(await import('../../../lambdas/lane/queues.ts')),
  scheduler: await (await import('../../../lambdas/aws/scheduler.ts')).scheduler(),
}));

const hourMs = 3_600_000;
const recover = (isDryRun = false) => lambdas.recover({ since: Date.now() - hourMs, isDryRun });

const names = async (): Promise<readonly string[]> => {
  const { Schedules = [] } = await lambdas.scheduler.client.send(
    new ListSchedulesCommand({ GroupName: fixture.settings.scheduleGroup }),
  );
  return Schedules.flatMap(({ Name }) => Name ?? []);
};

async function loseAll(): Promise<void> {
  await fixture.drain();
  for (const name of await names()) await lambdas.scheduler.delete(name);
}

describe('after the loss of all jobs', () => {
  it('a waiting message is delivered, once even if the recovery is repeated, and not if it only counts', async () => {
    const inbox = fixture.receiver.inbox();
    const messageId = await fixture.send(inbox.url);
    await loseAll();
    expect((await recover(true)).attempts).toBeGreaterThanOrEqual(1);
    expect(await fixture.drain()).toEqual([]);
    expect((await recover()).attempts).toBeGreaterThanOrEqual(1);
    await recover();
    await fixture.doJobs();
    expect(inbox.deliveries.map(({ headers }) => headers['svc-message-id'])).toEqual([messageId]);
  });

  it('a message that is due later than timers allow is in Scheduler again, with its time', async () => {
    const messageId = await fixture.send('http://127.0.0.1:9/far', { delay: '3h' });
    const name = `${messageId}-0`;
    const scheduleOf = async () =>
      lambdas.scheduler.client.send(
        new GetScheduleCommand({ GroupName: fixture.settings.scheduleGroup, Name: name }),
      );
    const { ScheduleExpression, Target } = await scheduleOf();
    await loseAll();
    expect(await names()).not.toContain(name);
    await recover();
    expect(await scheduleOf()).toMatchObject({ ScheduleExpression, Target: { Input: Target?.Input } });
  });

  it('the messages of a queue are delivered one at a time, in order', async () => {
    const inbox = fixture.receiver.inbox();
    for (const body of ['first', 'second', 'third']) await fixture.enqueue('line', inbox.url, {}, body);
    await loseAll();
    await recover();
    await fixture.doJobs();
    expect(inbox.deliveries.map(({ body }) => body.toString())).toEqual(['first', 'second', 'third']);
    expect(inbox.deliveries.map(({ open }) => open)).toEqual([1, 1, 1]);
  });

  it('the messages of a flow-control key are delivered once each', async () => {
    const inbox = fixture.receiver.inbox();
    const config = { 'flow-control-key': 'k', 'flow-control-value': 'parallelism=1' };
    const sent = [];
    for (let count = 0; count < 4; count += 1) sent.push(await fixture.send(inbox.url, config));
    // The first message holds the slot, and its worker dies. The others wait.
    const { job } = await fixture.receiveAttempt();
    await fixture.underFate(fateAt({ call: 4, when: 'after' }), () =>
      fixture.perform(job, { isAgain: false }),
    );
    await loseAll();
    await recover();
    await fixture.doJobs();
    await inbox.until((all) => idsOf(all).size === sent.length);
  });

  it('a paused queue stays paused, with its messages', async () => {
    const inbox = fixture.receiver.inbox();
    await lambdas.putQueue(fixture.account, Buffer.from('{"queueName":"paused","parallelism":1}'));
    await lambdas.pauseQueue(fixture.account, 'paused');
    await fixture.enqueue('paused', inbox.url);
    await loseAll();
    expect((await recover()).waiting).toBeGreaterThanOrEqual(1);
    await fixture.doJobs();
    expect(inbox.deliveries).toHaveLength(0);
    await lambdas.resumeQueue(fixture.account, 'paused');
    await fixture.doJobs();
    expect(inbox.deliveries).toHaveLength(1);
  });

  it('a schedule fires again', async () => {
    await lambdas.createSchedule(fixture.account, {
      ...requestOf('http://127.0.0.1:9/fired'),
      config: configOf({ cron: '0 9 * * *', 'schedule-id': 'daily' }),
    });
    const before = await names();
    expect(before.length).toBeGreaterThan(0);
    await loseAll();
    expect((await recover()).schedules).toBe(1);
    expect(await names()).toEqual(expect.arrayContaining([...before]));
  });

  it('a wait of a run ends at its deadline', async () => {
    const runId = await waitFixture.start();
    await waitFixture.wait(runId, 'lost event', { timeout: '2h' });
    const before = (await names()).filter((name) => name.startsWith('wait-'));
    expect(before).toHaveLength(1);
    await loseAll();
    expect((await recover()).waits).toBe(1);
    expect(await names()).toEqual(expect.arrayContaining([...before]));
    await loseAll();
  });

  it('a message without any job is named, and one that waits in a queue is not', async () => {
    vi.spyOn(Date, 'now').mockReturnValue(Date.now());
    const inbox = fixture.receiver.inbox();
    const messageId = await fixture.send(inbox.url);
    const known = { accountId: fixture.account.id, messageId, attempt: 0 };
    const lost = async (jobs: readonly (typeof known)[], end?: number) => {
      const { accepted, unanswered } = await lambdas.lostMessages(jobs, end);
      return [accepted.includes(messageId), unanswered.includes(messageId)];
    };
    expect(await lost([known])).toEqual([false, false]);
    expect(await lost([])).toEqual([true, false]);
    // A process that ended while it stored the message sent no answer.
    for (const end of [Date.now() - 60_000, Date.now() + 60_000]) {
      expect(await lost([], end)).toEqual([true, false]);
    }
    expect(await lost([], Date.now())).toEqual([false, true]);
    // A job that still exists is not sent again.
    await lambdas.sendLost(() => [known], Infinity);
    await fixture.doJobs();
    expect(await lost([], Date.now())).toEqual([false, false]);
    expect(inbox.deliveries).toHaveLength(1);
  });

  it('a message that nothing has is sent when it is due', async () => {
    const inbox = fixture.receiver.inbox();
    const messageId = await fixture.send(inbox.url, { delay: '10m' });
    await loseAll();
    await lambdas.sendLost(() => [], Infinity);
    await fixture.doJobs();
    expect(inbox.deliveries).toHaveLength(0);
    setClockAhead(600_000);
    await fixture.doJobs();
    expect(inbox.deliveries.map(({ headers }) => headers['svc-message-id'])).toEqual([messageId]);
  });

  it('a callback that is stored before its attempt’s record is left to the attempt’s job', async () => {
    const inbox = fixture.receiver.inbox();
    const callbacks = fixture.receiver.inbox();
    await fixture.send(inbox.url, { callback: callbacks.url });
    const { job } = await fixture.receiveAttempt();
    fixture.reset();
    fixture.beforeCall('PutItemCommand', 2, () => Promise.reject(new Error('The worker dies.')));
    await expect(fixture.deliver(job, false)).rejects.toThrow('The worker dies.');
    await loseAll();
    await lambdas.sendLost(() => [job], Infinity);
    await fixture.doJobs();
    expect([inbox.deliveries.length, callbacks.deliveries.length]).toEqual([1, 0]);
    await fixture.deliver(job, true);
    await fixture.doJobs();
    expect([inbox.deliveries.length, callbacks.deliveries.length]).toEqual([2, 1]);
  });
});

describe('after a worker died, and its job was lost', () => {
  itAtEachDeath('at any of its calls, the message has all that follows from it', async (fate) => {
    const inbox = fixture.receiver.inbox((_delivery, response) => response.writeHead(500).end('no'));
    const failures = fixture.receiver.inbox();
    const messageId = await fixture.send(inbox.url, { retries: '0', 'failure-callback': failures.url });
    const { job } = await fixture.receiveAttempt();
    await fixture.underFate(fate, () => fixture.perform(job, { isAgain: false }));
    await loseAll();
    await recover();
    await fixture.doJobs();
    expect(inbox.deliveries.length).toBeGreaterThanOrEqual(1);
    expect(idsOf(failures.deliveries).size).toBe(1);
    expect(await fixture.deadLettersOf(messageId)).toBe(1);
  });
});
