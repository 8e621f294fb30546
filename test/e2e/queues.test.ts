import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { makeAccount, type AccountRecord } from '../support/accounts.ts';
import { api, ok } from '../support/api.ts';
import { limitForHangsMs } from '../support/limits.ts';
import { messageIdOf, type Answer } from '../support/publish.ts';
import { startReceiver, type Receiver } from '../support/receiver.ts';
import { expectRefusal } from '../support/refusals.ts';

let receiver: Receiver;
let account: AccountRecord;
beforeAll(async () => {
  receiver = await startReceiver();
  account = await makeAccount({ max_queues: 50, max_parallelism: 7 });
});
afterAll(() => receiver.close());

const somewhere = 'https://example.com/hook';

const queueShape = z.strictObject({
  name: z.string(),
  createdAt: z.number(),
  updatedAt: z.number(),
  parallelism: z.number(),
  paused: z.boolean(),
  lag: z.number(),
  oldestAt: z.optional(z.number()),
});

type Owner = Pick<AccountRecord, 'token'>;

const put = (body: unknown, { token }: Owner = account): Promise<Answer> =>
  api('POST', '/v2/queues', { token, body });
const get = (name: string, { token }: Owner = account): Promise<Answer> =>
  api('GET', `/v2/queues/${name}`, { token });
const remove = (name: string, { token }: Owner = account): Promise<Answer> =>
  api('DELETE', `/v2/queues/${name}`, { token });
const turn = (name: string, action: string, { token }: Owner = account): Promise<Answer> =>
  api('POST', `/v2/queues/${name}/${action}`, { token });
const shown = async (name: string, owner?: Owner) => queueShape.parse(await ok(get(name, owner)));
const list = async ({ token }: Owner = account) =>
  z.array(queueShape).parse(await ok(api('GET', '/v2/queues', { token })));
const namesOf = async (owner: Owner): Promise<readonly string[]> =>
  (await list(owner)).map(({ name }) => name);

const enqueue = (
  name: string,
  destination: string,
  { token }: Owner,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> => api('POST', `/v2/enqueue/${name}/${destination}`, { token, headers });

const later = { 'Svc-Delay': '1h' };

const logs = z.object({ logs: z.array(z.looseObject({ messageId: z.string() })) });
const messagesOf = async ({ token }: Owner): Promise<number> =>
  logs.parse(await ok(api('GET', '/v2/logs?state=CREATED', { token }))).logs.length;

const tooMany = (number: number): string =>
  `The queue would be number ${number}, but the account's limit max_queues is ${number - 1}.`;

describe('a queue', () => {
  it('is created, with a parallelism of 1 by default', async () => {
    const before = Date.now();
    expect(await ok(put({ queueName: 'plain' }))).toEqual({});
    await ok(put({ queueName: 'wide', parallelism: 7 }));
    const plain = await shown('plain');
    expect(plain).toMatchObject({ name: 'plain', parallelism: 1, paused: false, lag: 0 });
    expect(await shown('wide')).toMatchObject({ name: 'wide', parallelism: 7, paused: false });
    expect(plain.updatedAt).toBe(plain.createdAt);
    expect(Math.abs(plain.createdAt - before)).toBeLessThan(limitForHangsMs);
  });

  it('is changed by another request, which keeps what it does not name', async () => {
    await ok(put({ queueName: 'changed', parallelism: 2 }));
    const before = await shown('changed');
    await ok(put({ queueName: 'changed', parallelism: 3 }));
    const after = await shown('changed');
    expect(after).toMatchObject({ createdAt: before.createdAt, parallelism: 3 });
    expect(after.updatedAt).toBeGreaterThan(before.updatedAt);
    await ok(put({ queueName: 'changed', paused: true }));
    expect(await shown('changed')).toMatchObject({ parallelism: 3, paused: true });
    await ok(put({ queueName: 'changed' }));
    expect(await shown('changed')).toMatchObject({ parallelism: 3, paused: true });
    await ok(put({ queueName: 'changed', paused: false }));
    expect(await shown('changed')).toMatchObject({ parallelism: 3, paused: false });
  });

  it('is listed with the others of its account, by name', async () => {
    const [owner, other] = [await makeAccount(), await makeAccount()];
    for (const queueName of ['b', 'a.B_-1', 'c']) await ok(put({ queueName }, owner));
    expect(await list(owner)).toEqual(
      await Promise.all(['a.B_-1', 'b', 'c'].map((name) => shown(name, owner))),
    );
    expect(await list(other)).toEqual([]);
    expect((await get('b', other)).status).toBe(404);
    expect((await remove('b', other)).status).toBe(404);
    await shown('b', owner);
  });

  it('is deleted', async () => {
    await ok(put({ queueName: 'gone' }));
    expect(await ok(remove('gone'))).toEqual({});
    for (const answer of [await get('gone'), await remove('gone')]) {
      await expectRefusal(answer, 404, 'There is no queue "gone".');
    }
  });

  it.each<[name: string, status: number, says: RegExp]>([
    ['missing', 404, /^There is no queue "missing"/],
    ['not$a$name', 400, /^The name of the queue is "not\$a\$name"; allowed are 1 to 128 letters/],
    ['%C3%BC', 400, /^The name of the queue is "ü"/],
  ])('named %s is refused with %i', async (name, status, says) => {
    const answers = [await get(name), await remove(name)];
    for (const action of ['pause', 'resume']) answers.push(await turn(name, action));
    for (const answer of answers) {
      await expectRefusal(answer, status, says);
    }
  });

  const allowed = 'allowed is \\{"queueName", "parallelism"\\?, "paused"\\?, "circuit"\\?\\}';

  it.each<[body: unknown, status: number, says: RegExp]>([
    [undefined, 400, /^The body is not JSON\.$/],
    [{}, 400, new RegExp(`^queueName: .*${allowed}`)],
    [{ queueName: 'x'.repeat(129) }, 400, /^queueName is "x+\.\.\."; allowed are/],
    [{ queueName: 'refused', parallelism: 1.5 }, 400, new RegExp(`^parallelism: .*${allowed}`)],
    [{ queueName: 'refused', colour: 'red' }, 400, new RegExp(`^colour: .*${allowed}`)],
    [
      { queueName: 'refused', parallelism: 8 },
      412,
      /^parallelism is 8, but the account's limit max_parallelism is 7\.$/,
    ],
  ])('of %j is refused, and not there', async (body, status, says) => {
    await expectRefusal(put(body), status, says);
    expect((await get('refused')).status).toBe(404);
  });
});

describe('a missing queue', () => {
  it('is created by an enqueue to a URL or a group, and not changed by the next one', async () => {
    const owner = await makeAccount();
    messageIdOf(await enqueue('first', somewhere, owner, later));
    const queue = await shown('first', owner);
    expect(queue).toMatchObject({ name: 'first', parallelism: 1 });
    await ok(put({ queueName: 'first', parallelism: 5 }, owner));
    messageIdOf(await enqueue('first', somewhere, owner, later));
    expect(await shown('first', owner)).toMatchObject({ createdAt: queue.createdAt, parallelism: 5 });
    const inGroup = { endpoints: [{ url: somewhere }, { url: `${somewhere}/2` }] };
    await ok(api('POST', '/v2/topics/group/endpoints', { token: owner.token, body: inGroup }));
    expect((await enqueue('second', 'group', owner, later)).status).toBe(200);
    expect(await namesOf(owner)).toEqual(['first', 'second']);
  });

  it('is created by a batch and by a schedule', async () => {
    const owner = await makeAccount();
    const items = ['one', 'two', 'one', undefined].map((queue) => ({
      destination: somewhere,
      queue,
      headers: later,
    }));
    await ok(api('POST', '/v2/batch', { token: owner.token, body: items }));
    expect(await namesOf(owner)).toEqual(['one', 'two']);
    const headers = { 'Svc-Cron': '0 0 29 2 *', 'Svc-Queue-Name': 'three' };
    await ok(api('POST', `/v2/schedules/${somewhere}`, { token: owner.token, headers }));
    expect(await namesOf(owner)).toEqual(['one', 'three', 'two']);
  });

  it('is not created by a refused request', async () => {
    const owner = await makeAccount({ max_retries: 2, max_schedules: 0 });
    const many = { 'Svc-Retries': '3' };
    expect((await enqueue('refused', somewhere, owner, many)).status).toBe(412);
    expect((await enqueue('refused', 'unknown-group', owner)).status).toBe(404);
    expect((await enqueue('refused', 'http://10.0.0.1/', owner)).status).toBe(403);
    const items = [{ destination: somewhere, queue: 'refused', headers: many }];
    await ok(api('POST', '/v2/batch', { token: owner.token, body: items }));
    const headers = { 'Svc-Cron': '0 0 29 2 *', 'Svc-Queue-Name': 'refused' };
    await expectRefusal(
      api('POST', `/v2/schedules/${somewhere}`, { token: owner.token, headers }),
      412,
      'max_schedules is 0',
    );
    expect(await namesOf(owner)).toEqual([]);
  });
});

describe('the limit max_queues', () => {
  /** Creates an account with its only allowed queue. */
  async function full(): Promise<AccountRecord> {
    const owner = await makeAccount({ max_queues: 1, max_requests_per_day_hard: 10_000_000 });
    await ok(put({ queueName: 'only' }, owner));
    return owner;
  }

  async function expectOnly(owner: AccountRecord, messages: number): Promise<void> {
    expect(await namesOf(owner)).toEqual(['only']);
    expect(await messagesOf(owner)).toBe(messages);
  }

  it('refuses to create one more, but existing ones can be changed and replaced', async () => {
    const owner = await full();
    await expectRefusal(put({ queueName: 'more' }, owner), 412, tooMany(2));
    await ok(put({ queueName: 'only', parallelism: 2 }, owner));
    await expectOnly(owner, 0);
    await ok(remove('only', owner));
    await ok(put({ queueName: 'more' }, owner));
    expect(await namesOf(owner)).toEqual(['more']);
  });

  it('refuses messages and schedules that need one more, and accepts those for existing ones', async () => {
    const owner = await full();
    const inbox = receiver.inbox();
    const deduplicated = { 'Svc-Deduplication-Id': 'once' };
    await expectRefusal(enqueue('more', inbox.url, owner, deduplicated), 412, tooMany(2));
    messageIdOf(await enqueue('only', inbox.url, owner, deduplicated));
    const [delivery] = await inbox.received(1);
    expect(delivery?.headers['svc-queue-name']).toBe('only');

    const queues = ['more', 'only', undefined, 'other', 'more'];
    const items = queues.map((queue) => ({ destination: somewhere, queue, headers: later }));
    const answers = z
      .array(z.looseObject({}))
      .parse(await ok(api('POST', '/v2/batch', { token: owner.token, body: items })));
    const refused = { status: 412, code: 'queue_limit_reached', error: tooMany(2) };
    expect([answers[0], answers[3], answers[4]]).toEqual([refused, refused, refused]);
    for (const index of [1, 2]) expect(answers[index]).toHaveProperty('messageId');

    const schedule = (queueName: string): Promise<Answer> =>
      api('POST', `/v2/schedules/${somewhere}`, {
        token: owner.token,
        headers: { 'Svc-Cron': '0 0 29 2 *', 'Svc-Schedule-Id': queueName, 'Svc-Queue-Name': queueName },
      });
    await expectRefusal(schedule('more'), 412, tooMany(2));
    await ok(schedule('only'));
    const { json } = await api('GET', '/v2/schedules', { token: owner.token });
    expect(json).toMatchObject([{ scheduleId: 'only', queueName: 'only' }]);
    await expectOnly(owner, 3);
  });
});
