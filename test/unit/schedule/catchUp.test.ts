import { DeleteMessageBatchCommand, PurgeQueueCommand, ReceiveMessageCommand } from '@aws-sdk/client-sqs';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { imported } from '../../support/imported.ts';
import { parseNotice, type FireNotice } from '../../../lambdas/schedule/schedule.ts';
import { dayMs, minuteMs } from '../../../lambdas/shared/clock.ts';
import { itAtEachDeath } from '../../support/faults.ts';
import { requestOf, type Fixture } from '../../support/fixture.ts';
import { useFixture } from '../../support/useFixture.ts';

/** Fires are missed while a schedule is paused, or its region or machine is away. */

let fixture: Fixture;
useFixture((opened) => {
  fixture = opened;
});
const lambdas = imported(async () => ({
  ...(await import('../../../lambdas/schedule/fire.ts')),
  ...(await import('../../../lambdas/schedule/schedules.ts')),
  ...(await import('../../../lambdas/schedule/rows.ts')),
  ...(await import('../../../lambdas/schedule/changeSchedule.ts')),
  ...(await import('../../../lambdas/schedule/explainCron.ts')),
}));
const minuteOf = (time: number): number => Math.floor(time / minuteMs) * minuteMs;
/** The clock is stopped, half a minute before the next fire. */
const start = minuteOf(Date.now()) + minuteMs / 2;
const setClockAhead = (ms: number): void => void vi.setSystemTime(start + ms);
beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: start });
  await fixture.sqs.send(new PurgeQueueCommand({ QueueUrl: fixture.settings.fireQueueUrl }));
});
afterEach(() => {
  vi.useRealTimers();
});

let made = 0;
async function scheduled(catchUp: string | undefined, cron = '* * * * *') {
  made += 1;
  const scheduleId = `minutely-${made}`;
  const config = {
    cron,
    'schedule-id': scheduleId,
    delay: '7d',
    ...(catchUp !== undefined && { 'catch-up': catchUp }),
  };
  await lambdas.createSchedule(fixture.account, requestOf(fixture.receiver.origin, config));
  const { id: accountId } = fixture.account;
  const { saveId = '' } = (await lambdas.loadSchedule(accountId, scheduleId)) ?? {};
  const notice = (time: number, kind?: FireNotice['kind']): FireNotice => ({
    accountId,
    scheduleId,
    saveId,
    time: new Date(time).toISOString(),
    kind,
  });
  const firesOf = async (): Promise<readonly number[]> =>
    (await lambdas.lastFires(accountId, scheduleId, 1_000)).map(({ time }) => time).sort((a, b) => a - b);
  return { scheduleId, notice, firesOf };
}

const fire = (notice: FireNotice) => lambdas.fire(notice, { sentAt: Date.now() });

async function sent(): Promise<readonly FireNotice[]> {
  const found: FireNotice[] = [];
  for (;;) {
    const { Messages = [] } = await fixture.sqs.send(
      new ReceiveMessageCommand({ QueueUrl: fixture.settings.fireQueueUrl, MaxNumberOfMessages: 10 }),
    );
    if (Messages.length === 0) return found;
    found.push(...Messages.map(({ Body = '' }) => parseNotice(Body)));
    // Deletes them, because a slow test would receive them again.
    const Entries = Messages.map(({ ReceiptHandle }, index) => ({ Id: String(index), ReceiptHandle }));
    await fixture.sqs.send(
      new DeleteMessageBatchCommand({ QueueUrl: fixture.settings.fireQueueUrl, Entries }),
    );
  }
}
const timesOf = (notices: readonly FireNotice[]): readonly number[] =>
  notices.map(({ time }) => Date.parse(time)).sort((a, b) => a - b);

describe('a schedule that missed fires', () => {
  it.each([
    ['all', 10, 10],
    ['1', 10, 1],
    ['all', 250, 100],
    [undefined, 10, 0],
  ] as const)(
    'with Svc-Catch-Up %s and %i missed fires makes up for %i, once each',
    async (catchUp, missed, expected) => {
      const { notice, firesOf } = await scheduled(catchUp);
      const first = minuteOf(Date.now()) + minuteMs;
      setClockAhead(missed * minuteMs);
      const at = Date.now();
      await fire(notice(at, 'look'));
      const notices = await sent();
      const all = Array.from(
        { length: Math.ceil((at - first) / minuteMs) },
        (_, index) => first + index * minuteMs,
      );
      expect(timesOf(notices)).toEqual(expected === 0 ? [] : all.slice(-expected));
      if (expected > 10) return;
      // Each notice may be delivered twice.
      for (const one of [...notices, ...notices]) await fire(one);
      expect(await firesOf()).toEqual(timesOf(notices));
      expect(await sent()).toEqual([]);
    },
  );

  it('does not make up for fires before its expression was changed, nor for those older than 14 days', async () => {
    const { scheduleId, notice } = await scheduled('all', '0 0 1 1 *');
    setClockAhead(10 * dayMs);
    const change = { body: Buffer.from('{"headers": {"Svc-Cron": "0 0 * * *"}}'), host: 'api.example.com' };
    await lambdas.changeSchedule(fixture.account, scheduleId, change);
    const { saveId = '' } = (await lambdas.loadSchedule(fixture.account.id, scheduleId)) ?? {};
    await fire({ ...notice(Date.now(), 'look'), saveId });
    expect(await sent()).toEqual([]);
    // A change of something else keeps the missed fires.
    setClockAhead(50 * dayMs);
    const label = { body: Buffer.from('{"headers": {"Svc-Label": "daily"}}'), host: 'api.example.com' };
    await lambdas.changeSchedule(fixture.account, scheduleId, label);
    const latest = await lambdas.loadSchedule(fixture.account.id, scheduleId);
    await fire({ ...notice(Date.now(), 'look'), saveId: latest?.saveId ?? '' });
    expect(await sent()).toHaveLength(14);
  });

  it('looks for missed fires when it is resumed, and not while it is paused', async () => {
    const { scheduleId, notice, firesOf } = await scheduled('all');
    await lambdas.pauseSchedule(fixture.account, scheduleId, true);
    setClockAhead(3 * minuteMs);
    await fire(notice(Date.now(), 'look'));
    expect(await sent()).toEqual([]);
    await lambdas.pauseSchedule(fixture.account, scheduleId, false);
    const looks = await sent();
    expect(looks).toMatchObject([{ scheduleId, kind: 'look' }]);
    for (const look of looks) await fire(look);
    for (const one of await sent()) await fire(one);
    expect(await firesOf()).toHaveLength(3);
  });

  itAtEachDeath('makes up for them at its next fire, whenever the worker of that dies', async (fate) => {
    setClockAhead(0);
    const { notice, firesOf } = await scheduled('all');
    const first = minuteOf(Date.now()) + minuteMs;
    setClockAhead(4 * minuteMs);
    const at = first + 3 * minuteMs;
    await fixture.underFate(fate, () => fire(notice(at)));
    fixture.reset();
    // Another worker gets the fire after a minute, when the dead one’s claim has expired.
    setClockAhead(6 * minuteMs);
    await fire(notice(at));
    for (const one of await sent()) await fire(one);
    expect(await firesOf()).toEqual([first, first + minuteMs, first + 2 * minuteMs, at]);
  });

  it('costs a fire without missed ones no extra call', async () => {
    const counts = [];
    for (const catchUp of ['all', undefined]) {
      const { notice } = await scheduled(catchUp);
      const at = minuteOf(Date.now()) + minuteMs;
      setClockAhead(minuteMs);
      await fire(notice(at));
      fixture.reset();
      await fire(notice(at + minuteMs));
      // Usage is reported occasionally.
      const { UpdateItemCommand: _, ...others } = fixture.operations();
      counts.push(others);
    }
    expect(counts[0]).toEqual(counts[1]);
  });
});

it('The next fires of a schedule are shown in its time zone', async () => {
  const { scheduleId } = await scheduled(undefined, 'CRON_TZ=Europe/Berlin 30 9 1 * *');
  const { timezone, fires } = await lambdas.getNextFires(fixture.account, scheduleId, '3');
  expect([timezone, fires.length]).toEqual(['Europe/Berlin', 3]);
  for (const { local } of fires) expect(local).toMatch(/^\d{4}-\d{2}-01 09:30$/);
  await expect(lambdas.getNextFires(fixture.account, scheduleId, '101')).rejects.toMatchObject({
    status: 400,
  });
  await expect(lambdas.getNextFires(fixture.account, 'none', undefined)).rejects.toMatchObject({
    status: 404,
  });
});
