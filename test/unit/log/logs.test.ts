import { describe, expect, it } from 'vitest';
import { timeOfId } from '../../../lambdas/shared/ids.ts';
import type { Attempt } from '../../../lambdas/message/message.ts';
import { noFilter } from '../../support/filters.ts';
import { useFixture } from '../../support/useFixture.ts';
import type { Fixture } from '../../support/fixture.ts';

let fixture: Fixture;
const importLambdas = async () => ({
  ...(await import('../../../lambdas/log/logs.ts')),
  ...(await import('../../../lambdas/message/history.ts')),
  ...(await import('../../../lambdas/message/messages.ts')),
});
let lambdas: Awaited<ReturnType<typeof importLambdas>>;
useFixture(async (opened) => {
  fixture = opened;
  lambdas = await importLambdas();
});

type Entry = Awaited<ReturnType<typeof lambdas.listLogs>>['logs'][number];

async function pagesOf(messageId: string): Promise<readonly Entry[]> {
  const found: Entry[] = [];
  let cursor: string | undefined;
  do {
    const page = await lambdas.listLogs(fixture.account, { ...noFilter, ids: [messageId], count: 1, cursor });
    found.push(...page.logs);
    cursor = page.cursor;
  } while (cursor !== undefined);
  return found;
}

describe('the log of one message, page by page,', () => {
  it.each([
    ['at one and the same time', 0],
    ['by a worker whose clock is behind', -5],
  ])('includes everything that was recorded %s', async (_, aheadMs) => {
    const messageId = await fixture.send(fixture.receiver.origin);
    const history = await lambdas.loadMessage({ accountId: 'acct', messageId });
    if (history === undefined) throw new Error('The message is not there.');
    const recordedAt = timeOfId(messageId) + aheadMs;
    const attemptOf = (number: number, state: Attempt['state']): Attempt => ({
      number,
      state,
      startedAt: recordedAt,
      recordedAt,
      response: { status: 500, headers: [], body: new Uint8Array() },
    });
    await lambdas.recordAttempt(history.message, attemptOf(0, 'RETRY'));
    await lambdas.recordAttempt(history.message, attemptOf(1, 'DELIVERED'));
    const { logs } = await lambdas.listLogs(fixture.account, { ...noFilter, ids: [messageId] });
    expect(logs).toHaveLength(6);
    expect(await pagesOf(messageId)).toEqual(logs);
  });
});
