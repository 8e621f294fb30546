import { DeleteItemCommand } from '@aws-sdk/client-dynamodb';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { idsInBody } from '../../../lambdas/wire/idBodies.ts';
import { shardOf } from '../../../lambdas/shared/ids.ts';
import { eachOf } from '../../../lambdas/shared/lists.ts';
import { fateAt } from '../../support/faults.ts';
import { noFilter } from '../../support/filters.ts';
import { useFixture } from '../../support/useFixture.ts';
import { configOf, type Fixture } from '../../support/fixture.ts';
import { sizeOf } from '../../support/sample.ts';

let fixture: Fixture;
const importServices = async () => ({
  ...(await import('../../../lambdas/publish/messages.ts')),
  ...(await import('../../../lambdas/publish/cancel.ts')),
  ...(await import('../../../lambdas/deadLetter/deadLetters.ts')),
  ...(await import('../../../lambdas/publish/retryDeadLetters.ts')),
});
let services: Awaited<ReturnType<typeof importServices>>;
useFixture(async (opened) => {
  fixture = opened;
  services = await importServices();
});
beforeEach(async () => {
  await fixture.drain();
  fixture.reset();
});

const labelled = (label: string) => ({
  ...noFilter,
  values: new Map([['label', new Set([label])]] as const),
});

const sendMany = async (
  count: number,
  config: Readonly<Record<string, string>>,
): Promise<readonly string[]> => {
  const ids: string[] = [];
  await eachOf(Array.from({ length: count }), 10, async (_, index) => {
    ids[index] = await fixture.send(fixture.receiver.origin, config);
  });
  return ids;
};

const isWaiting = async (messageId: string): Promise<boolean> =>
  services.getMessage(fixture.account, messageId).then(
    () => true,
    () => false,
  );

function slowWithdrawals(): void {
  fixture.reset();
  const { now } = Date;
  vi.spyOn(Date, 'now').mockImplementation(() => now() + fixture.callsOf('PutItemCommand') * 1_000);
}

describe('cancelling by a filter', () => {
  it('skips no message because of rows left of expired ones', async () => {
    const waiting: string[] = [];
    for (let round = 0; round < 10; round += 1) {
      waiting.push(await fixture.send(fixture.receiver.origin, { label: 'waits', delay: '1h' }));
      // Time to live removes one row at a time, here the message’s before the ones after it.
      const gone = await fixture.send(fixture.receiver.origin, { label: 'gone', delay: '1h' });
      await services.cancelMessage(fixture.account, gone);
      await fixture.dynamodb.send(
        new DeleteItemCommand({
          TableName: fixture.settings.messagesTable,
          Key: { shard: { S: shardOf(fixture.account.id, gone) }, id: { S: gone } },
        }),
      );
    }
    const { cancelled, cursor } = await services.cancelMessages(fixture.account, labelled('waits'));
    expect({ cancelled, cursor }).toEqual({ cancelled: 10, cursor: undefined });
    expect(await Promise.all(waiting.map(isWaiting))).not.toContain(true);
  });

  it('ends in time with a cursor, and continues from there', async () => {
    const ids = await sendMany(45, { label: 'slow', delay: '1h' });
    slowWithdrawals();
    let cancelled = 0;
    let pages = 0;
    let cursor: string | undefined;
    do {
      const page = await services.cancelMessages(fixture.account, { ...labelled('slow'), cursor });
      // A page ends after 20 seconds. Withdrawals in progress are completed, too.
      expect(page.cancelled).toBeLessThanOrEqual(30);
      cancelled += page.cancelled;
      ({ cursor } = page);
      pages += 1;
    } while (cursor !== undefined);
    expect(pages).toBeGreaterThan(1);
    expect(cancelled).toBe(45);
    expect(await Promise.all(ids.map(isWaiting))).not.toContain(true);
  });

  it('takes up to the given count, and all if the count is 100, which published clients send to mean all', async () => {
    await sendMany(30, { label: 'counted', delay: '10m' });
    const some = await services.cancelMessages(fixture.account, { ...labelled('counted'), count: 10 });
    expect([some.cancelled, typeof some.cursor]).toEqual([10, 'string']);
    const rest = await services.cancelMessages(fixture.account, { ...labelled('counted'), count: 100 });
    expect(rest).toEqual({ cancelled: 20, cursor: undefined });
  });
});

describe('cancelling by ids', () => {
  it('ends in time with a cursor, and continues after the ids that are done', async () => {
    const ids = await sendMany(45, { delay: '10m' });
    const body = Buffer.from(JSON.stringify({ messageIds: ids }));
    const given = idsInBody('messages', body).map(([, id]) => id);
    slowWithdrawals();
    const first = await services.cancelMessages(fixture.account, { ...noFilter, ids: given });
    expect(first.cursor).toBeDefined();
    let { cancelled, cursor } = first;
    while (cursor !== undefined) {
      const page = await services.cancelMessages(fixture.account, { ...noFilter, ids: given, cursor });
      cancelled += page.cancelled;
      ({ cursor } = page);
    }
    expect(cancelled).toBe(45);
  });
});

describe('retrying many large dead letters', () => {
  async function failMany(count: number, bytes: number, label: string): Promise<void> {
    const inbox = fixture.receiver.inbox((_delivery, response) => response.writeHead(500).end());
    for (let number = 0; number < count; number += 1) {
      await fixture.send(inbox.url, { retries: '0', label }, `${number} `.padEnd(bytes, 'x'));
    }
    await fixture.doJobs();
    fixture.reset();
  }
  const asItWas = { prefix: 'Svc', config: configOf({}), host: 'api.example.com' };

  /** Counts the most entries that were claimed and not yet removed: the bodies in memory. */
  function watchClaims(): () => number {
    let claimed = 0;
    let most = 0;
    fixture.dynamodb.middlewareStack.add(
      (next) => async (args) => {
        const text = JSON.stringify(args.input);
        if (text.includes('SET retryId')) claimed += 1;
        most = Math.max(most, claimed);
        const result = await next(args);
        if (text.includes('SET removedAt')) claimed -= 1;
        return result;
      },
      { step: 'initialize', name: 'watchClaims', override: true },
    );
    return () => most;
  }

  it('has a few large bodies in memory at once, and many small ones', async () => {
    // A body that is too large for a row counts as the largest body.
    await failMany(20, sizeOf({ ordinary: 100_000, thorough: 1_000_000 }), 'large');
    await failMany(20, 10, 'small');
    const large = watchClaims();
    const retry = async (label: string) =>
      (await services.retryDeadLetters(fixture.account, labelled(label), asItWas)).responses.length;
    expect(await retry('large')).toBe(20);
    expect(large()).toBeLessThanOrEqual(16);
    const small = watchClaims();
    expect(await retry('small')).toBe(20);
    expect(small()).toBe(20);
  });

  it('has removed what it sent if it dies in the middle', async () => {
    await failMany(20, 100_000, 'twin');
    await services.retryDeadLetters(fixture.account, labelled('twin'), asItWas);
    const whole = fixture.calls();
    await failMany(20, 100_000, 'dies');
    // The process dies in the second of two steps.
    await fixture.underFate(fateAt({ call: whole - 10, when: 'before' }), () =>
      services.retryDeadLetters(fixture.account, labelled('dies'), asItWas),
    );
    const { messages } = await services.listDeadLetters(fixture.account, labelled('dies'));
    expect(messages.length).toBeLessThanOrEqual(4);
  });
});
