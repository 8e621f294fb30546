import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { noFilter } from '../../support/filters.ts';
import type { Inbox } from '../../support/receiver.ts';
import { configOf, deathsAt, idsOf, openWorld, type World } from '../../support/world.ts';

let world: World;
const importServices = () => import('../../../lambdas/services/dlq.ts');
const importStores = () => import('../../../lambdas/stores/dlq.ts');
let dlq: Awaited<ReturnType<typeof importServices>>;
let stores: Awaited<ReturnType<typeof importStores>>;
beforeAll(async () => {
  world = await openWorld();
  [dlq, stores] = await Promise.all([importServices(), importStores()]);
});
afterAll(() => world.close());
beforeEach(() => {
  world.reset();
});
afterEach(() => {
  vi.restoreAllMocks();
});

/** Whoever was retrying before is dead by now. */
function later(): void {
  const { now } = Date;
  vi.spyOn(Date, 'now').mockImplementation(() => now() + 60_000);
}

const asItWas = { prefix: 'Svc', config: configOf({}), host: 'api.example.com' };
const retryAll = (ids: readonly string[], request = asItWas) =>
  dlq.retryDlqEntries(world.account, { ...noFilter, ids }, request);

interface Scene {
  /** Fails each message's first delivery. */
  readonly inbox: Inbox;
  readonly dlqIds: readonly string[];
}

async function deadLetters(count: number): Promise<Scene> {
  const seen = new Set<string>();
  const inbox = world.receiver.inbox(({ body }, response) => {
    const text = body.toString();
    response.writeHead(seen.has(text) ? 200 : 500).end();
    seen.add(text);
  });
  const failed = new Set<string>();
  for (let number = 0; number < count; number += 1) {
    failed.add(await world.send(inbox.url, { retries: '0' }, `work ${number}`));
  }
  await world.work();
  const { messages } = await dlq.listDlq(world.account, {
    ...noFilter,
    values: new Map([['url', new Set([inbox.url])]]),
  });
  expect(new Set(messages.map(({ messageId }) => messageId))).toEqual(failed);
  world.reset();
  return { inbox, dlqIds: messages.map(({ dlqId }) => dlqId) };
}

const isThere = async (dlqId: string): Promise<boolean> =>
  (await stores.loadDeadLetter(world.account.id, dlqId, Date.now())) !== undefined;

describe('retries of the same entries at the same time', { timeout: 30_000 }, () => {
  it('make one new message of each, with one pointer, and tell everybody its id', async () => {
    const { inbox, dlqIds } = await deadLetters(20);
    const answers = await Promise.all(Array.from({ length: 50 }, () => retryAll(dlqIds)));
    const retried = new Set(answers.flatMap(({ responses }) => responses.map(({ messageId }) => messageId)));
    expect(retried.size).toBe(20);
    expect(answers.some(({ responses }) => responses.length === 20)).toBe(true);
    // One pointer each: workers that get two at once would both deliver.
    const pointers = await world.drain();
    expect(pointers.map(({ messageId }) => messageId).sort()).toEqual([...retried].sort());
    await Promise.all(pointers.map(world.deliver));
    expect(inbox.deliveries).toHaveLength(40);
    expect(idsOf(inbox.deliveries.slice(20))).toEqual(retried);
    expect(await Promise.all(dlqIds.map(isThere))).not.toContain(true);
  });

  it('of one entry answer one id or that it is not there', async () => {
    const { inbox, dlqIds } = await deadLetters(1);
    const [dlqId = ''] = dlqIds;
    const answers = await Promise.allSettled(
      Array.from({ length: 20 }, () => dlq.retryDlqEntry(world.account, dlqId, asItWas)),
    );
    const ids = answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value.messageId] : []));
    expect(new Set(ids).size).toBe(1);
    for (const answer of answers) {
      if (answer.status === 'rejected') expect(answer.reason).toMatchObject({ status: 404 });
    }
    await world.work();
    expect(inbox.deliveries).toHaveLength(2);
  });

  it('in one request, by an id that is there twice, make one message', async () => {
    const { inbox, dlqIds } = await deadLetters(2);
    const { responses } = await retryAll([...dlqIds, ...dlqIds]);
    expect(responses).toHaveLength(2);
    await world.work();
    expect(inbox.deliveries).toHaveLength(4);
  });
});

describe('a retry whose process dies', () => {
  it.each(deathsAt(9))(
    '$when its AWS call $call loses no entry and delivers none as two messages',
    async (death) => {
      const { inbox, dlqIds } = await deadLetters(2);
      world.reset(death);
      await retryAll(dlqIds).catch(() => undefined);
      world.reset();
      later();
      await retryAll(dlqIds);
      await world.work();
      expect(idsOf(inbox.deliveries).size).toBe(4);
      expect(await Promise.all(dlqIds.map(isThere))).toEqual([false, false]);
    },
  );

  it('makes so many AWS calls', async () => {
    const { dlqIds } = await deadLetters(2);
    await retryAll(dlqIds);
    // Two entries: read, claim, read the message, remove; and for both, write the rows and send the pointers.
    expect(world.calls()).toBe(10);
  });
});

describe('a retry that cannot be stored', () => {
  it.each(['BatchWriteItemCommand', 'SendMessageBatchCommand'])(
    'because %s fails is refused, and stays in the queue until a retry succeeds',
    async (operation) => {
      const { inbox, dlqIds } = await deadLetters(1);
      const [dlqId = ''] = dlqIds;
      world.refuse(operation);
      await expect(dlq.retryDlqEntry(world.account, dlqId, asItWas)).rejects.toMatchObject({ status: 503 });
      world.reset();
      expect(await isThere(dlqId)).toBe(true);
      later();
      const { messageId } = await dlq.retryDlqEntry(world.account, dlqId, asItWas);
      await world.work();
      expect(idsOf(inbox.deliveries.slice(1))).toEqual(new Set([messageId]));
      expect(await isThere(dlqId)).toBe(false);
    },
  );

  it('because its headers are wrong is refused before anything is looked at', async () => {
    const wrong = { ...asItWas, config: configOf({ retries: 'many' }) };
    await expect(retryAll([], wrong)).rejects.toMatchObject({ status: 400 });
    expect(world.calls()).toBe(0);
  });
});
