import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import * as z from 'zod/mini';
import { setClockAhead } from '../../support/clockAhead.ts';
import { itAtEachDeath } from '../../support/faults.ts';
import { openFixture, type Fixture } from '../../support/fixture.ts';

let fixture: Fixture;
let batch: (items: unknown) => Promise<readonly unknown[]>;
let addGroup: (name: string, url: string, endpoints: number) => Promise<void>;
beforeAll(async () => {
  fixture = await openFixture();
  const [service, groups] = await Promise.all([
    import('../../../lambdas/publish/batch.ts'),
    import('../../../lambdas/urlGroup/endpoints.ts'),
  ]);
  const common = { prefix: 'Svc', host: 'api.example.com' };
  const bytes = (value: unknown): Uint8Array => Buffer.from(JSON.stringify(value));
  batch = (items) => service.batch(fixture.account, { ...common, body: bytes(items), callerIp: '127.0.0.1' });
  addGroup = async (name, url, count) => {
    const endpoints = Array.from({ length: count }, (_, number) => ({ url: `${url}/${number}` }));
    await groups.addEndpoints(fixture.account, { ...common, name, body: bytes({ endpoints }) });
  };
  await addGroup('hundred', fixture.receiver.origin, 100);
});
afterAll(() => fixture.close());
beforeEach(async () => {
  await fixture.drain();
  fixture.reset();
});
afterEach(() => {
  vi.restoreAllMocks();
});

const published = z.array(z.object({ messageId: z.string(), url: z.optional(z.string()) }));

describe('a batch of 100', () => {
  it('is stored with writes of 25 and sent with calls of 10', async () => {
    const url = fixture.receiver.inbox().url;
    const answers = published.parse(await batch(Array.from({ length: 100 }, () => ({ destination: url }))));
    expect(new Set(answers.map(({ messageId }) => messageId)).size).toBe(100);
    expect(fixture.callsOf('BatchWriteItemCommand')).toBe(4);
    expect(fixture.callsOf('SendMessageBatchCommand')).toBe(10);
    // One more call reserves room, and another may read the account’s usage.
    expect(fixture.calls() - 4 - 10).toBeOneOf([1, 2]);
  });

  it('to one group reads the group once', async () => {
    await batch([{ destination: 'hundred' }, { destination: 'hundred' }]);
    expect(fixture.callsOf('GetItemCommand')).toBe(1);
    expect(fixture.callsOf('BatchWriteItemCommand')).toBe(8);
    expect(fixture.callsOf('SendMessageBatchCommand')).toBe(20);
  });
});

describe('a group of endpoints', () => {
  it('with 100 endpoints is written with 4 calls and sent with 10', async () => {
    const { body } = await fixture.publish('hundred');
    expect(published.parse(body).map(({ url }) => url)).toEqual(
      Array.from({ length: 100 }, (_, number) => `${fixture.receiver.origin}/${number}`),
    );
    expect(fixture.calls() - 4 - 10 - 1).toBeOneOf([1, 2]);
  });

  it.each(['BatchWriteItemCommand', 'SendMessageBatchCommand'])(
    'is not accepted at all if %s fails',
    async (operation) => {
      const inbox = fixture.receiver.inbox();
      await addGroup(`refused-${operation}`, inbox.url, 12);
      fixture.refuse(operation);
      await expect(fixture.publish(`refused-${operation}`)).rejects.toMatchObject({ status: 503 });
      fixture.reset();
      // After this time, workers no longer wait for missing rows.
      setClockAhead(60_000);
      await fixture.doJobs();
      expect(inbox.deliveries).toHaveLength(0);
    },
  );

  /** Enough for two writes of 25, and several batches of 10. */
  const several = 26;

  itAtEachDeath(
    'is accepted by all or none when any of its AWS calls fails',
    async (fate) => {
      const inbox = fixture.receiver.inbox();
      await addGroup(fate.name, inbox.url, several);
      const answer = await fixture.underFate(fate, () => fixture.publish(fate.name));
      setClockAhead(60_000);
      await fixture.doJobs();
      expect(inbox.deliveries.length).toBe(answer === undefined ? 0 : several);
    },
    { survived: true },
  );
});

describe('an item that cannot be stored', () => {
  it('does not hold back the others', async () => {
    const answers = await batch([
      { destination: fixture.receiver.origin },
      { destination: fixture.receiver.origin, headers: { 'X-Large': 'x'.repeat(450_000) } },
      { destination: fixture.receiver.origin, headers: { 'X-Lines': 'a\nb', 'Svc-Header-Forward': 'true' } },
    ]);
    const error = expect.stringContaining('[2].headers.X-Lines is not a valid HTTP header') as unknown;
    expect(answers).toEqual([
      { messageId: expect.any(String) as unknown },
      { status: 400, code: 'field_invalid', error: '[1].headers have 450007 bytes; allowed are 10240.' },
      { status: 400, code: 'field_invalid', error },
    ]);
    // Earlier tests have left jobs of messages that could not be written.
    const { messageId } = z.object({ messageId: z.string() }).parse(answers[0]);
    expect((await fixture.drain()).filter((job) => JSON.stringify(job).includes(messageId))).toHaveLength(1);
  });
});
