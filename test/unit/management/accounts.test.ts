import { SQSClient } from '@aws-sdk/client-sqs';
import { beforeAll, describe, expect, it } from 'vitest';
import { takeNotices } from '../../support/accountNotices.ts';
import { itAtEachDeath } from '../../support/faults.ts';
import { useStandIns } from '../../support/useStandIns.ts';
import { watchedCalls } from '../../support/watchedCalls.ts';

/** Kills the function of the management API at each of its AWS calls. */

const standIns = useStandIns();

async function importLambdas() {
  const [accounts, store, { dynamodb }, { sqsIn }] = await Promise.all([
    import('../../../lambdas/management/accounts.ts'),
    import('../../../lambdas/account/accounts.ts'),
    import('../../../lambdas/aws/dynamodb.ts'),
    import('../../../lambdas/aws/sqs.ts'),
  ]);
  const { watch, setFate } = watchedCalls();
  watch(dynamodb);
  watch(sqsIn('eu-central-1'));
  return { ...accounts, ...store, setFate };
}
let lambdas: Awaited<ReturnType<typeof importLambdas>>;
beforeAll(async () => {
  lambdas = await importLambdas();
});

const notices = (): Promise<readonly string[]> => {
  const { sqs } = standIns();
  const client = new SQSClient({ region: 'eu-central-1', endpoint: sqs.url });
  return takeNotices(client, sqs.queueUrl('accountChanges'));
};

const bytes = (fields: object): Uint8Array => Buffer.from(JSON.stringify(fields));

describe('a change of an account’s state', () => {
  itAtEachDeath(
    'by a process that dies at any of its AWS calls is followed by its regions, if it was made',
    async (fate) => {
      const { id } = await lambdas.createAccount(bytes({}));
      await lambdas.updateAccount(id, bytes({ active: false }));
      await notices();
      lambdas.setFate(fate);
      await lambdas.updateAccount(id, bytes({ active: true })).catch(() => undefined);
      lambdas.setFate(undefined);
      const isMade = (await lambdas.loadAccount(id, true))?.active === true;
      const told = (await notices()).filter((body) => body.includes(id));
      if (isMade) expect(told.length).toBeGreaterThan(0);
      const whole = await lambdas.getAccount(id);
      expect(whole.active).toBe(isMade);
      expect(whole.state).toBe(isMade ? 'active' : 'passive');
    },
    { every: { ordinary: 1, thorough: 1 } },
  );

  it('notifies the account’s region twice, which notifies the others, and no region if the state did not change', async () => {
    const { id } = await lambdas.createAccount(bytes({}));
    await notices();
    await lambdas.updateAccount(id, bytes({ budget: 5 }));
    expect(await notices()).toEqual([]);
    await lambdas.updateAccount(id, bytes({ active: false }));
    const notice = JSON.stringify({ accountId: id, others: ['us-east-1'] });
    expect(await notices()).toEqual([notice, notice]);
  });
});
