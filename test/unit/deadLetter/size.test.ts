import { UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { messageOf } from '../../support/messageOf.ts';
import { imported } from '../../support/imported.ts';
import { newId } from '../../../lambdas/shared/ids.ts';
import { eachOf } from '../../../lambdas/shared/lists.ts';
import { setClockAhead } from '../../support/clockAhead.ts';
import { itAtEachDeath } from '../../support/faults.ts';
import { useFixture } from '../../support/useFixture.ts';
import { type Fixture } from '../../support/fixture.ts';
import { sizeOf } from '../../support/sample.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

let fixture: Fixture;
let rowsRead = 0;
useFixture(
  (opened) => {
    fixture = opened;
    fixture.dynamodb.middlewareStack.add(
      (next) => async (args) => {
        const result = await next(args);
        if ('Items' in result.output && Array.isArray(result.output.Items)) {
          rowsRead += result.output.Items.length;
        }
        return result;
      },
      { step: 'initialize', name: 'rowsRead' },
    );
  },
  { overHttp: true },
);
const services = imported(async () => ({
  ...(await import('../../../lambdas/deadLetter/size.ts')),
  ...(await import('../../../lambdas/deadLetter/rows.ts')),
  ...(await import('../../../lambdas/deadLetter/sizeRows.ts')),
  ...(await import('../../../lambdas/table/shards.ts')),
}));
beforeEach(() => {
  rowsRead = 0;
});

const start = Date.now() - hourMs;
const retentionMs = 7 * dayMs;

function queueOf(accountId: string, size: number) {
  let made = 0;
  const entryAt = (failedAt: number) => ({
    dlqId: newId('dlq', failedAt),
    message: messageOf({ messageId: newId('msg', start), accountId, createdAt: start, notBefore: start }),
    retried: 0,
    failedAt,
    responseStatus: 500,
    responseHeaders: [],
    expiresAt: failedAt + retentionMs,
  });
  /** Writes a dead letter like a delivery. Each is a millisecond younger than the one before. */
  const deadLetterAttempt = async (entry = entryAt(start + (made += 1))): Promise<string> => {
    if (await services.putDeadLetter(entry)) {
      await services.keepToSize({ id: accountId, shards: 8 }, entry.expiresAt, size);
    }
    return entry.dlqId;
  };
  return {
    entryAt,
    deadLetterAttempt,
    deadLetterMany: async (count: number, atOnce = 1): Promise<readonly string[]> => {
      const ids: string[] = [];
      await eachOf(Array.from({ length: count }), atOnce, async (_, index) => {
        ids[index] = await deadLetterAttempt();
      });
      return ids;
    },
    left: async (): Promise<readonly string[]> => {
      const ids: string[] = [];
      for (const shard of services.shardsOf({ id: accountId, shards: 8 })) {
        for await (const { deadLetter } of services.listDeadLetters(shard, {}, Date.now())) {
          if (deadLetter) ids.push(deadLetter.dlqId);
        }
      }
      return ids.sort();
    },
    remove: (dlqIds: readonly string[]) =>
      services.removeDeadLetters(
        accountId,
        dlqIds.map((dlqId) => ({ dlqId, expiresAt: start + retentionMs })),
        'deleted',
      ),
  };
}

describe('the dead letter queue', () => {
  it.each([1, 8])('with %d entries is exact: only the oldest are removed', async (size) => {
    const queue = queueOf(`exact-${size}`, size);
    const ids: string[] = [];
    const written = sizeOf({ ordinary: size + 5, thorough: 30 });
    for (let number = 0; number < written; number += 1) {
      ids.push(await queue.deadLetterAttempt());
      expect(await queue.left()).toEqual(ids.slice(-size));
    }
  });

  it('does not count removed entries, which do not return with their attempt', async () => {
    const queue = queueOf('taken-out', 10);
    const entries = Array.from({ length: 12 }, (_, number) => queue.entryAt(start + number));
    for (const entry of entries.slice(0, 10)) await queue.deadLetterAttempt(entry);
    const ids = entries.map(({ dlqId }) => dlqId);
    expect((await queue.remove([ids[3] ?? '', ids[4] ?? ''])).size).toBe(2);
    // The second removal finds nothing and must not count.
    expect((await queue.remove([ids[3] ?? '', ids[4] ?? ''])).size).toBe(0);
    for (const entry of entries.slice(10)) await queue.deadLetterAttempt(entry);
    const there = ids.filter((_, number) => number !== 3 && number !== 4);
    expect(await queue.left()).toEqual(there);
    await queue.deadLetterAttempt();
    expect(await queue.left()).toHaveLength(10);
    const gone = ids.filter((id) => !there.includes(id));
    for (const entry of entries) await queue.deadLetterAttempt(entry);
    expect((await queue.left()).filter((id) => gone.includes(id))).toEqual([]);
  });

  it('does not count expired entries, and removes them first', async () => {
    const queue = queueOf('expired', 10);
    const old = Array.from({ length: 8 }, (_, number) => queue.entryAt(start - retentionMs + number));
    for (const entry of old) await queue.deadLetterAttempt({ ...entry, expiresAt: start + 2 * hourMs });
    setClockAhead(3 * hourMs);
    const ids = await queue.deadLetterMany(12);
    expect(await queue.left()).toEqual(ids.slice(-10));
    // Expired entries are no longer counted.
    setClockAhead(2 * dayMs + 3 * hourMs);
    await queue.deadLetterMany(1);
    expect((await services.countIn('expired', [Date.now()], Date.now()))?.entries).toBe(11);
  });

  it('is reduced to a lowered limit', async () => {
    const ids = await queueOf('lowered', 1_000_000).deadLetterMany(
      sizeOf({ ordinary: 30, thorough: 500 }),
      20,
    );
    const queue = queueOf('lowered', 10);
    const last = await queue.deadLetterAttempt(queue.entryAt(start + 10_000));
    expect(await queue.left()).toEqual([...ids.slice(-9), last]);
  });
});

describe('the cost of a dead letter', () => {
  const most = [
    // Writes and counts an entry. A trim, here once for each entry, begins, reads eight shards, saves its plan, removes and
    // ends.
    { size: 10, calls: 14, rows: 8, dead: 20 },
    // One trim removes eleven entries.
    { size: 1_000, calls: 4.1, rows: 8, dead: 44 },
  ];

  it.each(most)('is constant at a size of $size', async ({ size, calls, rows, dead }) => {
    const accountId = `cost-${size}`;
    const queue = queueOf(accountId, size);
    const real = sizeOf({ ordinary: Math.min(size, dead + 50), thorough: 250 });
    await queue.deadLetterMany(real, 20);
    // The rest is only counted, because a trim reads the oldest entries only.
    const missing = size - real;
    if (missing > 0) {
      const day = `d${Math.floor((start + retentionMs) / dayMs)}`;
      await fixture.dynamodb.send(
        new UpdateItemCommand({
          TableName: fixture.settings.dlqTable,
          Key: { shard: { S: `size#${accountId}` }, id: { S: 'size' } },
          UpdateExpression: `ADD ${day} :missing`,
          ExpressionAttributeValues: { ':missing': { N: String(missing) } },
        }),
      );
    }
    fixture.reset();
    rowsRead = 0;
    await queue.deadLetterMany(dead);
    expect(fixture.calls() / dead).toBeLessThanOrEqual(calls);
    expect(rowsRead / dead).toBeLessThanOrEqual(rows);
  });

  it('is one more write if the queue is not full', async () => {
    const queue = queueOf('cost-empty', 100);
    await queue.deadLetterAttempt();
    fixture.reset();
    await queue.deadLetterAttempt();
    expect(fixture.calls()).toBe(2);
    expect([fixture.callsOf('PutItemCommand'), fixture.callsOf('UpdateItemCommand')]).toEqual([1, 1]);
  });

  it('does not rise for many at once, and the newest are kept', async () => {
    const queue = queueOf('cost-many', 10);
    // Stopped, so that the trim has enough time on a slow machine.
    vi.spyOn(Date, 'now').mockReturnValue(Date.now());
    const count = sizeOf({ ordinary: 60, thorough: 500 });
    const ids = await queue.deadLetterMany(count, 20);
    expect(fixture.calls() / count).toBeLessThanOrEqual(14);
    expect(await queue.left()).toEqual([...ids].sort().slice(-10));
  });
});

describe('a process that dies', () => {
  itAtEachDeath('while it trims loses nothing, and the next trims for it', async (fate) => {
    const queue = queueOf(fate.name, 5);
    const ids = [...(await queue.deadLetterMany(5))];
    const sixth = queue.entryAt(start + 100);
    await fixture.underFate(fate, () => queue.deadLetterAttempt(sixth));
    // The attempt is redelivered, and writes the same entry again.
    await queue.deadLetterAttempt(sixth);
    ids.push(sixth.dlqId);
    setClockAhead(5 * 60_000);
    for (let number = 0; number < 3; number += 1)
      ids.push(await queue.deadLetterAttempt(queue.entryAt(start + 200 + number)));
    // A process that dies between writing and counting leaves one entry uncounted until it expires.
    const { call, when } = fate.comesAt ?? {};
    const isUncounted = (call === 1 && when === 'after') || (call === 2 && when === 'before');
    expect(await queue.left()).toEqual(ids.slice(isUncounted ? -6 : -5));
  });

  itAtEachDeath('while it takes entries out trims none too early', async (fate) => {
    const queue = queueOf(fate.name, 5);
    const ids = await queue.deadLetterMany(5);
    await fixture.again(fate, () => queue.remove(ids.slice(2, 3)));
    const newest = await queue.deadLetterAttempt();
    expect(await queue.left()).toEqual([...ids.filter((_, number) => number !== 2), newest]);
  });
});

describe('a lost answer of DynamoDB, for which the SDK asks again,', () => {
  it.each([1, 2, 3, 4, 5])(
    'of update %d of a dead letter counts nothing twice, so that no entry is removed too early',
    async (call) => {
      const queue = queueOf(`lost-${call}`, 5);
      const ids = [...(await queue.deadLetterMany(5))];
      fixture.loseAnswer('UpdateItemCommand', call);
      ids.push(await queue.deadLetterAttempt());
      fixture.reset();
      setClockAhead(5 * 60_000);
      for (let more = 0; more < 3; more += 1) ids.push(await queue.deadLetterAttempt());
      const left = await queue.left();
      // An entry whose count was lost may be kept until it expires.
      expect([ids.slice(-5), ids.slice(-6)]).toContainEqual(left);
    },
  );

  it('counts no removal twice, and reports it as done', async () => {
    for (const call of [1, 2]) {
      const queue = queueOf(`lost-removal-${call}`, 5);
      const ids = await queue.deadLetterMany(5);
      fixture.loseAnswer('UpdateItemCommand', call);
      expect([...(await queue.remove(ids.slice(2, 3)))]).toEqual(ids.slice(2, 3));
      fixture.reset();
      const newest = await queue.deadLetterAttempt();
      expect(await queue.left()).toEqual([...ids.filter((_, number) => number !== 2), newest]);
    }
  });
});

describe('a row that accepts no more writes', () => {
  it('is written once for each dead letter, and no delivery waits or fails because of it', async () => {
    const queue = queueOf('throttled', 5);
    let tries = 0;
    fixture.dynamodb.middlewareStack.add(
      (next, context) => (args) => {
        if (context.commandName !== 'UpdateItemCommand') return next(args);
        tries += 1;
        throw Object.assign(new Error('Slow down.'), { name: 'ProvisionedThroughputExceededException' });
      },
      { step: 'deserialize', name: 'throttled' },
    );
    try {
      await queue.deadLetterMany(3);
    } finally {
      fixture.dynamodb.middlewareStack.remove('throttled');
    }
    expect(tries).toBe(3);
    expect(await queue.left()).toHaveLength(3);
  });
});

describe('a process that pauses while it trims', () => {
  it('and continues after another has taken over counts nothing that the other removed', async () => {
    const queue = queueOf('stands-still', 5);
    const ids = [...(await queue.deadLetterMany(5))];
    let goOn = (): void => undefined;
    let isPaused = false;
    const paused = new Promise<void>((resolve) => {
      fixture.dynamodb.middlewareStack.add(
        (next) => async (args) => {
          const { UpdateExpression: update = '' } = args.input as { readonly UpdateExpression?: string };
          if (!isPaused && update.includes('removedAt')) {
            isPaused = true;
            const gone = new Promise<void>((end) => (goOn = end));
            resolve();
            await gone;
          }
          return next(args);
        },
        { step: 'initialize', name: 'pause' },
      );
    });
    const sixth = queue.deadLetterAttempt();
    await paused;
    setClockAhead(5 * 60_000);
    ids.push(await queue.deadLetterAttempt());
    goOn();
    ids.splice(5, 0, await sixth);
    fixture.dynamodb.middlewareStack.remove('pause');
    for (let more = 0; more < 3; more += 1) ids.push(await queue.deadLetterAttempt());
    expect(await queue.left()).toEqual(ids.slice(-5));
  });
});
