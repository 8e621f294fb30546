import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { keptBundle } from '../../infra/keptTemplates.ts';
import { itAtEachDeath } from '../../support/faults.ts';
import { configOf, idsOf, type Fixture } from '../../support/fixture.ts';
import { useFixture } from '../../support/useFixture.ts';

let fixture: Fixture;
const importServices = async () => ({
  ...(await import('../../../lambdas/bulk/bulks.ts')),
  ...(await import('../../../lambdas/bulk/step.ts')),
  ...(await import('../../../lambdas/publish/cancel.ts')),
  ...(await import('../../../lambdas/wire/filters.ts')),
  ...(await import('../../../lambdas/deadLetter/deadLetters.ts')),
});
let services: Awaited<ReturnType<typeof importServices>>;
useFixture(async (opened) => {
  fixture = opened;
  services = await importServices();
});
beforeEach(async () => {
  await Promise.all([fixture.readUsage(fixture.account), fixture.deploymentRules()]);
  fixture.reset();
});

const startOn = async (operation: 'messages.cancel' | 'dlq.retry', filter: readonly [string, string]) => {
  const request = {
    query: [filter],
    filters: '',
    prefix: 'Svc',
    config: configOf({}),
    host: 'api.example.com',
  };
  const { bulkId } = await services.startBulk(fixture.account, operation, request);
  return bulkId;
};
const shown = (bulkId: string) => services.getBulk(fixture.account, bulkId);
const sendMany = (count: number, label: string) =>
  Promise.all(
    Array.from({ length: count }, () => fixture.send(fixture.receiver.origin, { label, delay: '10m' })),
  );
const waiting = async (label: string) =>
  (await services.countMessages(fixture.account, services.parseFilter('messages', [['label', label]]))).count;

/** Does the step that only looks for entries, and returns the job for them. */
async function jobAfterSearch() {
  const [first] = await fixture.drain();
  if (first?.kind !== 'bulk') throw new Error('There is no step.');
  await services.doStep(fixture.account, first, false);
  const [job, ...more] = await fixture.drain();
  if (job?.kind !== 'bulk' || more.length > 0) throw new Error('There is not one step.');
  return job;
}

describe('a step', () => {
  itAtEachDeath('of a retry whose worker dies sends each dead letter again once', async (fate) => {
    const inbox = fixture.receiver.inbox((_delivery, response) => response.writeHead(500).end());
    for (let number = 0; number < 3; number += 1)
      await fixture.send(inbox.url, { label: fate.name, retries: '0' });
    await fixture.doJobs();
    const bulkId = await startOn('dlq.retry', ['label', fate.name]);
    await fixture.doJobs(fate);
    expect(await shown(bulkId)).toMatchObject({ state: 'done', done: 3, failed: 0 });
    expect(idsOf(inbox.deliveries).size).toBe(6);
  });

  itAtEachDeath(
    'whose worker dies at any of its AWS calls is repeated, and counts each message once',
    async (fate) => {
      await sendMany(4, fate.name);
      const bulkId = await startOn('messages.cancel', ['label', fate.name]);
      await fixture.doJobs(fate);
      expect(await shown(bulkId)).toMatchObject({ state: 'done', done: 4, failed: 0 });
      expect(await waiting(fate.name)).toBe(0);
    },
  );

  it('that is received twice, and twice at once, counts each message once', async () => {
    await sendMany(30, 'twice');
    const bulkId = await startOn('messages.cancel', ['label', 'twice']);
    const job = await jobAfterSearch();
    await Promise.all([1, 2, 3].map(() => services.doStep(fixture.account, job, false)));
    await services.doStep(fixture.account, job, true);
    expect(await shown(bulkId)).toMatchObject({ state: 'done', done: 30, failed: 0 });
    expect(await fixture.drain()).toEqual([]);
  });

  it('does not count a message that somebody else has cancelled since it was found', async () => {
    const [first = ''] = await sendMany(3, 'gone');
    const bulkId = await startOn('messages.cancel', ['label', 'gone']);
    const job = await jobAfterSearch();
    await services.cancelMessage(fixture.account, first);
    await services.doStep(fixture.account, job, false);
    expect(await shown(bulkId)).toMatchObject({ state: 'done', done: 2, failed: 0 });
  });

  it.each([
    ['deaths', 'The worker died each time'],
    ['faults', 'The service failed each time'],
  ] as const)(
    'that cannot be done because of %s fails its operation, which a request resumes',
    async (why, text) => {
      await sendMany(3, why);
      const bulkId = await startOn('messages.cancel', ['label', why]);
      const job = await jobAfterSearch();
      await services.giveUpStep(job, why);
      const failed = await shown(bulkId);
      expect(failed).toMatchObject({ state: 'failed', done: 0, error: { code: 'service_failed' } });
      expect(failed.error?.error).toContain(text);
      await services.doStep(fixture.account, job, false);
      expect(await waiting(why)).toBe(3);
      expect(await services.resumeBulk(fixture.account, bulkId)).toMatchObject({ state: 'running' });
      await fixture.doJobs();
      expect(await shown(bulkId)).toMatchObject({ state: 'done', done: 3, failed: 0 });
      expect(await shown(bulkId)).not.toHaveProperty('error');
    },
  );

  it('of an account that is not active fails its operation, which a request resumes', async () => {
    await sendMany(3, 'inactive');
    const bulkId = await startOn('messages.cancel', ['label', 'inactive']);
    const job = await jobAfterSearch();
    await services.doStep({ ...fixture.account, active: false }, job, false);
    expect(await shown(bulkId)).toMatchObject({
      state: 'failed',
      done: 0,
      error: { code: 'account_inactive' },
    });
    await services.resumeBulk(fixture.account, bulkId);
    await fixture.doJobs();
    expect(await shown(bulkId)).toMatchObject({ state: 'done', done: 3, failed: 0 });
  });

  it('that a limit of the account refuses fails its operation, with what was done before', async () => {
    const inbox = fixture.receiver.inbox((_delivery, response) => response.writeHead(500).end());
    for (let number = 0; number < 30; number += 1)
      await fixture.send(inbox.url, { label: 'limit', retries: '0' });
    await fixture.doJobs();
    const bulkId = await startOn('dlq.retry', ['label', 'limit']);
    const job = await jobAfterSearch();
    await services.doStep(fixture.account, job, false);
    const limited = { ...fixture.account, limits: { max_requests_per_day_hard: 1 } };
    const [next] = (await fixture.drain()).filter(({ kind }) => kind === 'bulk');
    if (next?.kind !== 'bulk') throw new Error('There is no step.');
    await services.doStep(limited, next, false);
    expect(await shown(bulkId)).toMatchObject({
      state: 'failed',
      done: 20,
      failed: 0,
      error: { code: 'daily_limit_reached' },
    });
    await services.resumeBulk(fixture.account, bulkId);
    await fixture.doJobs();
    expect(await shown(bulkId)).toMatchObject({ state: 'done', done: 30, failed: 0 });
  });
});

describe('an account', () => {
  it('has five operations in the background at most, even if more are started at once', async () => {
    const start = () => startOn('messages.cancel', ['label', 'none']);
    const outcomes = await Promise.allSettled([1, 2, 3, 4, 5, 6, 7, 8].map(start));
    const accepted = outcomes.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
    expect(accepted.length).toBeLessThanOrEqual(5);
    for (let count = accepted.length; count < 5; count += 1) accepted.push(await start());
    const refusal = { status: 429, code: 'bulk_limit_reached' };
    await expect(start()).rejects.toMatchObject(refusal);
    const [stopped = ''] = accepted;
    await services.stopBulk(fixture.account, stopped);
    const last = await start();
    await expect(services.resumeBulk(fixture.account, stopped)).rejects.toMatchObject(refusal);
    await fixture.doJobs();
    for (const bulkId of [...accepted.slice(1), last])
      expect(await shown(bulkId)).toMatchObject({ state: 'done' });
    expect(await services.resumeBulk(fixture.account, stopped)).toMatchObject({ state: 'running' });
  });

  it('has no more than five if others are resumed at once, and these stay as they were', async () => {
    const running = async () =>
      (await services.getBulks(fixture.account)).operations.filter(({ state }) => state === 'running');
    for (const { bulkId } of await running()) await services.stopBulk(fixture.account, bulkId);
    const ids: string[] = [];
    for (let number = 0; number < 4; number += 1) {
      ids.push(await startOn('messages.cancel', ['label', 'none']));
      await services.stopBulk(fixture.account, ids[number] ?? '');
    }
    for (let number = 0; number < 4; number += 1) await startOn('messages.cancel', ['label', 'none']);
    const outcomes = await Promise.allSettled(
      ids.map((bulkId) => services.resumeBulk(fixture.account, bulkId)),
    );
    const resumed = outcomes.filter(({ status }) => status === 'fulfilled').length;
    expect(resumed).toBeLessThanOrEqual(1);
    expect(await running()).toHaveLength(4 + resumed);
    const states = await Promise.all(ids.map(async (bulkId) => (await shown(bulkId)).state));
    expect(states.filter((state) => state === 'stopped')).toHaveLength(4 - resumed);
    await fixture.doJobs();
  });

  it('does an operation whose job was lost when somebody looks at it', async () => {
    await sendMany(3, 'lost');
    const bulkId = await startOn('messages.cancel', ['label', 'lost']);
    await fixture.drain();
    await services.getBulks(fixture.account);
    expect(await fixture.drain()).toEqual([]);
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 21 * 60_000 });
    onTestFinished(() => {
      vi.useRealTimers();
    });
    await services.getBulks(fixture.account);
    await fixture.doJobs();
    expect(await shown(bulkId)).toMatchObject({ state: 'done', done: 3 });
  });

  it('keeps no operation whose job could not be sent', async () => {
    fixture.refuse('SendMessageCommand');
    await expect(startOn('messages.cancel', ['label', 'unsent'])).rejects.toThrow();
    fixture.reset();
    const { operations } = await services.getBulks(fixture.account);
    expect(operations.filter(({ state }) => state === 'running').length).toBeLessThanOrEqual(1);
  });
});

it('runs from a bundle, which has a separate copy of its code', async () => {
  await sendMany(3, 'bundled');
  const bulkId = await startOn('messages.cancel', ['label', 'bundled']);
  const url = pathToFileURL(join(keptBundle('deliver'), 'index.mjs')).href;
  const { handler } = (await import(url)) as { handler: (event: object) => Promise<unknown> };
  for (let jobs = await fixture.drain(); jobs.length > 0; jobs = await fixture.drain()) {
    const Records = jobs.map((job) => ({
      messageId: job.kind,
      body: JSON.stringify(job),
      attributes: { ApproximateReceiveCount: '1', SentTimestamp: String(Date.now()) },
      eventSourceARN: fixture.settings.shortQueueArn,
    }));
    expect(await handler({ Records })).toEqual({ batchItemFailures: [] });
  }
  expect(await shown(bulkId)).toMatchObject({ state: 'done', done: 3, failed: 0 });
});
