import { SQSClient } from '@aws-sdk/client-sqs';
import { describe, expect, it, vi } from 'vitest';
import { takeNotices } from '../../../support/accountNotices.ts';
import { useStandIns } from '../../../support/useStandIns.ts';

/** Kills the function of the management API at each of its AWS calls. */

const standIns = useStandIns();

async function importLambdas() {
  vi.resetModules();
  const [accounts, store, { dynamodb }] = await Promise.all([
    import('../../../../lambdas/services/account/accounts.ts'),
    import('../../../../lambdas/stores/account/accounts.ts'),
    import('../../../../lambdas/stores/dynamodb.ts'),
  ]);
  let calls = 0;
  let last = Infinity;
  const mortal = async <T>(make: () => Promise<T>): Promise<T> => {
    calls += 1;
    if (calls > last) throw new Error('The process is dead.');
    return make();
  };
  dynamodb.middlewareStack.add((next) => (args) => mortal(() => next(args)), {
    step: 'initialize',
    name: 'mortal',
  });
  return {
    ...accounts,
    ...store,
    /** Lets the process live for so many calls of DynamoDB. */
    dieAfter: (live: number): void => {
      calls = 0;
      last = live;
    },
  };
}

const notices = (): Promise<readonly string[]> => {
  const { sqs } = standIns();
  const client = new SQSClient({ region: 'eu-central-1', endpoint: sqs.url });
  return takeNotices(client, sqs.queueUrl('accountChanges'));
};

const bytes = (fields: object): Uint8Array => Buffer.from(JSON.stringify(fields));

describe('a change of an account’s state', () => {
  it.each([0, 1, 2, 3, 4, 5, 6])(
    'by a process that dies after %d calls is followed by its regions, if it was made',
    async (live) => {
      const lambdas = await importLambdas();
      const { id } = await lambdas.createAccount(bytes({}));
      await lambdas.updateAccount(id, bytes({ active: false }));
      await notices();
      lambdas.dieAfter(live);
      await lambdas.updateAccount(id, bytes({ active: true })).catch(() => undefined);
      lambdas.dieAfter(Infinity);
      const isMade = (await lambdas.loadAccount(id, true))?.active === true;
      const told = (await notices()).filter((body) => body.includes(id));
      if (isMade) expect(told.length).toBeGreaterThan(0);
      const whole = await lambdas.getAccount(id);
      expect(whole.active).toBe(isMade);
      expect(whole.state).toBe(isMade ? 'active' : 'passive');
    },
  );

  it('tells the account’s region twice, which tells the others, and what changes nothing of the kind tells them nothing', async () => {
    const lambdas = await importLambdas();
    const { id } = await lambdas.createAccount(bytes({}));
    await notices();
    await lambdas.updateAccount(id, bytes({ budget: 5 }));
    expect(await notices()).toEqual([]);
    await lambdas.updateAccount(id, bytes({ active: false }));
    const notice = JSON.stringify({ accountId: id, others: ['us-east-1'] });
    expect(await notices()).toEqual([notice, notice]);
  });
});
