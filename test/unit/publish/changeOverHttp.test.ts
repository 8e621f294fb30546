import { expect, it } from 'vitest';
import { minuteMs } from '../../../lambdas/shared/clock.ts';
import type { Fixture } from '../../support/fixture.ts';
import { useFixture } from '../../support/useFixture.ts';

let fixture: Fixture;
useFixture(
  (opened) => {
    fixture = opened;
    return Promise.resolve();
  },
  { overHttp: true },
);

it('A change that is written twice, because the first answer was lost, is answered as made', async () => {
  const { account } = fixture;
  const messageId = await fixture.send('https://example.com', { delay: '1h' });
  const publishedAt = Date.now();
  fixture.reset();
  fixture.loseAnswer('PutItemCommand', 1);
  const { changeMessage } = await import('../../../lambdas/publish/change.ts');
  const changes = { dueAt: publishedAt + minuteMs, headers: [] };
  const { nextDeliveryTime } = await changeMessage(account, messageId, changes);
  const history = await fixture.loadMessage({ accountId: account.id, messageId });
  expect(history?.message.notBefore).toBe(nextDeliveryTime);
  expect(nextDeliveryTime).toBe(publishedAt + minuteMs);
});
