/** The checks before a deployment, each against recorded answers of an AWS account. */
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { beforeChecks } from '../../../verify/before/checks.ts';
import { verifyBefore } from '../../../verify/before/before.ts';
import type { AwsAccount, Stack } from '../../../verify/before/account.ts';
import { namedTypes } from '../../../verify/before/names.ts';
import { alarmQueriesIn } from '../../../verify/before/alarms.ts';
import { readersIn, readingCalls } from '../../../verify/clients.ts';
import { type Deployment, readDeployment } from '../../../verify/deployment.ts';
import { everythingOn } from '../app.ts';
import { PurgeQueueCommand } from '@aws-sdk/client-sqs';

const region = 'eu-central-1';
const ofOne = { regions: region };

/** An account in which nothing is deployed yet. */
const empty: AwsAccount = {
  identity: () => Promise.resolve({ account: '111122223333', caller: 'arn:aws:iam::111122223333:user/ops' }),
  bootstrapVersion: () => Promise.resolve(21),
  stack: () => Promise.resolve(undefined),
  isTaken: () => Promise.resolve(false),
  concurrency: () => Promise.resolve({ limit: 1_000, unreserved: 1_000 }),
  gateway: () => Promise.resolve({ logRole: undefined, rate: 10_000, burst: 5_000 }),
  evaluate: () => Promise.resolve(),
  validate: () => Promise.resolve(),
};

const named = (name: string, message: string): Error => Object.assign(new Error(message), { name });

const stack = (of: Partial<Stack> = {}): Stack => ({
  status: 'UPDATE_COMPLETE',
  isProtected: false,
  logicalIds: new Set(),
  ...of,
});

const synthesized = new Map<string, Deployment>();

/** Synthesizes the app once for each context. */
function deploymentOf(context: Readonly<Record<string, string>>): Deployment {
  const key = JSON.stringify(context);
  const deployment = synthesized.get(key) ?? readDeployment(context);
  synthesized.set(key, deployment);
  return deployment;
}

const outcomesOf = (aws: Partial<AwsAccount>, context: Readonly<Record<string, string>> = ofOne) =>
  verifyBefore({
    deployment: deploymentOf(context),
    regions: [region],
    only: [],
    isEmulator: false,
    open: () => ({ ...empty, ...aws }),
  });

it('An empty account is good for the defaults', async () => {
  const outcomes = await outcomesOf({});
  expect(outcomes.map(({ check }) => check)).toEqual(beforeChecks.map(({ name }) => name));
  expect(outcomes.filter(({ result }) => result !== 'good')).toEqual([]);
  expect(outcomes.map(({ seen }) => seen)).toContainEqual(expect.stringMatching(/^\d\d names are free$/));
});

/** What each check says of an account that is not as it has to be. */
const short: readonly {
  readonly check: string;
  readonly sentence: RegExp;
  readonly aws: Partial<AwsAccount>;
  readonly context?: Readonly<Record<string, string>>;
}[] = [
  {
    check: 'bootstrap',
    sentence: /no bootstrap stack with the qualifier hnb659fds/,
    aws: { bootstrapVersion: () => Promise.resolve(undefined) },
  },
  {
    check: 'bootstrap',
    sentence: /has version 5, the CDK needs 6/,
    aws: { bootstrapVersion: () => Promise.resolve(5) },
  },
  {
    check: 'stacks',
    sentence: /Svc-eu-central-1-State is ROLLBACK_COMPLETE/,
    aws: { stack: () => Promise.resolve(stack({ status: 'ROLLBACK_COMPLETE' })) },
  },
  {
    check: 'stacks',
    sentence: /is UPDATE_IN_PROGRESS/,
    aws: { stack: () => Promise.resolve(stack({ status: 'UPDATE_IN_PROGRESS' })) },
  },
  {
    check: 'names',
    sentence: /no stack of this deployment has them: Svc-accounts \(AWS::DynamoDB::GlobalTable\)\.$/,
    aws: { isTaken: ({ name }) => Promise.resolve(name === 'Svc-accounts') },
  },
  {
    check: 'protection',
    sentence: /Svc-eu-central-1-State has termination protection, and these settings have retain=false/,
    aws: { stack: (name) => Promise.resolve(stack({ isProtected: name.endsWith('State') })) },
    context: { ...ofOne, retain: 'false' },
  },
  {
    check: 'concurrency',
    sentence:
      /Lambda allows 10 executions at once: deliveries may take 600 executions .* that is 604; the alarm Concurrency/,
    aws: { concurrency: () => Promise.resolve({ limit: 10, unreserved: 10 }) },
  },
  {
    check: 'concurrency',
    sentence: /publishConcurrency=350 leaves 50 unreserved of 400, and Lambda wants 100/,
    aws: { concurrency: () => Promise.resolve({ limit: 1_000, unreserved: 400 }) },
    context: { ...ofOne, publishConcurrency: '350' },
  },
  {
    check: 'throttle',
    sentence:
      /gives the account 2500 requests a second and 1250 at once; the settings have throttleRate=10000/,
    aws: { gateway: () => Promise.resolve({ logRole: undefined, rate: 2_500, burst: 1_250 }) },
  },
  {
    check: 'gateway-log',
    sentence: /role\/theirs, which this deployment would replace/,
    aws: {
      gateway: () =>
        Promise.resolve({ logRole: 'arn:aws:iam::111122223333:role/theirs', rate: 10_000, burst: 5_000 }),
    },
  },
  {
    check: 'gateway-log',
    sentence: /gatewayLogRole is false, and API Gateway has no role/,
    aws: {},
    context: { ...ofOne, gatewayLogRole: 'false' },
  },
  {
    check: 'alarms',
    sentence: /CloudWatch does not take MonitoringOldestWork\w+: Error in expression 'expr_1'/,
    aws: {
      evaluate: (queries) =>
        queries.some(({ Expression = '' }) => Expression.includes('- 900'))
          ? Promise.reject(named('ValidationError', "Error in expression 'expr_1'"))
          : Promise.resolve(),
    },
  },
  {
    check: 'templates',
    sentence: /CloudFormation does not take Svc-eu-central-1-State: Template format error/,
    aws: { validate: () => Promise.reject(named('ValidationError', 'Template format error')) },
  },
];

it.each(short)('$check falls short with $sentence', async ({ check, sentence, aws, context }) => {
  const outcomes = await outcomesOf(aws, context);
  const found = outcomes.find((outcome) => outcome.check === check);
  const remedy = beforeChecks.find(({ name }) => name === check)?.remedy;
  expect(found).toMatchObject({ region, result: 'short', remedy });
  expect(found?.seen).toMatch(sentence);
  expect(outcomes.filter(({ result, check: other }) => result === 'short' && other !== check)).toEqual([]);
});

it('Every check but the first falls short in one of these', () => {
  expect(new Set(['credentials', ...short.map(({ check }) => check)])).toEqual(
    new Set(beforeChecks.map(({ name }) => name)),
  );
});

it('Without credentials nothing else is asked', async () => {
  const outcomes = await outcomesOf({
    identity: () => Promise.reject(named('ExpiredToken', 'The security token is expired')),
  });
  expect(outcomes).toEqual([
    {
      check: 'credentials',
      region,
      result: 'short',
      seen: 'ExpiredToken: The security token is expired',
      remedy: beforeChecks[0]?.remedy,
    },
  ]);
});

it('What this deployment has itself is not in its way', async () => {
  const { stacks } = deploymentOf(ofOne);
  const outcomes = await outcomesOf({
    stack: (name) => {
      const template = stacks.find((one) => one.name === name);
      return Promise.resolve(stack({ logicalIds: new Set(Object.keys(template?.resources ?? {})) }));
    },
    isTaken: () => Promise.resolve(true),
    gateway: () =>
      Promise.resolve({
        logRole: 'arn:aws:iam::111122223333:role/Svc-eu-central-1-Service-ApiLogRole9A97DE22-x',
        rate: 10_000,
        burst: 5_000,
      }),
  });
  expect(outcomes.filter(({ result }) => result !== 'good')).toEqual([]);
});

describe('the templates', () => {
  /** Names that several resources may have, or that belong to a resource with a name of its own. */
  const notUnique =
    /^AWS::(ApiGateway::(Authorizer|RestApi|Stage)|CloudWatch::Alarm MetricName|CodeDeploy::DeploymentGroup DeploymentConfigName|EC2::VPCEndpoint|IAM::Policy|Lambda::Alias|Logs::QueryDefinition|Route53::RecordSet)/;

  it('name resources of known types only', () => {
    const unknown = deploymentOf(everythingOn).stacks.flatMap(({ resources }) =>
      Object.values(resources).flatMap(({ Type, Properties }) =>
        Object.entries(Properties)
          .filter(([property, value]) => /Name$/.test(property) && typeof value === 'string')
          .map(([property]) => `${Type} ${property}`)
          .filter((text) => !notUnique.test(text) && text !== `${Type} ${namedTypes[Type]?.property ?? ''}`),
      ),
    );
    expect(unknown).toEqual([]);
  });

  it('have alarms that are all asked for, with one query or expression to be shown', () => {
    const alarms = deploymentOf(everythingOn).stacks.flatMap(alarmQueriesIn);
    expect(alarms.length).toBeGreaterThan(15);
    for (const { queries } of alarms)
      expect(queries.filter(({ ReturnData }) => ReturnData !== false)).toHaveLength(1);
  });
});

describe('nothing is changed', () => {
  const folder = resolve(import.meta.dirname, '../../../verify/before');

  it('by the calls that the checks make', () => {
    const calls = readdirSync(folder).flatMap((name) => [
      ...readFileSync(join(folder, name), 'utf8').matchAll(/new (\w+)Command\(/g),
    ]);
    expect(calls.length).toBeGreaterThan(10);
    expect(calls.flatMap(([, name = '']) => (readingCalls.test(name) ? [] : [name]))).toEqual([]);
  });

  it('because the clients refuse other calls', async () => {
    const purge = new PurgeQueueCommand({ QueueUrl: 'https://sqs.eu-central-1.amazonaws.com/1/q' });
    await expect(readersIn(region).sqs.send(purge)).rejects.toThrow(
      'PurgeQueueCommand could change something.',
    );
  });
});
