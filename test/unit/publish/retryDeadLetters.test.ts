import { describe, expect, it, vi } from 'vitest';
import { itAtEachDeath } from '../../support/faults.ts';
import { noFilter } from '../../support/filters.ts';
import type { Inbox } from '../../support/receiver.ts';
import { useFixture } from '../../support/useFixture.ts';
import { configOf, idsOf, type Fixture } from '../../support/fixture.ts';
import { sizeOf } from '../../support/sample.ts';

let fixture: Fixture;
const importServices = async () => ({
  ...(await import('../../../lambdas/deadLetter/deadLetters.ts')),
  ...(await import('../../../lambdas/publish/retryDeadLetters.ts')),
});
const importStores = () => import('../../../lambdas/deadLetter/rows.ts');
let services: Awaited<ReturnType<typeof importServices>>;
let stores: Awaited<ReturnType<typeof importStores>>;
useFixture(async (opened) => {
  fixture = opened;
  [services, stores] = await Promise.all([importServices(), importStores()]);
});

/** Lets a minute pass, after which an earlier retrying process counts as dead. */
function later(): void {
  const { now } = Date;
  vi.spyOn(Date, 'now').mockImplementation(() => now() + 60_000);
}

const asItWas = { prefix: 'Svc', config: configOf({}), host: 'api.example.com' };
const retryAll = (ids: readonly string[], request = asItWas) =>
  services.retryDeadLetters(fixture.account, { ...noFilter, ids }, request);

interface FailedMessages {
  /** Fails each message’s first delivery. */
  readonly inbox: Inbox;
  readonly dlqIds: readonly string[];
}

async function deadLetters(count: number): Promise<FailedMessages> {
  const seen = new Set<string>();
  const inbox = fixture.receiver.inbox(({ body }, response) => {
    const text = body.toString();
    response.writeHead(seen.has(text) ? 200 : 500).end();
    seen.add(text);
  });
  const failed = new Set<string>();
  for (let number = 0; number < count; number += 1) {
    failed.add(await fixture.send(inbox.url, { retries: '0' }, `work ${number}`));
  }
  await fixture.doJobs();
  const { messages } = await services.listDeadLetters(fixture.account, {
    ...noFilter,
    values: new Map([['url', new Set([inbox.url])]]),
  });
  expect(new Set(messages.map(({ messageId }) => messageId))).toEqual(failed);
  fixture.reset();
  return { inbox, dlqIds: messages.map(({ dlqId }) => dlqId) };
}

const isThere = async (dlqId: string): Promise<boolean> =>
  (await stores.loadDeadLetter(fixture.account.id, dlqId, Date.now())) !== undefined;

describe('simultaneous retries of the same entries', () => {
  it('make one new message of each with one attempt, and all answers have its id', async () => {
    const { inbox, dlqIds } = await deadLetters(6);
    // Stopped, so that no process counts as dead on a slow machine.
    vi.spyOn(Date, 'now').mockReturnValue(Date.now());
    const answers = await Promise.all(
      Array.from({ length: sizeOf({ ordinary: 5, thorough: 50 }) }, () => retryAll(dlqIds)),
    );
    const retried = new Set(answers.flatMap(({ responses }) => responses.map(({ messageId }) => messageId)));
    expect(retried.size).toBe(6);
    expect(answers.some(({ responses }) => responses.length === 6)).toBe(true);
    // One attempt each, because workers with two jobs at once would both deliver.
    const sent = await fixture.drain();
    expect(sent.map((job) => (job.kind === 'attempt' ? job.messageId : job.kind)).sort()).toEqual(
      [...retried].sort(),
    );
    await Promise.all(sent.map((job) => fixture.perform(job, { isAgain: false })));
    expect(inbox.deliveries).toHaveLength(12);
    expect(idsOf(inbox.deliveries.slice(6))).toEqual(retried);
    expect(await Promise.all(dlqIds.map(isThere))).not.toContain(true);
  });

  it('of one entry are answered with one id or 404', async () => {
    const { inbox, dlqIds } = await deadLetters(1);
    const [dlqId = ''] = dlqIds;
    const answers = await Promise.allSettled(
      Array.from({ length: 20 }, () => services.retryDeadLetter(fixture.account, dlqId, asItWas)),
    );
    const ids = answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value.messageId] : []));
    expect(new Set(ids).size).toBe(1);
    for (const answer of answers) {
      if (answer.status === 'rejected') expect(answer.reason).toMatchObject({ status: 404 });
    }
    await fixture.doJobs();
    expect(inbox.deliveries).toHaveLength(2);
  });

  it('in one request with a repeated id make one message', async () => {
    const { inbox, dlqIds } = await deadLetters(2);
    const { responses } = await retryAll([...dlqIds, ...dlqIds]);
    expect(responses).toHaveLength(2);
    await fixture.doJobs();
    expect(inbox.deliveries).toHaveLength(4);
  });
});

describe('a retry whose process dies', () => {
  itAtEachDeath('at any of its AWS calls loses no entry and delivers none as two messages', async (fate) => {
    const { inbox, dlqIds } = await deadLetters(2);
    await fixture.underFate(fate, () => retryAll(dlqIds));
    later();
    await retryAll(dlqIds);
    await fixture.doJobs();
    const ids = [...idsOf(inbox.deliveries)].flatMap((id) => id ?? []);
    expect(ids).toHaveLength(4);
    expect(await Promise.all(dlqIds.map(isThere))).toEqual([false, false]);
    // Each message names its original, which names the new message.
    const messages = new Map(
      await Promise.all(
        ids.map(async (messageId) => {
          const history = await fixture.loadMessage({ accountId: fixture.account.id, messageId });
          return [messageId, history?.message] as const;
        }),
      ),
    );
    const made = [...messages.values()].filter((message) => message?.retriedFrom !== undefined);
    expect(made).toHaveLength(2);
    for (const message of made) {
      expect(messages.get(message?.retriedFrom ?? '')?.retriedAs).toBe(message?.messageId);
    }
  });
});

describe('a retry that cannot be stored', () => {
  it.each(['BatchWriteItemCommand', 'SendMessageBatchCommand'])(
    'because %s fails is refused, and the entry stays until a retry succeeds',
    async (operation) => {
      const { inbox, dlqIds } = await deadLetters(1);
      const [dlqId = ''] = dlqIds;
      fixture.refuse(operation);
      await expect(services.retryDeadLetter(fixture.account, dlqId, asItWas)).rejects.toMatchObject({
        status: 503,
      });
      fixture.reset();
      expect(await isThere(dlqId)).toBe(true);
      later();
      const { messageId } = await services.retryDeadLetter(fixture.account, dlqId, asItWas);
      await fixture.doJobs();
      expect(idsOf(inbox.deliveries.slice(1))).toEqual(new Set([messageId]));
      expect(await isThere(dlqId)).toBe(false);
    },
  );

  it('because its headers are wrong is refused before anything is read', async () => {
    const wrong = { ...asItWas, config: configOf({ retries: 'many' }) };
    await expect(retryAll([], wrong)).rejects.toMatchObject({ status: 400 });
    expect(fixture.calls()).toBe(0);
  });
});
