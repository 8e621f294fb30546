import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { makeAccount, publishAs, type AccountRecord } from '../support/accounts.ts';
import { api, ok, unique } from '../support/api.ts';
import { eventually } from '../support/eventually.ts';
import { bodiesOf, heldInbox } from '../support/heldInbox.ts';
import { messageIdOf, publish, service, type Answer } from '../support/publish.ts';
import { useReceiver } from '../support/useReceiver.ts';
import { expectRefusal } from '../support/refusals.ts';

const receiver = useReceiver();

const keyShape = z.strictObject({
  flowControlKey: z.string(),
  waitListSize: z.number(),
  oldestAt: z.optional(z.number()),
  parallelismMax: z.number(),
  parallelismCount: z.number(),
  rateMax: z.number(),
  rateCount: z.number(),
  ratePeriod: z.number(),
  ratePeriodStart: z.number(),
  isPaused: z.boolean(),
  isPinnedParallelism: z.boolean(),
  isPinnedRate: z.boolean(),
});
type Key = z.infer<typeof keyShape>;
type Owner = Pick<AccountRecord, 'token'>;

const pathOf = (key: string, operation = ''): string =>
  `/v2/flowControl/${encodeURIComponent(key)}${operation}`;
const get = (key: string, { token }: Owner = service): Promise<Answer> => api('GET', pathOf(key), { token });
const change = (key: string, operation: string, { token }: Owner = service): Promise<Answer> =>
  api('POST', pathOf(key, `/${operation}`), { token });
const list = async (query = '', { token }: Owner = service): Promise<readonly Key[]> =>
  z.array(keyShape).parse(await ok(api('GET', `/v2/flowControl${query}`, { token })));
const shown = async (key: string, owner?: Owner): Promise<Key> => keyShape.parse(await ok(get(key, owner)));
const becomes = (key: string, holds: (shownKey: Key) => boolean): Promise<Key> =>
  eventually(() => shown(key), holds);

const headersOf = (key: string, value: string) => ({
  'Svc-Flow-Control-Key': key,
  'Svc-Flow-Control-Value': value,
});
const send = async (url: string, key: string, value: string, body = ''): Promise<string> =>
  messageIdOf(await publish(url, { headers: headersOf(key, value), body }));

async function makeKey(value: string, key = unique('key'), owner: Owner = service): Promise<string> {
  const inbox = receiver.inbox();
  messageIdOf(await publishAs(owner, inbox.url, { headers: headersOf(key, value) }));
  await inbox.received(1);
  return key;
}

/** Waits for a message without a key, which is after any that could start. */
async function probe(): Promise<void> {
  const inbox = receiver.inbox();
  messageIdOf(await publish(inbox.url));
  await inbox.received(1);
}

describe('a flow-control key', () => {
  it('shows its limits, what is in flight, what has started, and what waits', async () => {
    const inbox = heldInbox(receiver);
    const key = unique('key');
    const before = Math.floor(Date.now() / 1_000);
    for (const body of ['1', '2', '3']) await send(inbox.url, key, 'parallelism=2, rate=50, period=1h', body);
    await inbox.received(2);
    const found = await becomes(key, ({ waitListSize }) => waitListSize === 1);
    expect(found).toEqual({
      flowControlKey: key,
      waitListSize: 1,
      oldestAt: found.oldestAt,
      parallelismMax: 2,
      parallelismCount: 2,
      rateMax: 50,
      // A start that is delayed counts again when it is made.
      rateCount: found.rateCount,
      ratePeriod: 3_600,
      ratePeriodStart: found.ratePeriodStart,
      isPaused: false,
      isPinnedParallelism: false,
      isPinnedRate: false,
    });
    expect(found.oldestAt).toBeGreaterThanOrEqual(before * 1_000);
    expect(found.rateCount).toBeGreaterThanOrEqual(2);
    expect(found.ratePeriodStart).toBeGreaterThanOrEqual(before);
    expect(found.ratePeriodStart).toBeLessThanOrEqual(Date.now() / 1_000);
    inbox.letGo();
    await inbox.received(3);
    const after = await becomes(key, ({ parallelismCount }) => parallelismCount === 0);
    expect(after.waitListSize).toBe(0);
    expect(after.rateCount).toBeGreaterThanOrEqual(3);
  });

  it('can be shown, pinned and paused as soon as a message with it is accepted, even if that is due much later', async () => {
    const key = unique('key');
    const inbox = receiver.inbox();
    const headers = { ...headersOf(key, 'parallelism=2, rate=5'), 'Svc-Delay': '1h' };
    messageIdOf(await publish(inbox.url, { headers }));
    expect(await shown(key)).toMatchObject({ parallelismMax: 2, rateMax: 5, ratePeriod: 1, isPaused: false });
    await ok(change(key, 'pin?parallelism=1'));
    await ok(change(key, 'pause'));
    expect(await shown(key)).toMatchObject({ parallelismMax: 1, isPaused: true, isPinnedParallelism: true });
  });

  it('is listed by name with the others of its account, and found by a part of its name', async () => {
    const [owner, other] = [await makeAccount(), await makeAccount()];
    for (const key of ['tenant-b', 'tenant-a', 'Tenant-C', 'other']) await makeKey('rate=9', key, owner);
    const names = async (query?: string): Promise<readonly string[]> =>
      (await list(query, owner)).map(({ flowControlKey }) => flowControlKey);
    expect(await names()).toEqual(['Tenant-C', 'other', 'tenant-a', 'tenant-b']);
    expect(await names('?search=tenant-')).toEqual(['tenant-a', 'tenant-b']);
    expect(await names('?search=enant-')).toEqual(['Tenant-C', 'tenant-a', 'tenant-b']);
    expect(await names('?search=nowhere')).toEqual([]);
    expect(await list('', other)).toEqual([]);
    expect((await get('other', other)).status).toBe(404);
    expect((await change('other', 'pause', other)).status).toBe(404);
    expect((await shown('other', owner)).isPaused).toBe(false);
  });

  it.each([
    ['that no message has had is not there', 'missing', 404, /^There is no flow-control key "/],
    [
      'that no message can have is refused',
      'x'.repeat(3_000),
      400,
      /^The key is "x+.*; allowed are 1 to 256/,
    ],
  ])('%s', async (_title, key, status, says) => {
    const answers = [await get(key)];
    for (const operation of ['pause', 'resume', 'pin?rate=1', 'unpin?rate=true', 'resetRate', 'reset']) {
      answers.push(await change(key, operation));
    }
    for (const answer of answers) {
      await expectRefusal(answer, status, says);
    }
    expect((await get(key)).status).toBe(status);
  });

  // The emulator’s gateway decodes paths before it matches them, unlike API Gateway.
  it.runIf(service.target === 'local').each(['a/b?c#d', '100% a+b', 'ü\u{1f9fe}\n'])(
    'may be any text: %j',
    async (name) => {
      const key = `${name}${unique('')}`;
      const inbox = receiver.inbox();
      const query = new URLSearchParams({ 'svc-flow-control-key': key, 'svc-flow-control-value': 'rate=5' });
      // Like in a form, a plus is a space.
      messageIdOf(await publish(inbox.url, { query: query.toString().replaceAll('+', '%20') }));
      await inbox.received(1);
      await ok(change(key, 'pin?parallelism=2'));
      expect(await shown(key)).toMatchObject({ flowControlKey: key, parallelismMax: 2, rateMax: 5 });
      expect((await list(`?search=${encodeURIComponent(key)}`)).map((one) => one.flowControlKey)).toEqual([
        key,
      ]);
    },
  );
});

describe('a paused key', () => {
  it('holds its messages until it is resumed, and then starts them in order', async () => {
    const inbox = receiver.inbox();
    const key = await makeKey('parallelism=1');
    await ok(change(key, 'pause'));
    for (const [index, body] of ['1', '2', '3'].entries()) {
      await send(inbox.url, key, 'parallelism=1', body);
      await becomes(key, ({ waitListSize }) => waitListSize === index + 1);
    }
    expect(await shown(key)).toMatchObject({ isPaused: true, parallelismCount: 0 });
    await probe();
    expect(inbox.deliveries).toHaveLength(0);
    await ok(change(key, 'resume'));
    await inbox.received(3);
    expect(bodiesOf(inbox)).toEqual(['1', '2', '3']);
    expect(await becomes(key, ({ waitListSize }) => waitListSize === 0)).toMatchObject({ isPaused: false });
  });
});

describe('the limits of a key', () => {
  it('are kept while they are pinned, each separately, until they are unpinned', async () => {
    const key = await makeKey('parallelism=5, rate=50');
    expect(await ok(change(key, 'pin?parallelism=4'))).toEqual({});
    await makeKey('parallelism=6, rate=60', key);
    expect(await shown(key)).toMatchObject({
      ...{ parallelismMax: 4, isPinnedParallelism: true },
      ...{ rateMax: 60, ratePeriod: 1, isPinnedRate: false },
    });
    await ok(change(key, 'pin?rate=70&period=2m'));
    await makeKey('parallelism=8, rate=80', key);
    expect(await shown(key)).toMatchObject({
      ...{ parallelismMax: 4, isPinnedParallelism: true },
      ...{ rateMax: 70, ratePeriod: 120, isPinnedRate: true },
    });
    await ok(change(key, 'unpin?parallelism=true&rate=false'));
    expect(await shown(key)).toMatchObject({
      parallelismMax: 4,
      isPinnedParallelism: false,
      isPinnedRate: true,
    });
    await makeKey('parallelism=9, rate=90', key);
    expect(await shown(key)).toMatchObject({ parallelismMax: 9, rateMax: 70 });
    await ok(change(key, 'unpin?rate=true'));
    await makeKey('rate=95, period=3', key);
    expect(await shown(key)).toMatchObject({
      ...{ parallelismMax: 0, rateMax: 95, ratePeriod: 3 },
      ...{ isPinnedParallelism: false, isPinnedRate: false },
    });
  });

  it('start no more than the rate, whenever it is reset', async () => {
    const inbox = receiver.inbox();
    const key = unique('key');
    for (let number = 0; number < 5; number += 1) await send(inbox.url, key, 'rate=2, period=7d');
    // A delayed start counts again, so fewer may have started than the rate allows, but never more.
    await becomes(key, ({ waitListSize }) => waitListSize >= 3);
    await probe();
    expect(inbox.deliveries.length).toBeLessThanOrEqual(2);
    expect(await shown(key)).toMatchObject({ rateMax: 2, ratePeriod: 604_800 });
    let resets = 0;
    await eventually(
      async () => {
        await ok(change(key, 'resetRate'));
        resets += 1;
        return inbox.deliveries.length;
      },
      (deliveries) => {
        expect(deliveries).toBeLessThanOrEqual(2 + 2 * resets);
        return deliveries === 5;
      },
    );
    await ok(change(key, 'resetRate'));
    expect(await shown(key)).toMatchObject({ waitListSize: 0, rateCount: 0, ratePeriodStart: 0 });
  });

  it.each<[operation: string, status: number, says: RegExp]>([
    ['pin', 400, /^parallelism and rate are missing; allowed is at least one of them/],
    ['pin?parallelism=101', 412, /^parallelism is 101, but the account's limit max_parallelism is 100\.$/],
    ['pin?rate=1&speed=2', 400, /^"speed" is not a parameter here; allowed are parallelism, rate, period\.$/],
  ])('are not changed by %s', async (operation, status, says) => {
    const key = await makeKey('parallelism=3, rate=30');
    await expectRefusal(change(key, operation), status, says);
    expect(await shown(key)).toMatchObject({
      ...{ parallelismMax: 3, isPinnedParallelism: false },
      ...{ rateMax: 30, ratePeriod: 1, isPinnedRate: false },
    });
  });
});

describe('all deliveries of an account', () => {
  const globalShape = z.strictObject({ parallelismMax: z.number(), parallelismCount: z.number() });

  it('are limited and counted', async () => {
    const owner = await makeAccount({ max_global_parallelism: 2 });
    const counted = async (token = owner.token) =>
      globalShape.parse(await ok(api('GET', '/v2/globalParallelism', { token })));
    expect(await counted()).toEqual({ parallelismMax: 2, parallelismCount: 0 });
    const inbox = heldInbox(receiver);
    for (let number = 0; number < 3; number += 1) messageIdOf(await publishAs(owner, inbox.url));
    await inbox.received(2);
    await probe();
    expect(inbox.deliveries).toHaveLength(2);
    expect(await counted(owner.read_only_token)).toEqual({ parallelismMax: 2, parallelismCount: 2 });
    inbox.letGo();
    await inbox.received(3);
    await eventually(counted, ({ parallelismCount }) => parallelismCount === 0);
  });
});
