import { SQSClient } from '@aws-sdk/client-sqs';
import { describe, expect, it, vi } from 'vitest';
import { takeNotices } from '../../support/accountNotices.ts';
import { itAtEachDeath, makeUnder, type Fate } from '../../support/faults.ts';
import { useStandIns } from '../../support/useStandIns.ts';

/** Kills the function of the management API at each of its AWS calls. */

const standIns = useStandIns();

async function importLambdas() {
  vi.resetModules();
  const [accounts, store, { dynamodb }, { sqsIn }] = await Promise.all([
    import('../../../lambdas/management/accounts.ts'),
    import('../../../lambdas/account/accounts.ts'),
    import('../../../lambdas/aws/dynamodb.ts'),
    import('../../../lambdas/aws/sqs.ts'),
  ]);
  let fate: Fate | undefined;
  const options = { step: 'initialize', name: 'mortal' } as const;
  dynamodb.middlewareStack.add(
    (next, { commandName = '' }) =>
      (args) =>
        makeUnder(fate, commandName, () => next(args)),
    options,
  );
  sqsIn('eu-central-1').middlewareStack.add(
    (next, { commandName = '' }) =>
      (args) =>
        makeUnder(fate, commandName, () => next(args)),
    options,
  );
  return {
    ...accounts,
    ...store,
    /** Gives the process a fate, until the next. */
    setFate: (next: Fate | undefined): void => {
      fate = next;
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
  itAtEachDeath(
    'by a process that dies at any of its AWS calls is followed by its regions, if it was made',
    async (fate) => {
      const lambdas = await importLambdas();
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
