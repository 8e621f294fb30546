import { UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { EventEmitter, once } from 'node:events';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import * as z from 'zod/mini';
import type { Account } from '../../../lambdas/account/account.ts';
import { declareFault, itAtEachDeath } from '../../support/faults.ts';
import { idsOf, openFixture, type Fixture } from '../../support/fixture.ts';

let fixture: Fixture;
let batch: (account: Account, items: readonly object[]) => Promise<readonly unknown[]>;
let addGroup: (account: Account, name: string, urls: readonly string[]) => Promise<void>;
beforeAll(async () => {
  fixture = await openFixture();
  const [service, groups] = await Promise.all([
    import('../../../lambdas/publish/batch.ts'),
    import('../../../lambdas/urlGroup/endpoints.ts'),
  ]);
  addGroup = async (account, name, urls) => {
    const body = Buffer.from(JSON.stringify({ endpoints: urls.map((url) => ({ url })) }));
    await groups.addEndpoints(account, { name, body, prefix: 'Svc', host: 'api.example.com' });
  };
  batch = (account, items) =>
    service.batch(account, {
      body: Buffer.from(JSON.stringify(items)),
      prefix: 'Svc',
      callerIp: '127.0.0.1',
      host: 'api.example.com',
    });
});
afterAll(() => fixture.close());
beforeEach(() => {
  fixture.reset();
});
afterEach(() => {
  vi.restoreAllMocks();
});

const published = z.looseObject({ messageId: z.string() });

const claimed = z.object({
  TableName: z.string(),
  Item: z.object({ id: z.object({ S: z.string() }) }),
});

let ids = 0;
const newDeduplication = (): Record<string, string> => ({ 'deduplication-id': `id-${(ids += 1)}` });

/** Lets enough time pass that an earlier accepting process counts as dead. */
function laterBy(ms: number): void {
  const { now } = Date;
  vi.spyOn(Date, 'now').mockImplementation(() => now() + ms);
}

/** Stops the clock, so that no claiming process counts as dead on a slow machine. */
const stopClock = (time = Date.now()): unknown => vi.spyOn(Date, 'now').mockReturnValue(time);

/**
 * Pauses the first publisher before an AWS call of a kind.
 *
 * @returns once it is paused, a function that continues it and waits for its end
 */
async function standStillBefore<T>(operation: string, publish: () => Promise<T>): Promise<() => Promise<T>> {
  const events = new EventEmitter();
  const stands = once(events, 'stands');
  const goesOn = once(events, 'goesOn');
  let stood = false;
  const hold = async (name: string | undefined): Promise<void> => {
    if (name !== operation || stood) return;
    stood = true;
    events.emit('stands');
    await goesOn;
  };
  const { dynamodb, sqs } = fixture;
  const options = { step: 'initialize', name: 'hold', priority: 'high' } as const;
  const holding =
    <Args, Result>(
      next: (args: Args) => Promise<Result>,
      { commandName }: { readonly commandName?: string },
    ) =>
    async (args: Args): Promise<Result> => {
      await hold(commandName);
      return next(args);
    };
  dynamodb.middlewareStack.add(holding, options);
  sqs.middlewareStack.add(holding, options);
  onTestFinished(() => {
    dynamodb.middlewareStack.remove('hold');
    sqs.middlewareStack.remove('hold');
  });
  const published = publish();
  await Promise.race([stands, published]);
  expect(stood).toBe(true);
  return () => {
    events.emit('goesOn');
    return published;
  };
}

describe('messages with the same deduplication id', () => {
  it('published at the same time become one message, delivered once', async () => {
    const inbox = fixture.receiver.inbox();
    const config = newDeduplication();
    stopClock();
    const answers = await Promise.all(Array.from({ length: 10 }, () => fixture.publish(inbox.url, config)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array<number>(9).fill(202)]);
    const messageIds = answers.map(({ body }) => ('messageId' in body ? body.messageId : ''));
    expect(new Set(messageIds).size).toBe(1);
    // One attempt, because workers with two jobs at once would both deliver.
    expect(fixture.callsOf('SendMessageBatchCommand') + fixture.callsOf('SendMessageCommand')).toBe(1);
    await fixture.doJobs();
    expect(inbox.deliveries).toHaveLength(1);
    expect(idsOf(inbox.deliveries)).toEqual(new Set([messageIds[0]]));
  });

  it('published one after the other are delivered once, with any number of attempts, and cost two AWS calls', async () => {
    const inbox = fixture.receiver.inbox((_delivery, response, before) =>
      response.writeHead(before === 0 ? 500 : 200).end(),
    );
    const config = { ...newDeduplication(), 'retry-delay': '0' };
    // Usage is read once a minute.
    stopClock();
    await fixture.publish(inbox.url, config);
    fixture.reset();
    expect((await fixture.publish(inbox.url, config)).status).toBe(202);
    // One call claims the key; the other finds out whether the first message has failed or was cancelled.
    expect(fixture.calls()).toBe(2);
    await fixture.doJobs();
    expect((await fixture.publish(inbox.url, config)).status).toBe(202);
    await fixture.doJobs();
    expect(inbox.deliveries).toHaveLength(2);
  });

  it('in one batch become one message, and the rest of the batch is unaffected', async () => {
    const inbox = fixture.receiver.inbox();
    const other = fixture.receiver.inbox();
    const headers = { 'Svc-Deduplication-Id': 'twice-in-a-batch' };
    const answers = await batch(fixture.account, [
      { destination: inbox.url, headers },
      { destination: other.url },
      { destination: inbox.url, headers },
    ]);
    await fixture.doJobs();
    const [first, second, third] = z.array(published).parse(answers);
    expect(third).toEqual({ ...first, deduplicated: true });
    expect(second?.messageId).not.toBe(first?.messageId);
    expect(inbox.deliveries).toHaveLength(1);
    expect(other.deliveries).toHaveLength(1);
  });
});

describe('a first message that was not accepted', () => {
  itAtEachDeath('because its process died does not swallow the second', async (fate) => {
    const inbox = fixture.receiver.inbox();
    const config = newDeduplication();
    const first = await fixture.underFate(fate, () => fixture.publish(inbox.url, config));
    // The second message is delivered whether or not the first was accepted.
    if (first === undefined) laterBy(60_000);
    const second = await fixture.send(inbox.url, config);
    await fixture.doJobs();
    expect(idsOf(inbox.deliveries)).toEqual(new Set([second]));
  });

  itAtEachDeath(
    'does not take others with it that were published at the same time',
    async (fate) => {
      const inbox = fixture.receiver.inbox();
      const config = newDeduplication();
      const answer = await fixture.underFate(fate, () =>
        Promise.allSettled(Array.from({ length: 3 }, () => fixture.send(inbox.url, config))),
      );
      await fixture.doJobs();
      const outcomes = answer?.value ?? [];
      const accepted = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []));
      expect(new Set(accepted).size).toBeLessThanOrEqual(1);
      for (const messageId of accepted) expect(idsOf(inbox.deliveries)).toContain(messageId);
    },
    { survived: true },
  );
});

describe('a first publisher that pauses', () => {
  it.each([
    ['it has written its row', 'BatchWriteItemCommand', 1],
    ['it has sent its work', 'SendMessageBatchCommand', 0],
    ['it has confirmed its key', 'UpdateItemCommand', 1],
  ])('before %s is replaced by one that waits', async (_when, operation, sentByFirst) => {
    const inbox = fixture.receiver.inbox();
    const config = newDeduplication();
    const now = Date.now();
    stopClock(now - 60_000);
    const goOn = await standStillBefore(operation, () => fixture.send(inbox.url, config));
    stopClock(now);
    const answers = await Promise.all(Array.from({ length: 3 }, () => fixture.publish(inbox.url, config)));
    vi.restoreAllMocks();
    expect(answers.map(({ status }) => status)).toEqual([202, 202, 202]);
    expect(fixture.callsOf('SendMessageBatchCommand')).toBe(sentByFirst + 1);
    const messageIds = new Set(answers.map(({ body }) => ('messageId' in body ? body.messageId : '')));
    await fixture.doJobs();
    expect(idsOf(inbox.deliveries)).toEqual(messageIds);
    // The publisher is not dead, and publishes the same message.
    expect(new Set([await goOn()])).toEqual(messageIds);
    await fixture.doJobs();
    expect(inbox.deliveries).toHaveLength(1);
  });

  it('is awaited for a limited time even if its successors pause as well', async () => {
    const [inbox, other] = [fixture.receiver.inbox(), fixture.receiver.inbox()];
    const config = newDeduplication();
    let time = Date.now() - 60_000;
    vi.spyOn(Date, 'now').mockImplementation(() => time);
    const goOn = await standStillBefore('SendMessageBatchCommand', () => fixture.send(inbox.url, config));
    // Another publisher takes over just before the waiting one looks again.
    fixture.dynamodb.middlewareStack.add(
      (next, { commandName }) =>
        async (args) => {
          if (commandName === 'PutItemCommand') {
            time += 3_000;
            const { TableName, Item } = claimed.parse(args.input);
            await fixture.dynamodb.send(
              new UpdateItemCommand({
                TableName,
                Key: Item,
                UpdateExpression: 'SET claimedAt = :now',
                ExpressionAttributeValues: { ':now': { N: String(time) } },
              }),
            );
          }
          return next(args);
        },
      { step: 'initialize', name: 'othersTakeOver' },
    );
    const answers = await batch(fixture.account, [
      { destination: inbox.url, headers: { 'Svc-Deduplication-Id': config['deduplication-id'] } },
      { destination: other.url },
    ]).finally(() => fixture.dynamodb.middlewareStack.remove('othersTakeOver'));
    vi.restoreAllMocks();
    expect(answers[0]).toMatchObject({ status: 503 });
    await goOn();
    await fixture.doJobs();
    expect([inbox.deliveries.length, other.deliveries.length]).toEqual([1, 1]);
  });
});

describe('a request with the deduplication id of an earlier one in its batch', () => {
  const headers = { 'Svc-Content-Based-Deduplication': 'true' };
  const outcomes = z.array(z.object({ status: z.number() }));

  it('is refused completely if the earlier one is refused', async () => {
    const account = { ...fixture.account, id: 'leans-on-refused', limits: { max_requests_per_day_hard: 2 } };
    const shared = fixture.receiver.inbox();
    const own = fixture.receiver.inbox();
    await addGroup(account, 'three', [shared.url, `${own.url}/1`, `${own.url}/2`]);
    await addGroup(account, 'two', [shared.url, `${own.url}/3`]);
    const answers = await batch(account, [
      { destination: 'three', headers },
      { destination: 'two', headers },
    ]);
    expect(outcomes.parse(answers).map(({ status }) => status)).toEqual([429, 429]);
    expect(await fixture.drain()).toEqual([]);
    // Nothing was counted, and the next message is not a duplicate.
    const [first, second] = await batch(account, [
      { destination: shared.url, headers },
      { destination: own.url },
    ]);
    for (const one of [first, second]) expect(Object.keys(published.parse(one))).toEqual(['messageId']);
  });

  it('is not answered as a duplicate if the earlier one could not be stored and was taken back', async () => {
    const shared = fixture.receiver.inbox();
    const other = fixture.receiver.inbox();
    // Rows are written 25 at a time, and the second chunk fails.
    const urls = [shared.url, ...Array.from({ length: 29 }, (_, number) => `${other.url}/${number}`)];
    await addGroup(fixture.account, 'thirty', urls);
    let chunks = 0;
    const isLost = declareFault('the second chunk of rows is lost');
    fixture.dynamodb.middlewareStack.add(
      (next, context) => (args) => {
        if (context.commandName === 'BatchWriteItemCommand' && (chunks += 1) === 2) {
          isLost();
          throw new Error('The second chunk is lost.');
        }
        return next(args);
      },
      { step: 'initialize', name: 'losesChunk' },
    );
    const answers = await batch(fixture.account, [
      { destination: 'thirty', headers },
      { destination: shared.url, headers },
    ]).finally(() => fixture.dynamodb.middlewareStack.remove('losesChunk'));
    expect(outcomes.parse(answers).map(({ status }) => status)).toEqual([503, 503]);
    await fixture.doJobs();
    expect([shared.deliveries.length, other.deliveries.length]).toEqual([0, 0]);
  });
});

describe('a deduplication id that was used before the clock stepped back by an hour', () => {
  it('is a duplicate for the usual ten minutes from then on', async () => {
    const inbox = fixture.receiver.inbox();
    const config = newDeduplication();
    const time = Date.now();
    stopClock(time + 3_600_000);
    await fixture.publish(inbox.url, config);
    stopClock(time);
    expect(await fixture.publish(inbox.url, config)).toMatchObject({ status: 202 });
    stopClock(time + 599_000);
    expect(await fixture.publish(inbox.url, config)).toMatchObject({ status: 202 });
    stopClock(time + 601_000);
    expect(await fixture.publish(inbox.url, config)).toMatchObject({ status: 200 });
  });
});
