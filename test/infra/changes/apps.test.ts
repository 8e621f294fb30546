/** The things that a CDK app removes: accounts with their grants, schedules and URL groups. */
import { App, Stack } from 'aws-cdk-lib';
import { Code, Function as LambdaFunction, FunctionUrlAuthType, Runtime } from 'aws-cdk-lib/aws-lambda';
import { describe, expect, it } from 'vitest';
import { SvcQueue } from '../../../lib/svcQueue.ts';
import { outFolder } from '../../support/synthFolder.ts';
import { madeStack } from '../app.ts';
import { type Deployed, deployedOf, refusals } from './deployed.ts';

const region = 'eu-central-1';

interface Contents {
  readonly accounts: readonly string[];
  readonly schedule?: boolean;
}

/** An app's stacks, in the CDK's order of deployment. */
function stacksOf({ accounts, schedule = false }: Contents): Stack[] {
  const app = new App({ outdir: outFolder() });
  const queue = new SvcQueue(app, 'Queue', { regions: [region] });
  const shop = new Stack(app, 'Shop', { env: { region } });
  const fn = (id: string) =>
    new LambdaFunction(shop, id, {
      runtime: Runtime.NODEJS_24_X,
      handler: 'index.handler',
      code: Code.fromInline('//'),
    });
  const receiver = fn('receiver').addFunctionUrl({ authType: FunctionUrlAuthType.NONE });
  for (const [at, id] of accounts.entries()) {
    const account = queue.account(id);
    account.grantPublish(fn(id));
    account.grantRead(fn(`${id}Reader`));
    if (schedule && at === 0)
      queue.schedule('daily', { cron: '0 6 * * *', destination: receiver.url, account });
  }
  const { stacks } = app.synth();
  return stacks.map(({ id }) => {
    const found = app.node.findChild(id);
    if (!(found instanceof Stack)) throw new Error(`${id} is no stack.`);
    return found;
  });
}

const deployed = new Map<string, Deployed>();
function deployedWith(contents: Contents): Deployed {
  const key = JSON.stringify(contents);
  const found = deployed.get(key) ?? deployedOf(stacksOf(contents).map(madeStack));
  deployed.set(key, found);
  return found;
}

/**
 * CloudFormation's refusals if an app is deployed over another version of itself. A stack that the app no longer has stays.
 */
function refusedFrom(before: Contents, after: Contents): string[] {
  const next = deployedWith(after);
  return refusals(deployedWith(before), next, Object.keys(next));
}

describe('an app', () => {
  it.each<[string, Contents, Contents]>([
    ['takes out one of two accounts with its grants', { accounts: ['a', 'b'] }, { accounts: ['a'] }],
    ['takes out the other', { accounts: ['a', 'b'] }, { accounts: ['b'] }],
    ['takes out its only account', { accounts: ['a'] }, { accounts: [] }],
    ['replaces its only account', { accounts: ['a'] }, { accounts: ['b'] }],
    [
      'takes out a schedule to one of its functions',
      { accounts: ['a', 'b'], schedule: true },
      { accounts: ['a', 'b'] },
    ],
    ['takes out everything', { accounts: ['a', 'b'], schedule: true }, { accounts: [] }],
    ['adds what it has not', { accounts: [] }, { accounts: ['a', 'b'], schedule: true }],
  ])('%s', (_, before, after) => {
    expect(refusedFrom(before, after)).toEqual([]);
  });
});
