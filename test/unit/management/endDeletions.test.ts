import { SQSClient } from '@aws-sdk/client-sqs';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { takeNotices } from '../../support/accountNotices.ts';
import { itAtEachDeath } from '../../support/faults.ts';
import { requestOf } from '../../support/fixture.ts';
import { useStandIns } from '../../support/useStandIns.ts';
import { watchedCalls } from '../../support/watchedCalls.ts';

const standIns = useStandIns();

const weekMs = 7 * 24 * 3_600_000;

async function importLambdas() {
  const [accounts, store, ends, follow, schedules, rows, { dynamodb }, { sqsIn }] = await Promise.all([
    import('../../../lambdas/management/accounts.ts'),
    import('../../../lambdas/account/accounts.ts'),
    import('../../../lambdas/management/endDeletions.ts'),
    import('../../../lambdas/management/followAccount.ts'),
    import('../../../lambdas/schedule/schedules.ts'),
    import('../../../lambdas/schedule/rows.ts'),
    import('../../../lambdas/aws/dynamodb.ts'),
    import('../../../lambdas/aws/sqs.ts'),
  ]);
  const { watch, setFate } = watchedCalls();
  watch(dynamodb);
  watch(sqsIn('eu-central-1'));
  return { ...accounts, ...store, ...ends, ...follow, ...schedules, ...rows, setFate };
}
let lambdas: Awaited<ReturnType<typeof importLambdas>>;
beforeAll(async () => {
  lambdas = await importLambdas();
});

const body = (fields: object): Uint8Array => Buffer.from(JSON.stringify(fields));

async function newAccount(): Promise<string> {
  const { id } = await lambdas.createAccount(body({ type: 'paid' }));
  const account = await lambdas.loadAccount(id, true);
  if (account === undefined) throw new Error('There is no account.');
  await lambdas.createSchedule(account, requestOf('https://example.com/hook', { cron: '0 * * * *' }));
  return id;
}

const schedulesOf = async (id: string): Promise<number> => (await lambdas.listSchedules(id)).length;

const pass = (ms: number): void => {
  vi.useFakeTimers({ now: Date.now() + ms, toFake: ['Date'] });
};

const notices = (): Promise<readonly string[]> => {
  const { sqs } = standIns();
  const client = new SQSClient({ region: 'eu-central-1', endpoint: sqs.url });
  return takeNotices(client, sqs.queueUrl('accountChanges'));
};

/** Does what the workers do within the hour. */
async function endAndFollow(id: string): Promise<void> {
  await lambdas.endDeletions();
  await lambdas.followAccount({ accountId: id });
}

const gone = { status: 404, code: 'account_not_found' };

describe('a deleted account', () => {
  it('keeps its schedules for seven days, in which it is restored to its former state', async () => {
    const id = await newAccount();
    await lambdas.updateAccount(id, body({ active: false }));
    const { token } = await lambdas.deleteAccount(id);
    pass(weekMs - 60_000);
    await endAndFollow(id);
    expect(await schedulesOf(id)).toBe(1);
    const restored = await lambdas.restoreAccount(id);
    expect(restored).toMatchObject({ token, active: false, state: 'passive', deletion_time: 0 });
    pass(weekMs);
    await endAndFollow(id);
    expect(await schedulesOf(id)).toBe(1);
    expect(await lambdas.restoreAccount(id)).toEqual(await lambdas.getAccount(id));
  });

  it('loses them after seven days, and cannot be restored then, although the clock steps back', async () => {
    const [id, other] = [await newAccount(), await newAccount()];
    await lambdas.deleteAccount(id);
    pass(weekMs);
    await endAndFollow(id);
    expect([await schedulesOf(id), await schedulesOf(other)]).toEqual([0, 1]);
    await expect(lambdas.restoreAccount(id)).rejects.toMatchObject(gone);
    const told = await notices();
    pass(2 * weekMs);
    await lambdas.endDeletions();
    expect([told.length > 0, await notices()]).toEqual([true, []]);
    pass(-weekMs);
    await endAndFollow(id);
    await expect(lambdas.restoreAccount(id)).rejects.toMatchObject(gone);
  });

  it('is removed seven days later if the clock was ahead when it was deleted', async () => {
    const id = await newAccount();
    pass(52 * weekMs);
    await lambdas.deleteAccount(id);
    pass(-52 * weekMs);
    await endAndFollow(id);
    expect(await schedulesOf(id)).toBe(1);
    pass(weekMs);
    await endAndFollow(id);
    expect(await schedulesOf(id)).toBe(0);
  });

  itAtEachDeath(
    'is either restored or removed if both happen at once and either process dies',
    async (fate) => {
      const id = await newAccount();
      await lambdas.deleteAccount(id);
      await notices();
      pass(weekMs);
      lambdas.setFate(fate);
      await Promise.allSettled([lambdas.endDeletions(), lambdas.restoreAccount(id)]);
      lambdas.setFate(undefined);
      const { state } = await lambdas.getAccount(id);
      await endAndFollow(id);
      const isRestored = state === 'active';
      expect(await schedulesOf(id)).toBe(isRestored ? 1 : 0);
      expect((await notices()).some((text) => text.includes(id))).toBe(true);
    },
    { every: { ordinary: 1, thorough: 1 } },
  );
});
