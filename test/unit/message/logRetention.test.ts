import { expect, it } from 'vitest';
import { dayMs } from '../../../lambdas/shared/clock.ts';
import { idOf, requestOf, type Fixture } from '../../support/fixture.ts';
import type * as messageModule from '../../../lambdas/message/message.ts';
import { useFixture } from '../../support/useFixture.ts';

let fixture: Fixture;
let latestEndOf: typeof messageModule.latestEndOf;
useFixture(async (opened) => {
  fixture = opened;
  ({ latestEndOf } = await import('../../../lambdas/message/message.ts'));
});

it.each([
  ['7 by default, as long as dead letters of a paid account', {}, 7],
  ['as many as it says', { log_retention_days: 90 }, 90],
  ['at least as many as its dead letters need the message', { log_retention_days: 1 }, 7],
  [
    'few, where its dead letters are kept for less',
    { log_retention_days: 1, max_dlq_retention_time_milis: 3_600_000 },
    1,
  ],
])('The log is kept for this number of days: %s', async (_, limits, days) => {
  const account = { ...fixture.account, limits };
  const { url } = fixture.receiver.inbox();
  const messageId = idOf(await fixture.publishRequest(account, requestOf(url, { retries: '2' })));
  const history = await fixture.loadMessage({ accountId: account.id, messageId });
  if (history === undefined) throw new Error('There is no message.');
  const keptMs = history.message.expiresAt - latestEndOf(history.message);
  // Rows expire one day later, at whole seconds.
  expect(Math.abs(keptMs - (days + 1) * dayMs)).toBeLessThanOrEqual(1_000);
  await fixture.drain();
});
