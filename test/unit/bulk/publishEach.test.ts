import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { minuteMs, secondMs } from '../../../lambdas/shared/clock.ts';
import { openBulks } from '../../support/bulkFixture.ts';
import { itAtEachDeath } from '../../support/faults.ts';
import { idsOf } from '../../support/fixture.ts';
import type { Inbox } from '../../support/receiver.ts';
import { fixture, runFixture, useRuns } from '../../support/useRuns.ts';

let bulks: Awaited<ReturnType<typeof openBulks>>;
const importServices = async () => ({
  ...(await import('../../../lambdas/usage/counter.ts')),
  ...(await import('../../../lambdas/message/messages.ts')),
});
let services: Awaited<ReturnType<typeof importServices>>;
useRuns(async () => {
  [bulks, services] = await Promise.all([openBulks(fixture), importServices()]);
});
beforeEach(async () => {
  await Promise.all([fixture.readUsage(fixture.account), fixture.deploymentRules()]);
  fixture.reset();
});

const load = async (messageId: string) => {
  const history = await fixture.loadMessage({ accountId: fixture.account.id, messageId });
  if (history === undefined) throw new Error(`There is no message ${messageId}.`);
  return history;
};

/** Has messages delivered, and returns the inbox and their ids. */
async function delivered(count: number, label: string, queueName?: string) {
  const inbox = fixture.receiver.inbox();
  const ids: string[] = [];
  for (let number = 0; number < count; number += 1) {
    const message = [inbox.url, { label }, `${label} ${number}`] as const;
    ids.push(
      await (queueName === undefined ? fixture.send(...message) : fixture.enqueue(queueName, ...message)),
    );
  }
  await fixture.doJobs();
  expect(inbox.deliveries).toHaveLength(count);
  return { inbox, ids };
}

/** Expects that each message was delivered once more, under one new id that the old message names. */
async function expectAgain({ deliveries }: Inbox, ids: readonly string[]): Promise<void> {
  const again = deliveries.slice(ids.length);
  const named = await Promise.all(ids.map(async (id) => (await load(id)).message.retriedAs));
  expect(new Set(named)).toEqual(idsOf(again));
  expect(idsOf(again).size).toBe(ids.length);
  const bodies = (some: typeof deliveries) => new Set(some.map(({ body }) => body.toString()));
  expect(bodies(again)).toEqual(bodies(deliveries.slice(0, ids.length)));
}

describe('publishing again in the background', () => {
  itAtEachDeath('makes one new message for each delivery, wherever its worker dies', async (fate) => {
    const { inbox, ids } = await delivered(3, fate.name);
    const bulkId = await bulks.start('messages.publish', { label: fate.name });
    await fixture.doJobs(fate);
    expect(await bulks.shown(bulkId)).toMatchObject({ state: 'done', done: 3, failed: 0 });
    await expectAgain(inbox, ids);
  });

  itAtEachDeath('does so for messages of a queue, which keep it', async (fate) => {
    const { inbox, ids } = await delivered(3, fate.name, fate.name);
    const bulkId = await bulks.start('messages.publish', { queueName: fate.name });
    await fixture.doJobs(fate);
    expect(await bulks.shown(bulkId)).toMatchObject({ state: 'done', done: 3, failed: 0 });
    await expectAgain(inbox, ids);
    for (const id of idsOf(inbox.deliveries))
      expect((await load(id ?? '')).message.queueName).toBe(fate.name);
  });

  it('makes no message twice if a step is received twice, and twice at once', async () => {
    const { inbox, ids } = await delivered(20, 'twice');
    const bulkId = await bulks.start('messages.publish', { label: 'twice' });
    const job = await bulks.stepAfterSearch();
    await Promise.all([1, 2, 3].map(() => bulks.doStep(fixture.account, job, false)));
    await bulks.doStep(fixture.account, job, true);
    await fixture.doJobs();
    expect(await bulks.shown(bulkId)).toMatchObject({ state: 'done', done: 20, failed: 0 });
    await expectAgain(inbox, ids);
  });

  it.each([
    ['', 0],
    [', even if the clock of a worker is behind', minuteMs],
  ])('leaves its own messages alone%s', async (_text, behindMs) => {
    const label = `own ${behindMs}`;
    const { inbox, ids } = await delivered(45, label);
    const bulkId = await bulks.start('messages.publish', { label });
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() - behindMs });
    onTestFinished(() => {
      vi.useRealTimers();
    });
    // Jobs of deliveries are done first, so each search could find the messages that the previous step has
    // published.
    for (let jobs = await fixture.drain(); jobs.length > 0; jobs = await fixture.drain()) {
      for (const isStep of [false, true]) {
        const some = jobs.filter(({ kind }) => (kind === 'bulk') === isStep);
        for (const job of some) await fixture.perform(job, { isAgain: false });
      }
    }
    expect(await bulks.shown(bulkId)).toMatchObject({ state: 'done', done: 45, failed: 0 });
    await expectAgain(inbox, ids);
  });

  it('takes the deliveries of a period, by the time at which they were made', async () => {
    const inbox = fixture.receiver.inbox((_delivery, response) => response.writeHead(500).end());
    const failed = await fixture.send(inbox.url, { label: 'period', retries: '0' });
    await fixture.doJobs();
    const {
      ids: [first = ''],
    } = await delivered(1, 'period');
    const {
      ids: [second = ''],
    } = await delivered(1, 'period');
    const [from, to] = await Promise.all(
      [first, second].map(async (id) => (await load(id)).attempts[0]?.recordedAt ?? 0),
    );
    const period = { fromDate: String(from), toDate: String((to ?? 0) - 1), label: 'period' };
    const bulkId = await bulks.start('messages.publish', period);
    await fixture.doJobs();
    expect(await bulks.shown(bulkId)).toMatchObject({ state: 'done', done: 1, failed: 0 });
    const retriedAs = await Promise.all(
      [failed, first, second].map(async (id) => (await load(id)).message.retriedAs),
    );
    expect(retriedAs).toEqual([undefined, expect.any(String), undefined]);
  });

  it('counts messages of runs, and those without a body, as failed, and goes on', async () => {
    const { inbox, ids } = await delivered(30, 'some');
    const { message, body } = await load(ids[11] ?? '');
    await services.putMessage({ ...message, expiresAt: Date.now() - 2 * secondMs }, body);
    await runFixture.start('wfr_some');
    const part = await runFixture.message('wfr_some', 'msg_01KDVDNA00M3A9X2C4D6F8GHJK', 'call', '{}', {
      labels: ['some'],
    });
    await runFixture.attempt(part.messageId, 'DELIVERED');
    const bulkId = await bulks.start('messages.publish', { label: 'some' });
    await fixture.doJobs();
    expect(await bulks.shown(bulkId)).toMatchObject({ state: 'done', done: 29, failed: 2 });
    expect(idsOf(inbox.deliveries).size).toBe(59);
  });

  it('ends at a limit with what was done, and a request continues it with the rest', async () => {
    const { inbox, ids } = await delivered(30, 'limit');
    const bulkId = await bulks.start('messages.publish', { label: 'limit' });
    const job = await bulks.stepAfterSearch();
    const { dailyRequests } = await services.counterOf(fixture.account, Date.now());
    const limits = { max_requests_per_day_hard: dailyRequests + 7 };
    await bulks.doStep({ ...fixture.account, limits }, job, false);
    expect(await bulks.shown(bulkId)).toMatchObject({
      state: 'failed',
      done: 7,
      failed: 0,
      error: { code: 'daily_limit_reached' },
    });
    await fixture.readUsage(fixture.account);
    await bulks.resumeBulk(fixture.account, bulkId);
    await fixture.doJobs();
    expect(await bulks.shown(bulkId)).toMatchObject({ state: 'done', done: 30, failed: 0 });
    await expectAgain(inbox, ids);
    expect((await services.counterOf(fixture.account, Date.now())).dailyRequests).toBe(dailyRequests + 30);
  });

  it('repeats a step whose messages could not be stored', async () => {
    const { inbox, ids } = await delivered(3, 'outage');
    const bulkId = await bulks.start('messages.publish', { label: 'outage' });
    const job = await bulks.stepAfterSearch();
    fixture.refuse('BatchWriteItemCommand');
    await expect(bulks.doStep(fixture.account, job, false)).rejects.toThrow();
    fixture.reset();
    await bulks.doStep(fixture.account, job, true);
    await fixture.doJobs();
    expect(await bulks.shown(bulkId)).toMatchObject({ state: 'done', done: 3, failed: 0 });
    await expectAgain(inbox, ids);
  });
});
