import { describe, expect, it } from 'vitest';
import { randomUUID } from 'node:crypto';
import { newAccount, type Account } from '../../../lambdas/account/account.ts';
import { useStandIns } from '../../support/useStandIns.ts';
import { requestOf } from '../../support/fixture.ts';

useStandIns();

const importLambdas = async () => {
  const [follow, schedules, groups, accounts, schedulesStore, groupsStore] = await Promise.all([
    import('../../../lambdas/management/followAccount.ts'),
    import('../../../lambdas/schedule/schedules.ts'),
    import('../../../lambdas/urlGroup/endpoints.ts'),
    import('../../../lambdas/account/accounts.ts'),
    import('../../../lambdas/schedule/rows.ts'),
    import('../../../lambdas/urlGroup/rows.ts'),
  ]);
  return { ...follow, ...schedules, ...groups, ...accounts, schedulesStore, groupsStore };
};

async function accountWithThings(): Promise<Account> {
  const lambdas = await importLambdas();
  const account = newAccount({ id: randomUUID(), plan: 'paid', region: 'eu-central-1', createdAt: 0 });
  await lambdas.saveAccount(account, undefined);
  // Large enough for a separate row.
  const body = 'x'.repeat(3_000);
  for (const cron of ['0 * * * *', '30 4 1 * MON']) {
    await lambdas.createSchedule(account, requestOf('https://example.com/hook', { cron }, body));
  }
  await lambdas.addEndpoints(account, {
    name: 'group',
    body: Buffer.from('{"endpoints":[{"url":"https://example.com/a"}]}'),
    prefix: 'Svc',
    host: 'api.example.com',
  });
  return account;
}

async function thingsOf({ id }: Account) {
  const { schedulesStore, groupsStore } = await importLambdas();
  const [schedules, groups] = await Promise.all([
    schedulesStore.listSchedules(id),
    groupsStore.listUrlGroups(id),
  ]);
  return { schedules: schedules.length, groups: groups.length };
}

const noticeOf = ({ id }: Account) => ({ accountId: id });

describe('a region that follows an account', () => {
  it('deletes a deleted account’s schedules and URL groups, and changes nothing when repeated', async () => {
    const { followAccount, saveAccount } = await importLambdas();
    const [account, other] = [await accountWithThings(), await accountWithThings()];
    expect(await thingsOf(account)).toEqual({ schedules: 2, groups: 1 });
    const end = { active: false, state: 'deleted', deletedAt: Date.now(), version: 2 };
    await saveAccount({ ...account, ...end }, account);
    await followAccount(noticeOf(account));
    await followAccount(noticeOf(account));
    expect(await thingsOf(account)).toEqual({ schedules: 0, groups: 0 });
    expect(await thingsOf(other)).toEqual({ schedules: 2, groups: 1 });
  });

  it.each([
    { active: true, state: 'active' },
    { active: false, state: 'passive' },
  ])('keeps everything of an account that is %j', async (state) => {
    const { followAccount, saveAccount } = await importLambdas();
    const account = await accountWithThings();
    await saveAccount({ ...account, ...state, version: 2 }, account);
    await followAccount(noticeOf(account));
    expect(await thingsOf(account)).toEqual({ schedules: 2, groups: 1 });
  });

  it('does nothing for an unknown account', async () => {
    const { followAccount } = await importLambdas();
    await followAccount({ accountId: randomUUID() });
  });
});
