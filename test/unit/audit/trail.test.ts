import { randomUUID } from 'node:crypto';
import type { APIGatewayProxyEvent, Context } from 'aws-lambda';
import { describe, expect, it, vi } from 'vitest';
import * as z from 'zod/mini';
import { itAtEachDeath } from '../../support/faults.ts';
import { useStandIns } from '../../support/useStandIns.ts';
import { watchedCalls } from '../../support/watchedCalls.ts';

/** Kills an API function at each of its AWS calls: every change must have an audit entry. */

useStandIns();

const event = z.custom<APIGatewayProxyEvent>((value) => typeof value === 'object');
const updates = z.object({ UpdateExpression: z.optional(z.string()) });
const context = z.custom<Context>((value) => typeof value === 'object');

/** Stops the clock at the start of a minute, because repetitions within a minute share an entry. */
const stopClock = (): void => {
  vi.useFakeTimers({ toFake: ['Date'], now: Math.ceil(Date.now() / 60_000) * 60_000 + 60_000 });
};

async function importLambdas() {
  vi.resetModules();
  const [accounts, store, queues, { handler }, trail, entries, { dynamodb }] = await Promise.all([
    import('../../../lambdas/management/accounts.ts'),
    import('../../../lambdas/account/accounts.ts'),
    import('../../../lambdas/lane/queues.ts'),
    import('../../../lambdas/handlers/queues.ts'),
    import('../../../lambdas/audit/trail.ts'),
    import('../../../lambdas/audit/store/entries.ts'),
    import('../../../lambdas/aws/dynamodb.ts'),
  ]);
  const { watch, ...watched } = watchedCalls();
  watch(dynamodb);
  let entryWrites = 0;
  dynamodb.middlewareStack.add(
    (next) => (args) => {
      const { UpdateExpression = '' } = updates.parse(args.input);
      if (UpdateExpression.includes('#count')) entryWrites += 1;
      return next(args);
    },
    { step: 'initialize', name: 'entryWrites' },
  );
  const record = z.object({ id: z.string(), token: z.string() });
  const made = record.parse(await accounts.createAccount(Buffer.from('{}')));
  const account = await store.loadAccount(made.id, true);
  if (account === undefined) throw new Error('The account was not made.');
  return {
    ...accounts,
    ...store,
    account,
    ...watched,
    /** Counts the entry writes of some work, without the occasional writes of usage. */
    entryWritesOf: async (work: () => Promise<unknown>): Promise<number> => {
      entryWrites = 0;
      await work();
      return entryWrites;
    },
    isPaused: async (name: string): Promise<boolean> => (await queues.getQueue(account, name)).paused,
    save: (name: string) => queues.putQueue(account, Buffer.from(JSON.stringify({ queueName: name }))),
    pause: (name: string) =>
      handler(
        event.parse({
          httpMethod: 'POST',
          path: `/v2/queues/${name}/pause`,
          requestContext: {
            requestId: randomUUID(),
            path: `/v2/queues/${name}/pause`,
            identity: { sourceIp: '192.0.2.1' },
          },
          multiValueHeaders: { authorization: [`Bearer ${made.token}`] },
          multiValueQueryStringParameters: null,
          body: null,
          isBase64Encoded: false,
        }),
        context.parse({}),
      ),
    trail: async () => (await trail.readTrail(account, {})).entries,
    actions: async () => (await trail.readTrail(account, {})).entries.map(({ action }) => action),
    rows: async (): Promise<number> => {
      let rows = 0;
      for await (const _ of entries.listEntries(account.id, { behind: undefined })) rows += 1;
      return rows;
    },
  };
}

describe('the audit trail', () => {
  itAtEachDeath('has an entry of each change that a dying process has made', async (fate) => {
    const lambdas = await importLambdas();
    await lambdas.save('mail');
    lambdas.setFate(fate);
    await lambdas.pause('mail').catch(() => undefined);
    lambdas.setFate(undefined);
    const isNoted = (await lambdas.actions()).includes('queue.pause');
    if (await lambdas.isPaused('mail')) expect(isNoted).toBe(true);
  });

  itAtEachDeath('has an entry of each change of an account that a dying process has made', async (fate) => {
    const lambdas = await importLambdas();
    lambdas.setFate(fate);
    await lambdas.updateAccount(lambdas.account.id, Buffer.from('{"budget":5}')).catch(() => undefined);
    lambdas.setFate(undefined);
    const isMade = (await lambdas.loadAccount(lambdas.account.id, true))?.budget === 5;
    if (isMade) expect(await lambdas.actions()).toContain('account.change');
  });

  it('costs one write for a change, and removes a refused change’s entry', async () => {
    stopClock();
    const lambdas = await importLambdas();
    await lambdas.save('mail');
    const writesOf = async (work: () => Promise<unknown>): Promise<number> =>
      (await lambdas.callsOf(work)).filter((name) => name === 'UpdateItem').length;
    await lambdas.pause('mail');
    const { length } = await lambdas.trail();
    // The first requests may write usage, too.
    expect(await writesOf(() => lambdas.pause('mail'))).toBeLessThanOrEqual(2);
    expect(await lambdas.trail()).toHaveLength(length);
    await lambdas.pause('nothing');
    expect(await lambdas.trail()).toHaveLength(length);
    expect(await lambdas.rows()).toBe(length + 1);
  });

  it('costs one more write if a fact becomes known only after the change', async () => {
    stopClock();
    const lambdas = await importLambdas();
    await lambdas.save('mail');
    await lambdas.save('post');
    await lambdas.pause('post');
    expect(await lambdas.entryWritesOf(() => lambdas.pause('mail'))).toBe(2);
    // The queue is already paused.
    expect(await lambdas.entryWritesOf(() => lambdas.pause('mail'))).toBe(1);
    const entryOf = async (action: string, subject: string) =>
      (await lambdas.trail()).find((one) => one.action === action && one.subject === subject);
    expect(await entryOf('queue.pause', 'mail')).toMatchObject({
      count: 2,
      changes: [{ field: 'paused', before: 'false', after: 'true' }],
    });
    // The account’s fields are in the first write.
    const change = () => lambdas.updateAccount(lambdas.account.id, Buffer.from('{"budget":5}'));
    expect(await lambdas.entryWritesOf(change)).toBe(1);
    const budget = [{ field: 'budget', before: '0', after: '5' }];
    expect(await entryOf('account.change', 'budget')).toMatchObject({ changes: budget });
  });

  itAtEachDeath(
    'has the entry of a change without its fields where its process died before',
    async (fate) => {
      const lambdas = await importLambdas();
      await lambdas.save('mail');
      lambdas.setFate(fate);
      await lambdas.pause('mail').catch(() => undefined);
      lambdas.setFate(undefined);
      const entry = (await lambdas.trail()).find(({ action }) => action === 'queue.pause');
      const changes = [{ field: 'paused', before: 'false', after: 'true' }];
      expect([undefined, changes]).toContainEqual(entry?.changes);
      if (entry?.changes !== undefined) expect(await lambdas.isPaused('mail')).toBe(true);
    },
  );

  it('has one entry for repetitions within a minute, and another one for the next minute', async () => {
    stopClock();
    const lambdas = await importLambdas();
    for (const name of ['mail', 'post']) await lambdas.save(name);
    for (let times = 0; times < 3; times += 1) {
      await lambdas.pause('mail');
      vi.setSystemTime(Date.now() + 1_000);
    }
    await lambdas.pause('post');
    // A refused repetition does not count and removes no other.
    await lambdas.pause('nothing');
    vi.setSystemTime(Date.now() + 60_000);
    await lambdas.pause('mail');
    const pauses = (await lambdas.trail()).filter(({ action }) => action === 'queue.pause');
    expect(pauses.map(({ subject, count }) => [subject, count])).toEqual([
      ['mail', undefined],
      ['post', undefined],
      ['mail', 3],
    ]);
  });

  it('cannot be filled: an account’s entries in a day are limited to its daily messages, or a hundred', async () => {
    stopClock();
    const lambdas = await importLambdas();
    const hard = { max_requests_per_day: 2, max_requests_per_day_hard: 2 };
    await lambdas.updateAccount(lambdas.account.id, Buffer.from(JSON.stringify(hard)));
    for (const name of ['a', 'b']) await lambdas.save(name);
    expect((await lambdas.pause('a')).statusCode).toBe(200);
    // Refused changes are written first, too. All are in one minute, and within the limit of a second.
    for (let number = 1; number < 100; number += 1) {
      vi.setSystemTime(Date.now() + 100);
      await lambdas.pause(`none-${number}`);
    }
    expect([(await lambdas.pause('a')).statusCode, (await lambdas.pause('b')).statusCode]).toEqual([
      200, 429,
    ]);
    expect(await lambdas.isPaused('b')).toBe(false);
    const own = (await lambdas.trail()).filter(({ actor }) => actor === 'token');
    expect(own.map(({ subject, count }) => [subject, count])).toEqual([['a', 2]]);
  });

  it('drops an entry after 90 days, even if its row still exists', async () => {
    const lambdas = await importLambdas();
    await lambdas.save('mail');
    await lambdas.pause('mail');
    expect(await lambdas.actions()).toContain('queue.pause');
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 90 * 86_400_000 + 60_000 });
    expect(await lambdas.actions()).toEqual([]);
  });
});
