import { expect, it } from 'vitest';
import { imported } from '../../support/imported.ts';
import { dayOf } from '../../../lambdas/shared/clock.ts';
import { useFixture } from '../../support/useFixture.ts';
import { requestOf, type Fixture } from '../../support/fixture.ts';

let fixture: Fixture;
useFixture((opened) => {
  fixture = opened;
});
const lambdas = imported(async () => ({
  ...(await import('../../../lambdas/schedule/fire.ts')),
  ...(await import('../../../lambdas/schedule/schedules.ts')),
  ...(await import('../../../lambdas/schedule/rows.ts')),
  ...(await import('../../../lambdas/urlGroup/endpoints.ts')),
  ...(await import('../../../lambdas/usage/usageRows.ts')),
}));

/** From this number on, messages are reserved in the day’s count before they are charged. */
const reservedFrom = 20;

it('a fire to a large group that exceeds the daily limit leaves no trace in the day’s count', async () => {
  const account = {
    ...fixture.account,
    id: 'refused-fire',
    limits: { max_requests_per_day: 5, max_requests_per_day_hard: 5 },
  };
  await fixture.saveAccount(account, undefined);
  const inbox = fixture.receiver.inbox();
  const endpoints = Array.from({ length: reservedFrom }, (_, number) => ({ url: `${inbox.url}/${number}` }));
  const body = Buffer.from(JSON.stringify({ endpoints }));
  await lambdas.addEndpoints(account, { name: 'large', body, prefix: 'Svc', host: 'api.example.com' });
  await lambdas.createSchedule(account, requestOf('large', { cron: '* * * * *', 'schedule-id': 'refused' }));
  const schedule = await lambdas.loadSchedule(account.id, 'refused');

  const time = Date.now();
  const notice = { accountId: account.id, scheduleId: 'refused', saveId: schedule?.saveId ?? '' };
  await lambdas.fire({ ...notice, time: new Date(time).toISOString() }, { sentAt: time });

  const fired = await lambdas.loadSchedule(account.id, 'refused');
  expect(JSON.stringify(fired)).toContain('max_requests_per_day_hard is 5; 0 messages were sent today');
  const day = dayOf(time);
  // Other processes read the count, and would refuse messages that the account may send.
  expect((await lambdas.usageOf(account.id, day, day)).get(day)?.requests).toBe(0);
});
