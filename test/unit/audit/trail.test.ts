import { randomUUID } from 'node:crypto';
import type { APIGatewayProxyEvent, Context } from 'aws-lambda';
import { beforeAll, describe, expect, it, vi } from 'vitest';
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
  return {
    ...accounts,
    ...store,
    ...queues,
    ...trail,
    ...entries,
    ...watched,
    handler,
    /** Counts the entry writes of some work, without the occasional writes of usage. */
    entryWritesOf: async (work: () => Promise<unknown>): Promise<number> => {
      entryWrites = 0;
      await work();
      return entryWrites;
    },
  };
}
let lambdas: Awaited<ReturnType<typeof importLambdas>>;
beforeAll(async () => {
  lambdas = await importLambdas();
});

const record = z.object({ id: z.string(), token: z.string() });

/** Creates an account, and acts for it. */
async function open() {
  const made = record.parse(await lambdas.createAccount(Buffer.from('{}')));
  const account = await lambdas.loadAccount(made.id, true);
  if (account === undefined) throw new Error('The account was not made.');
  return {
    ...lambdas,
    account,
    isPaused: async (name: string): Promise<boolean> => (await lambdas.getQueue(account, name)).paused,
    save: (name: string) => lambdas.putQueue(account, Buffer.from(JSON.stringify({ queueName: name }))),
    pause: (name: string) =>
      lambdas.handler(
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
    trail: async () => (await lambdas.readTrail(account, {})).entries,
    actions: async () => (await lambdas.readTrail(account, {})).entries.map(({ action }) => action),
    rows: async (): Promise<number> => {
      let rows = 0;
      for await (const _ of lambdas.listEntries(account.id, { behind: undefined })) rows += 1;
      return rows;
    },
  };
}

describe('the audit trail', () => {
  itAtEachDeath('has an entry of each change that a dying process has made', async (fate) => {
    const owner = await open();
    await owner.save('mail');
    owner.setFate(fate);
    await owner.pause('mail').catch(() => undefined);
    owner.setFate(undefined);
    const entry = (await owner.trail()).find(({ action }) => action === 'queue.pause');
    const isPaused = await owner.isPaused('mail');
    if (isPaused) expect(entry).toBeDefined();
    // The changed fields are added by a second write, which a death may prevent.
    if (entry?.changes === undefined) return;
    expect(entry.changes).toEqual([{ field: 'paused', before: 'false', after: 'true' }]);
    expect(isPaused).toBe(true);
  });

  itAtEachDeath('has an entry of each change of an account that a dying process has made', async (fate) => {
    const owner = await open();
    owner.setFate(fate);
    await owner.updateAccount(owner.account.id, Buffer.from('{"budget":5}')).catch(() => undefined);
    owner.setFate(undefined);
    const isMade = (await owner.loadAccount(owner.account.id, true))?.budget === 5;
    if (isMade) expect(await owner.actions()).toContain('account.change');
  });

  it('costs one write for a change, and removes a refused change’s entry', async () => {
    stopClock();
    const owner = await open();
    await owner.save('mail');
    const writesOf = async (work: () => Promise<unknown>): Promise<number> =>
      (await owner.callsOf(work)).filter((name) => name === 'UpdateItem').length;
    await owner.pause('mail');
    const { length } = await owner.trail();
    // The first requests may write usage, too.
    expect(await writesOf(() => owner.pause('mail'))).toBeLessThanOrEqual(2);
    expect(await owner.trail()).toHaveLength(length);
    await owner.pause('nothing');
    expect(await owner.trail()).toHaveLength(length);
    expect(await owner.rows()).toBe(length + 1);
  });

  it('costs one more write if a fact becomes known only after the change', async () => {
    stopClock();
    const owner = await open();
    await owner.save('mail');
    await owner.save('post');
    await owner.pause('post');
    expect(await owner.entryWritesOf(() => owner.pause('mail'))).toBe(2);
    // The queue is already paused.
    expect(await owner.entryWritesOf(() => owner.pause('mail'))).toBe(1);
    const entryOf = async (action: string, subject: string) =>
      (await owner.trail()).find((one) => one.action === action && one.subject === subject);
    expect(await entryOf('queue.pause', 'mail')).toMatchObject({
      count: 2,
      changes: [{ field: 'paused', before: 'false', after: 'true' }],
    });
    // The account’s fields are in the first write.
    const change = () => owner.updateAccount(owner.account.id, Buffer.from('{"budget":5}'));
    expect(await owner.entryWritesOf(change)).toBe(1);
    const budget = [{ field: 'budget', before: '0', after: '5' }];
    expect(await entryOf('account.change', 'budget')).toMatchObject({ changes: budget });
  });

  it('has one entry for repetitions within a minute, and another one for the next minute', async () => {
    stopClock();
    const owner = await open();
    for (const name of ['mail', 'post']) await owner.save(name);
    for (let times = 0; times < 3; times += 1) {
      await owner.pause('mail');
      vi.setSystemTime(Date.now() + 1_000);
    }
    await owner.pause('post');
    // A refused repetition does not count and removes no other.
    await owner.pause('nothing');
    vi.setSystemTime(Date.now() + 60_000);
    await owner.pause('mail');
    const pauses = (await owner.trail()).filter(({ action }) => action === 'queue.pause');
    expect(pauses.map(({ subject, count }) => [subject, count])).toEqual([
      ['mail', undefined],
      ['post', undefined],
      ['mail', 3],
    ]);
  });

  it('cannot be filled: an account’s entries in a day are limited to its daily messages, or a hundred', async () => {
    stopClock();
    const owner = await open();
    const hard = { max_requests_per_day: 2, max_requests_per_day_hard: 2 };
    await owner.updateAccount(owner.account.id, Buffer.from(JSON.stringify(hard)));
    for (const name of ['a', 'b']) await owner.save(name);
    expect((await owner.pause('a')).statusCode).toBe(200);
    // Refused changes are written first, too. All are in one minute, and within the limit of a second.
    for (let number = 1; number < 100; number += 1) {
      vi.setSystemTime(Date.now() + 100);
      await owner.pause(`none-${number}`);
    }
    expect([(await owner.pause('a')).statusCode, (await owner.pause('b')).statusCode]).toEqual([200, 429]);
    expect(await owner.isPaused('b')).toBe(false);
    const own = (await owner.trail()).filter(({ actor }) => actor === 'token');
    expect(own.map(({ subject, count }) => [subject, count])).toEqual([['a', 2]]);
  });

  it('drops an entry after 90 days, even if its row still exists', async () => {
    const owner = await open();
    await owner.save('mail');
    await owner.pause('mail');
    expect(await owner.actions()).toContain('queue.pause');
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 90 * 86_400_000 + 60_000 });
    expect(await owner.actions()).toEqual([]);
  });
});
