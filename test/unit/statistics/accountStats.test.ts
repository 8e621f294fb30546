import { randomUUID } from 'node:crypto';
import { expect, it, vi } from 'vitest';
import { newAccount } from '../../../lambdas/account/account.ts';
import { newId } from '../../../lambdas/shared/ids.ts';
import { imported } from '../../support/imported.ts';
import { messageOf } from '../../support/messageOf.ts';
import { useStandIns } from '../../support/useStandIns.ts';

useStandIns();

const lambdas = imported(async () => ({
  ...(await import('../../../lambdas/account/accounts.ts')),
  ...(await import('../../../lambdas/message/messages.ts')),
  ...(await import('../../../lambdas/statistics/accountStats.ts')),
  ...(await import('../../../lambdas/statistics/countAllOutcomes.ts')),
}));

const minuteMs = 60_000;
const noon = Date.parse('2026-11-20T12:00:00Z');
const setTime = (time: number): void => {
  vi.useFakeTimers({ toFake: ['Date'], now: time });
};

it('an operator sees what failed today and what waits, as of the last count', async () => {
  setTime(noon);
  const account = newAccount({ id: randomUUID(), plan: 'paid', region: 'eu-central-1', createdAt: 0 });
  await lambdas.saveAccount(account, undefined);
  const stats = async () => {
    const { failed_today: failed, waiting, counted_at: at } = await lambdas.getStats(account.id);
    return { failed, waiting, at };
  };
  expect(await stats()).toEqual({ failed: undefined, waiting: undefined, at: undefined });
  for (let stored = 0; stored < 3; stored += 1) {
    const message = messageOf({
      ...{ messageId: newId('msg', Date.now()), accountId: account.id, createdAt: noon },
      expiresAt: noon + 1_000_000 * minuteMs,
    });
    await lambdas.putMessage(message, { at: 'here', bytes: new Uint8Array(), deflated: false });
    if (stored > 0) continue;
    const response = { status: 500, headers: [], body: new Uint8Array() };
    const times = { startedAt: noon, recordedAt: noon };
    await lambdas.recordAttempt(message, { number: 0, state: 'FAILED', ...times, response });
  }
  setTime(noon + 30 * minuteMs);
  await lambdas.countAllOutcomes(Date.now() + minuteMs);
  const counted = await stats();
  expect(counted).toMatchObject({ failed: 1, waiting: 2 });
  expect(counted.at).toBeGreaterThan((noon + 20 * minuteMs) / 1_000);
  // Nothing of the next day is counted yet.
  setTime(noon + 13 * 60 * minuteMs);
  expect(await stats()).toEqual({ ...counted, failed: undefined });
});
