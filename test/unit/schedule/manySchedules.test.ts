import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Account } from '../../../lambdas/account/account.ts';
import { openFixture, requestOf, type Fixture } from '../../support/fixture.ts';

let fixture: Fixture;
let lambdas: Awaited<ReturnType<typeof importLambdas>>;

async function importLambdas() {
  const [schedules, shown, rows, fire] = await Promise.all([
    import('../../../lambdas/schedule/schedules.ts'),
    import('../../../lambdas/schedule/shownSchedules.ts'),
    import('../../../lambdas/schedule/rows.ts'),
    import('../../../lambdas/schedule/fire.ts'),
  ]);
  return { ...schedules, ...shown, loadSchedule: rows.loadSchedule, ...fire };
}

beforeAll(async () => {
  fixture = await openFixture();
  lambdas = await importLambdas();
});
afterAll(() => fixture.close());
beforeEach(() => fixture.startTest());

/** Bytes of a row: a hundred are more than DynamoDB reads at once. */
const large = 9_000;

async function create(account: Account, scheduleId: string, destination: string, filling = 'x') {
  const config = { cron: 'CRON_TZ=Europe/Berlin 0 9 * * *', 'schedule-id': scheduleId };
  const request = requestOf(destination, { ...config, 'forward-x-filling': filling });
  return lambdas.createSchedule(account, request);
}

describe('the limit of schedules', () => {
  it('counts those that one read does not return', async () => {
    const most = 130;
    const account = { ...fixture.account, id: 'many', limits: { max_schedules: most } };
    for (let number = 0; number < most; number += 1)
      await create(account, `many-${number}`, fixture.receiver.origin, 'x'.repeat(large));
    fixture.reset();
    await expect(create(account, 'another', fixture.receiver.origin)).rejects.toMatchObject({
      status: 412,
      message: `The schedule would be number ${most + 1}, but the account's limit max_schedules is ${most}.`,
    });
    expect(fixture.callsOf('QueryCommand')).toBeGreaterThan(1);
    await create(account, 'many-7', fixture.receiver.origin);
    await lambdas.deleteSchedule(account, 'many-8');
    await create(account, 'another', fixture.receiver.origin);
    await expect(create(account, 'one-more', fixture.receiver.origin)).rejects.toMatchObject({ status: 412 });
  });
});

describe('a list of schedules', () => {
  const statesOf = async (): Promise<readonly unknown[]> => {
    fixture.reset();
    const { records } = await lambdas.listSchedules(fixture.account, undefined, undefined);
    return records.map(({ lastScheduleStates = {} }) => Object.values(lastScheduleStates)[0]);
  };

  it('reads the messages of last fires until they are over', async () => {
    const inbox = fixture.receiver.inbox();
    const time = Math.ceil(Date.now() / 60_000) * 60_000;
    for (const scheduleId of ['a', 'b']) {
      await create(fixture.account, scheduleId, inbox.url);
      const { saveId = '' } = (await lambdas.loadSchedule(fixture.account.id, scheduleId)) ?? {};
      await lambdas.fire(
        { accountId: fixture.account.id, scheduleId, saveId, time: new Date(time).toISOString() },
        { sentAt: time },
      );
    }
    expect(await statesOf()).toEqual(['IN_PROGRESS', 'IN_PROGRESS']);
    expect(await statesOf()).toEqual(['IN_PROGRESS', 'IN_PROGRESS']);
    expect(fixture.callsOf('QueryCommand')).toBe(3);
    await fixture.doJobs();
    expect(await statesOf()).toEqual(['SUCCESS', 'SUCCESS']);
    expect(fixture.callsOf('QueryCommand')).toBe(3);
    expect(await statesOf()).toEqual(['SUCCESS', 'SUCCESS']);
    expect(fixture.callsOf('QueryCommand')).toBe(1);
  });
});
