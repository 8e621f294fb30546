import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import * as z from 'zod/mini';
import type { Account } from '../../../lambdas/domain/account.ts';
import { deathsAt, idsOf, openWorld, type World } from '../../support/world.ts';

let world: World;
let batch: (account: Account, items: readonly object[]) => Promise<readonly unknown[]>;
beforeAll(async () => {
  world = await openWorld();
  const service = await import('../../../lambdas/services/batch.ts');
  batch = (account, items) =>
    service.batch(account, {
      body: Buffer.from(JSON.stringify(items)),
      prefix: 'Svc',
      callerIp: '127.0.0.1',
      host: 'api.example.com',
    });
});
afterAll(() => world.close());
beforeEach(() => {
  world.reset();
});
afterEach(() => {
  vi.restoreAllMocks();
});

const published = z.looseObject({ messageId: z.string() });

let ids = 0;
const newDeduplication = (): Record<string, string> => ({ 'deduplication-id': `id-${(ids += 1)}` });

/** Whoever was accepting a message before is dead by now. */
function laterBy(ms: number): void {
  const { now } = Date;
  vi.spyOn(Date, 'now').mockImplementation(() => now() + ms);
}

describe('messages with the same deduplication id', () => {
  it('published at the same time are one message, delivered once', async () => {
    const inbox = world.receiver.inbox();
    const config = newDeduplication();
    const answers = await Promise.all(Array.from({ length: 30 }, () => world.publish(inbox.url, config)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array<number>(29).fill(202)]);
    const messageIds = answers.map(({ body }) => ('messageId' in body ? body.messageId : ''));
    expect(new Set(messageIds).size).toBe(1);
    // One pointer: workers that get two at once would both deliver.
    expect(world.callsOf('SendMessageBatchCommand') + world.callsOf('SendMessageCommand')).toBe(1);
    await world.work();
    expect(inbox.deliveries).toHaveLength(1);
    expect(idsOf(inbox.deliveries)).toEqual(new Set([messageIds[0]]));
  });

  it('published one after the other are delivered once, whichever the attempts', async () => {
    const inbox = world.receiver.inbox((_delivery, response, before) =>
      response.writeHead(before === 0 ? 500 : 200).end(),
    );
    const config = { ...newDeduplication(), 'retry-delay': '0' };
    await world.publish(inbox.url, config);
    expect((await world.publish(inbox.url, config)).status).toBe(202);
    await world.work();
    expect((await world.publish(inbox.url, config)).status).toBe(202);
    await world.work();
    expect(inbox.deliveries).toHaveLength(2);
  });

  it('cost one AWS call when the first is known', async () => {
    const inbox = world.receiver.inbox();
    const config = newDeduplication();
    await world.publish(inbox.url, config);
    world.reset();
    await world.publish(inbox.url, config);
    expect(world.calls()).toBe(1);
  });

  it('in one batch are one message, and the others of the batch are unharmed', async () => {
    const inbox = world.receiver.inbox();
    const other = world.receiver.inbox();
    const headers = { 'Svc-Deduplication-Id': 'twice-in-a-batch' };
    const answers = await batch(world.account, [
      { destination: inbox.url, headers },
      { destination: other.url },
      { destination: inbox.url, headers },
    ]);
    await world.work();
    const [first, second, third] = z.array(published).parse(answers);
    expect(third).toEqual({ ...first, deduplicated: true });
    expect(second?.messageId).not.toBe(first?.messageId);
    expect(inbox.deliveries).toHaveLength(1);
    expect(other.deliveries).toHaveLength(1);
  });

  it('are delivered again when the window has passed', async () => {
    const inbox = world.receiver.inbox();
    const config = newDeduplication();
    await world.publish(inbox.url, config);
    laterBy(10 * 60_000 + 1);
    expect((await world.publish(inbox.url, config)).status).toBe(200);
    await world.work();
    expect(inbox.deliveries).toHaveLength(2);
  });
});

describe('a first message that was not accepted', () => {
  it.each(deathsAt(4).map((failure) => ({ ...failure, survived: true })))(
    'because AWS call $call failed $when it was made does not swallow the second',
    async (failure) => {
      const inbox = world.receiver.inbox();
      const config = newDeduplication();
      world.reset(failure);
      const [first] = await Promise.allSettled([world.publish(inbox.url, config)]);
      world.reset();
      // Whatever is known of the first by then, the second is a message that is delivered.
      if (first.status === 'rejected') laterBy(60_000);
      const second = await world.send(inbox.url, config);
      await world.work();
      expect(idsOf(inbox.deliveries)).toEqual(new Set([second]));
    },
  );

  it.each(deathsAt(5))(
    'because its process died $when its AWS call $call does not swallow the second',
    async (death) => {
      const inbox = world.receiver.inbox();
      const config = newDeduplication();
      world.reset(death);
      await Promise.allSettled([world.publish(inbox.url, config)]);
      world.reset();
      laterBy(60_000);
      const second = await world.send(inbox.url, config);
      await world.work();
      expect(idsOf(inbox.deliveries)).toEqual(new Set([second]));
    },
  );

  it.each(deathsAt(8).map((failure) => ({ ...failure, survived: true })))(
    'does not take others with it that were published at the same time ($when call $call)',
    async (failure) => {
      const inbox = world.receiver.inbox();
      const config = newDeduplication();
      world.reset(failure);
      const outcomes = await Promise.allSettled(
        Array.from({ length: 3 }, () => world.send(inbox.url, config)),
      );
      world.reset();
      await world.work();
      const accepted = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []));
      expect(new Set(accepted).size).toBeLessThanOrEqual(1);
      for (const messageId of accepted) expect(idsOf(inbox.deliveries)).toContain(messageId);
    },
  );
});
