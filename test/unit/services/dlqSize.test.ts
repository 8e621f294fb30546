import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId, shardOf } from '../../../lambdas/domain/ids.ts';
import type { Message } from '../../../lambdas/domain/message.ts';
import { openWorld, type World } from '../../support/world.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

const messageAt = (start: number): Message => ({
  messageId: newId('msg', start),
  accountId: 'acct',
  prefix: 'Svc',
  url: 'https://example.com/',
  method: 'POST',
  headers: [],
  maxRetries: 0,
  timeoutMs: 1_000,
  labels: [],
  createdAt: start,
  notBefore: start,
  callerIp: '192.0.2.1',
  expiresAt: start + 600_000,
});

describe('the dead letter queue', () => {
  it('keeps to its size: the oldest entries make room, and those taken out do not count', async () => {
    const [{ keepDlqSize }, { listDeadLetters, putDeadLetter, removeDeadLetter }] = await Promise.all([
      import('../../../lambdas/services/dlqSize.ts'),
      import('../../../lambdas/stores/dlq.ts'),
    ]);
    const start = Date.now();
    const message = messageAt(start);
    const put = async (dlqId: string): Promise<void> => {
      await putDeadLetter({
        dlqId,
        message,
        retried: 0,
        failedAt: start,
        responseStatus: 500,
        responseHeaders: {},
        expiresAt: start + 600_000,
      });
    };
    // All in one shard, which may have an eighth of the whole.
    const ids: string[] = [];
    while (ids.length < 133) {
      const id = newId('dlq', start + ids.length);
      if (shardOf('acct', id) === 'acct#0') ids.push(id);
    }
    for (const id of ids) await put(id);
    const [, second = '', third = ''] = ids.toReversed();
    await removeDeadLetter('acct', second, start);
    await removeDeadLetter('acct', third, start);
    const left = async (): Promise<readonly string[]> => {
      const entries: string[] = [];
      for await (const { entry } of listDeadLetters('acct#0', {}, start))
        if (entry) entries.push(entry.dlqId);
      return entries;
    };
    await keepDlqSize('acct', ids[0] ?? '', 8 * 128);
    const [newest, , , ...older] = ids.toReversed();
    expect(await left()).toEqual([newest, ...older.slice(0, 127)]);

    // What made room, or was taken out, does not come back when its pointer does.
    for (const id of ids) await put(id);
    expect(await left()).toHaveLength(128);
  });

  it.each([1, 8, 20])('of %d entries is exact: the oldest of all go, and no other', async (size) => {
    const [{ keepDlqSize }, { listDeadLetters, putDeadLetter }, { shardsOf }] = await Promise.all([
      import('../../../lambdas/services/dlqSize.ts'),
      import('../../../lambdas/stores/dlq.ts'),
      import('../../../lambdas/stores/shards.ts'),
    ]);
    const accountId = `small-${size}`;
    const start = Date.now();
    const ids: string[] = [];
    for (let number = 0; number < 30; number += 1) {
      const dlqId = newId('dlq', start + number);
      ids.push(dlqId);
      await putDeadLetter({
        dlqId,
        message: { ...messageAt(start), accountId },
        retried: 0,
        failedAt: start,
        responseStatus: 500,
        responseHeaders: {},
        expiresAt: start + 600_000,
      });
      await keepDlqSize(accountId, dlqId, size);
      const there: string[] = [];
      for (const shard of shardsOf(accountId)) {
        for await (const { entry } of listDeadLetters(shard, {}, start)) if (entry) there.push(entry.dlqId);
      }
      expect(there.sort()).toEqual(ids.slice(-size).sort());
    }
  });
});
