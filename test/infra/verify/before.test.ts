/** The checks before a deployment, with recorded answers of an AWS account. */
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { App } from 'aws-cdk-lib';
import { describe, expect, it } from 'vitest';
import { readSettings } from '../../../lib/settings.ts';
import { beforeChecks } from '../../../verify/before/checks.ts';
import { verifyBefore } from '../../../verify/before/before.ts';
import type { AwsAccount, Stack } from '../../../verify/before/account.ts';
import { withoutMissingImports } from '../../../verify/before/changeSets.ts';
import { judgeChangeSet } from '../../../verify/before/changeSet.ts';
import type { Network, RouteTable } from '../../../verify/before/network.ts';
import { namedTypes } from '../../../verify/before/names.ts';
import { alarmQueriesIn } from '../../../verify/before/alarms.ts';
import { changeSetCalls, changeSetClientsIn, readersIn, readingCalls } from '../../../verify/clients.ts';
import { type Deployment, readTemplate } from '../../../verify/deployment.ts';
import { cdkContext, synthesize } from '../app.ts';
import {
  type Context,
  everythingOn,
  instances,
  instancesInVpc,
  oneRegion,
  tuned,
  unprotected,
  withAddresses,
} from '../variants.ts';
import { ExecuteChangeSetCommand } from '@aws-sdk/client-cloudformation';
import { PurgeQueueCommand } from '@aws-sdk/client-sqs';

const region = 'eu-central-1';

const vpc = 'vpc-0a1b2c3d';

/** A table whose subnets reach the internet through a NAT gateway. */
const privateTable: RouteTable = {
  id: 'rtb-0a1b2c3d',
  subnets: ['subnet-0a1b2c3d', 'subnet-0b1b2c3d'],
  isMain: false,
  routes: [
    { to: '10.1.0.0/16', via: 'local', isActive: true },
    { to: '0.0.0.0/0', via: 'nat-0a1b2c3d', isActive: true },
  ],
};

/** The VPC's route table for subnets without their own. */
const mainTable: RouteTable = {
  id: 'rtb-0c1b2c3d',
  subnets: [],
  isMain: true,
  routes: [{ to: '10.1.0.0/16', via: 'local', isActive: true }],
};

const zones = ['euc1-az1', 'euc1-az2', 'euc1-az3'];

const subnets = (given: (at: number) => object): Pick<Network, 'subnets'> => ({
  subnets: (ids) =>
    Promise.resolve(
      ids.map((id, at) => ({ id, vpc, zoneId: zones[at] ?? '', freeAddresses: 200, ...given(at) })),
    ),
});

const addresses = (given: object): Pick<Network, 'addresses'> => ({
  addresses: (ids) =>
    Promise.resolve(
      ids.map((id) => ({ id, address: '192.0.2.1', isInUse: false, borderGroup: region, ...given })),
    ),
});

const defaultRoute = (via: string, isActive: boolean): Pick<Network, 'routeTablesIn'> => ({
  routeTablesIn: () => Promise.resolve([{ ...privateTable, routes: [{ to: '0.0.0.0/0', via, isActive }] }]),
});

const goodNetwork: Network = {
  dnsOf: () => Promise.resolve({ isOn: true, hasHostnames: true }),
  endpointsIn: () => Promise.resolve([]),
  routeTablesIn: () => Promise.resolve([mainTable, privateTable]),
  ...subnets(() => ({})),
  ...addresses({}),
  addressesOfNat: () => Promise.resolve([]),
  zones: () =>
    Promise.resolve(zones.map((id, at) => ({ id, name: `${region}${'abc'[at] ?? ''}`, isAvailable: true }))),
  zonesOfService: () => Promise.resolve(zones),
};

type Quotas = Awaited<ReturnType<AwsAccount['quotas']>>;

const writeQuota = (value: number) => ({
  code: 'L-AB614373',
  name: 'Table-level write throughput limit',
  value,
});
const scheduleQuotas = (schedules: number): Quotas => [
  { code: 'L-C0FFEE01', name: 'Invocations throttle limit in transactions per second', value: 1_000 },
  {
    code: 'L-C0FFEE00',
    name: 'CreateSchedule throttle limit in transactions per second',
    value: schedules,
  },
];
const instanceQuota = (value: number) => ({
  code: 'L-1216C47A',
  name: 'Running On-Demand Standard (A, C, D, H, I, M, R, T, Z) instances',
  value,
});

/** An account with enough of everything, except what is given by service. */
const quotas = (given: Readonly<Record<string, Quotas>>): Pick<AwsAccount, 'quotas'> => {
  const all: Readonly<Record<string, Quotas>> = {
    dynamodb: [writeQuota(40_000)],
    ec2: [instanceQuota(1_152)],
    scheduler: scheduleQuotas(5_000),
    ...given,
  };
  return { quotas: (service) => Promise.resolve(all[service] ?? []) };
};

const certificate = (
  given: Partial<Awaited<ReturnType<AwsAccount['certificate']>>>,
): Pick<AwsAccount, 'certificate'> => ({
  certificate: () =>
    Promise.resolve({
      status: 'ISSUED',
      names: ['*.example.com'],
      expiresAt: new Date(Date.now() + 1e9),
      ...given,
    }),
});

const gateway = (
  given: Partial<Awaited<ReturnType<AwsAccount['gateway']>>>,
): Pick<AwsAccount, 'gateway'> => ({
  gateway: () => Promise.resolve({ logRole: undefined, rate: 10_000, burst: 5_000, ...given }),
});

const roleOf = (name: string): string => `arn:aws:iam::111122223333:role/${name}`;

/** An account without any deployment. */
const empty: AwsAccount = {
  identity: () => Promise.resolve({ account: '111122223333', caller: 'arn:aws:iam::111122223333:user/ops' }),
  bootstrapVersion: () => Promise.resolve(21),
  stack: () => Promise.resolve(undefined),
  isTaken: () => Promise.resolve(false),
  concurrency: () => Promise.resolve({ limit: 1_000, unreserved: 1_000 }),
  codeStorage: () => Promise.resolve({ used: 67 * 2 ** 30, limit: 75 * 2 ** 30 }),
  ...gateway({}),
  evaluate: () => Promise.resolve(),
  exports: () => Promise.resolve(new Set()),
  changeSet: () => Promise.resolve({ isTaken: true, faults: [], warnings: [] }),
  network: goodNetwork,
  ...certificate({}),
  ...quotas({}),
  mayMakePublicUrls: () => Promise.resolve({ isAllowed: true, isAllowedByOrganization: undefined }),
};

const named = (name: string, message: string): Error => Object.assign(new Error(message), { name });

const stack = (of: Partial<Stack> = {}): Stack => ({
  status: 'UPDATE_COMPLETE',
  isProtected: false,
  logicalIds: new Set(),
  physicalIds: new Set(),
  isOfChangeSets: false,
  ...of,
});

function deploymentOf(context: Context): Deployment {
  const stacks = synthesize(context).stacks.map(({ name, region: where, template }) =>
    readTemplate(name, where, template.toJSON()),
  );
  const settings = readSettings(new App({ context: { ...cdkContext, ...context } }));
  return { settings, stacks, qualifier: 'hnb659fds' };
}

const outcomesOf = (aws: Partial<AwsAccount>, context: Context = oneRegion) =>
  verifyBefore({
    deployment: deploymentOf(context),
    regions: [region],
    only: [],
    isEmulator: false,
    open: () => ({ ...empty, ...aws }),
    signal: new AbortController().signal,
  });

it('An empty account passes with the default settings', async () => {
  const outcomes = await outcomesOf({});
  expect(outcomes.map(({ check }) => check)).toEqual(beforeChecks.map(({ name }) => name));
  expect(
    outcomes
      .filter(({ result }) => result !== 'good')
      .map(({ check, result, seen }) => [check, result, seen]),
  ).toEqual([
    ['instance-quotas', 'skipped', 'longDelivery is functions, so there are no instances'],
    ['certificates', 'skipped', 'the setting domains has none here'],
    ['endpoints', 'skipped', 'the setting vpcs has no VPC here'],
    ['routes', 'skipped', 'the setting vpcs has no VPC here'],
    ['zones', 'skipped', 'the setting vpcs has no VPC here'],
    ['addresses', 'skipped', 'the setting fixedAddresses has none here'],
  ]);
  expect(outcomes.map(({ seen }) => seen)).toContainEqual(expect.stringMatching(/^\d\d names are free$/));
});

it.each([
  ['a VPC of the operator', everythingOn, ['addresses']],
  ['fixed addresses', withAddresses, ['endpoints', 'routes']],
  [
    'managed instances in a VPC of their own',
    instances,
    ['certificates', 'endpoints', 'routes', 'addresses'],
  ],
  ['a domain that exists already', instancesInVpc, ['certificates', 'addresses']],
])('An account with %s passes with all settings', async (_, context, skipped) => {
  const outcomes = await outcomesOf({}, context);
  expect(outcomes.filter(({ result }) => result === 'short')).toEqual([]);
  expect(outcomes.filter(({ result }) => result === 'skipped').map(({ check }) => check)).toEqual(skipped);
});

const net = (of: Partial<Network>): Partial<AwsAccount> => ({ network: { ...goodNetwork, ...of } });

const endpoint = (service: string, of: object = {}) => ({
  id: `vpce-${service}`,
  service: `com.amazonaws.${region}.${service}`,
  isGateway: false,
  hasPrivateDns: true,
  routeTables: [],
  ...of,
});

/** The sentence of each check about an account with a problem. */
const short: readonly {
  readonly check: string;
  readonly sentence: RegExp;
  readonly aws: Partial<AwsAccount>;
  readonly context?: Context;
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
    aws: {
      stack: (name) => Promise.resolve(stack({ isProtected: name.endsWith('State') })),
      ...gateway({ logRole: roleOf('theirs') }),
    },
    context: unprotected,
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
    context: tuned,
  },
  {
    check: 'throttle',
    sentence:
      /gives the account 2500 requests a second and 1250 at once; the settings have throttleRate=10000/,
    aws: gateway({ rate: 2_500, burst: 1_250 }),
  },
  {
    check: 'gateway-log',
    sentence: /role\/theirs, which this deployment would replace/,
    aws: gateway({ logRole: roleOf('theirs') }),
  },
  {
    check: 'gateway-log',
    sentence: /gatewayLogRole is false, and API Gateway has no role/,
    aws: {},
    context: unprotected,
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
    check: 'change-sets',
    sentence: /CloudFormation does not take Svc-eu-central-1-Service: Queues extraneous key \[Colour\]\.$/,
    aws: {
      changeSet: ({ stackName }) =>
        Promise.resolve(
          stackName.endsWith('-Service')
            ? { isTaken: false, faults: ['Queues extraneous key [Colour]'], warnings: [] }
            : { isTaken: true, faults: [], warnings: [] },
        ),
    },
  },
  {
    check: 'dynamodb-quotas',
    sentence:
      /A table may take 10000 write units a second; 10000 messages a second \(throttleRate\) need 20000/,
    aws: quotas({ dynamodb: [writeQuota(10_000)] }),
  },
  {
    check: 'scheduler-quotas',
    sentence:
      /throttleRate=10000 is delayed by more than 15 minutes, 1000 schedules a second are needed, and 250 schedules may be made in a second/,
    aws: quotas({ scheduler: scheduleQuotas(250) }),
  },
  {
    check: 'concurrency',
    sentence: /deliveries may take 400 executions .* that is 404/,
    aws: { concurrency: () => Promise.resolve({ limit: 10, unreserved: 10 }) },
    context: instances,
  },
  {
    check: 'instance-quotas',
    sentence: /EC2 lets 16 vCPUs of standard instances run, .* may have 84 while a deployment/,
    aws: quotas({ ec2: [instanceQuota(16)] }),
    context: instances,
  },
  {
    check: 'function-settings',
    sentence:
      /^A function has 3584 MB of memory\. With 900 concurrent executions the account is new, .* 3008 MB/,
    aws: { concurrency: () => Promise.resolve({ limit: 900, unreserved: 900 }) },
    context: { deliveryMemory: '1024', accountConcurrency: '900' },
  },
  {
    check: 'code-storage',
    sentence: /^Lambda stores 68\.0 GB of code, .* 75\.0 GB at most\.$/,
    aws: { codeStorage: () => Promise.resolve({ used: 68 * 2 ** 30, limit: 75 * 2 ** 30 }) },
  },
  {
    check: 'certificates',
    sentence: /0a1b2c3d is PENDING_VALIDATION/,
    aws: certificate({ status: 'PENDING_VALIDATION' }),
    context: everythingOn,
  },
  {
    check: 'certificates',
    sentence:
      /0a1b2c3d is for queue\.example\.com, \*\.admin\.example\.com, and not for admin\.example\.com\.$/,
    aws: certificate({ names: ['queue.example.com', '*.admin.example.com'] }),
    context: everythingOn,
  },
  {
    check: 'certificates',
    sentence: /expired at 2026-01-01T00:00:00\.000Z/,
    aws: certificate({ expiresAt: new Date('2026-01-01') }),
    context: everythingOn,
  },
  {
    check: 'function-urls',
    sentence:
      /A policy of the organisation forbids function URLs that are open to everybody, which publishUrl/,
    aws: { mayMakePublicUrls: () => Promise.resolve({ isAllowed: false, isAllowedByOrganization: false }) },
    context: everythingOn,
  },
  {
    check: 'endpoints',
    sentence: /vpce-sqs has the private name of sqs\.$/,
    aws: net({ endpointsIn: () => Promise.resolve([endpoint('sqs')]) }),
    context: everythingOn,
  },
  {
    check: 'endpoints',
    sentence: /vpce-s3 has the route to s3 in rtb-0a1b2c3d\.$/,
    aws: net({
      endpointsIn: () =>
        Promise.resolve([
          endpoint('s3', { isGateway: true, hasPrivateDns: false, routeTables: ['rtb-0a1b2c3d'] }),
        ]),
    }),
    context: everythingOn,
  },
  {
    check: 'endpoints',
    sentence: /vpc-0a1b2c3d has DNS support or DNS hostnames off/,
    aws: net({ dnsOf: () => Promise.resolve({ isOn: true, hasHostnames: false }) }),
    context: everythingOn,
  },
  {
    check: 'routes',
    sentence: /subnet-0b1b2c3d is in vpc-0f/,
    aws: net(subnets((at) => (at === 0 ? {} : { vpc: 'vpc-0f' }))),
    context: everythingOn,
  },
  {
    check: 'routes',
    sentence: /subnet-0a1b2c3d leads to the internet gateway igw-0a1b2c3d/,
    aws: net(defaultRoute('igw-0a1b2c3d', true)),
    context: everythingOn,
  },
  {
    check: 'routes',
    sentence: /subnet-0a1b2c3d leads to nat-0a1b2c3d, which no longer exists/,
    aws: net(defaultRoute('nat-0a1b2c3d', false)),
    context: everythingOn,
  },
  {
    check: 'routes',
    sentence:
      /subnet-0b1b2c3d has no route to the internet, and no endpoint of dynamodb, s3, sqs, scheduler, secretsmanager, logs/,
    aws: net({
      routeTablesIn: () => Promise.resolve([mainTable, { ...privateTable, subnets: ['subnet-0a1b2c3d'] }]),
    }),
    context: instancesInVpc,
  },
  {
    check: 'zones',
    sentence: /has 2 zones here, euc1-az1 \(.*\), and 3 are needed: name those to use in the setting zones/,
    aws: net({ zones: async () => (await goodNetwork.zones()).slice(0, 2) }),
    context: instances,
  },
  {
    check: 'zones',
    sentence: /all subnets are in euc1-az1, and nothing is delivered when that zone fails/,
    aws: net(subnets(() => ({ zoneId: 'euc1-az1' }))),
    context: everythingOn,
  },
  {
    check: 'zones',
    sentence: /scheduler has no endpoints in euc1-az2, the zone of subnet-0b1b2c3d/,
    aws: net({
      zonesOfService: (service) => Promise.resolve(service.endsWith('.scheduler') ? ['euc1-az1'] : zones),
    }),
    context: everythingOn,
  },
  {
    check: 'zones',
    sentence: /subnet-0a1b2c3d has 3 free addresses/,
    aws: net(subnets(() => ({ freeAddresses: 3 }))),
    context: everythingOn,
  },
  {
    check: 'addresses',
    sentence: /eipalloc-0b1b2c3d \(192\.0\.2\.1\) belongs to something else already/,
    aws: {
      ...net({
        ...addresses({ isInUse: true }),
        addressesOfNat: (gateways) =>
          Promise.resolve(gateways.includes('nat-0a1b2c3d') ? ['eipalloc-0a1b2c3d'] : []),
      }),
      stack: () => Promise.resolve(stack({ physicalIds: new Set(['nat-0a1b2c3d']) })),
    },
    context: withAddresses,
  },
  {
    check: 'addresses',
    sentence: /is announced in eu-central-1-ham-1/,
    aws: net(addresses({ borderGroup: 'eu-central-1-ham-1' })),
    context: withAddresses,
  },
];

it.each(short)('$check fails with $sentence', async ({ check, sentence, aws, context }) => {
  const outcomes = await outcomesOf(aws, context);
  const found = outcomes.find((outcome) => outcome.check === check);
  const remedy = beforeChecks.find(({ name }) => name === check)?.remedy;
  expect(found).toMatchObject({ region, result: 'short', remedy });
  expect(found?.seen).toMatch(sentence);
  expect(outcomes.filter(({ result, check: other }) => result === 'short' && other !== check)).toEqual([]);
});

it('Every check except the first fails in one of these', () => {
  expect(new Set(['credentials', ...short.map(({ check }) => check)])).toEqual(
    new Set(beforeChecks.map(({ name }) => name)),
  );
});

it('Without credentials nothing else is requested', async () => {
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

it('The deployment’s own resources are no conflict', async () => {
  const { stacks } = deploymentOf(oneRegion);
  const outcomes = await outcomesOf({
    stack: (name) => {
      const template = stacks.find((one) => one.name === name);
      return Promise.resolve(stack({ logicalIds: new Set(Object.keys(template?.resources ?? {})) }));
    },
    isTaken: () => Promise.resolve(true),
    ...gateway({ logRole: roleOf('Svc-eu-central-1-Service-ApiLogRole9A97DE22-x') }),
  });
  expect(outcomes.filter(({ result }) => result === 'short')).toEqual([]);
});

describe('the templates', () => {
  /** Names that several resources may have, or that belong to a resource with its own name. */
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

  it('have alarms that are all requested, with one query or expression to be shown', () => {
    const alarms = deploymentOf(everythingOn).stacks.flatMap(alarmQueriesIn);
    expect(alarms.length).toBeGreaterThan(15);
    for (const { queries } of alarms)
      expect(queries.filter(({ ReturnData }) => ReturnData !== false)).toHaveLength(1);
  });
});

describe('nothing is changed', () => {
  const folder = resolve(import.meta.dirname, '../../../verify/before');

  it('by the calls that the checks make, except change sets, which they delete', () => {
    const calls = readdirSync(folder).flatMap((file) =>
      [...readFileSync(join(folder, file), 'utf8').matchAll(/new (\w+Command)\(/g)].map(([, call = '']) => ({
        file,
        call,
      })),
    );
    expect(calls.length).toBeGreaterThan(10);
    const changing = calls.filter(({ call }) => !readingCalls.test(call));
    expect(
      changing.filter(({ file, call }) => file !== 'changeSet.ts' || !changeSetCalls.test(call)),
    ).toEqual([]);
    expect(changing.map(({ call }) => call).toSorted()).toEqual([
      'CreateChangeSetCommand',
      'DeleteChangeSetCommand',
      'DeleteObjectCommand',
      'DeleteStackCommand',
      'PutObjectCommand',
    ]);
  });

  it('because the clients refuse other calls', async () => {
    const purge = new PurgeQueueCommand({ QueueUrl: 'https://sqs.eu-central-1.amazonaws.com/1/q' });
    await expect(readersIn(region).sqs.send(purge)).rejects.toThrow(
      'PurgeQueueCommand could change something.',
    );
    const execute = new ExecuteChangeSetCommand({ ChangeSetName: 'any', StackName: 'any' });
    await expect(changeSetClientsIn(region).cloudFormation.send(execute)).rejects.toThrow(
      'ExecuteChangeSetCommand could change something.',
    );
  });
});

describe('a quota of a replica', () => {
  it('must be the same in both regions', async () => {
    const asked: string[] = [];
    const outcomes = await verifyBefore({
      deployment: deploymentOf({}),
      regions: ['us-east-1'],
      only: ['dynamodb-quotas'],
      isEmulator: false,
      open: (place) => ({
        ...empty,
        quotas: () => {
          asked.push(place);
          return Promise.resolve([writeQuota(place === region ? 80_000 : 40_000)]);
        },
      }),
      signal: new AbortController().signal,
    });
    expect(asked).toEqual(['us-east-1', region]);
    expect(outcomes.at(-1)?.seen).toMatch(
      /40000 write units a second in us-east-1 and 80000 in eu-central-1/,
    );
  });
});

describe('a change set', () => {
  const failed = {
    Status: 'FAILED',
    StatusReason: 'Validation failed. Call DescribeEvents.',
  };

  it('is accepted if CloudFormation made it, or found nothing to change', () => {
    expect(judgeChangeSet({ Status: 'CREATE_COMPLETE' }, [])).toEqual({
      isTaken: true,
      faults: [],
      warnings: [],
    });
    const StatusReason = "The submitted information didn't contain changes. Submit different information.";
    expect(judgeChangeSet({ Status: 'FAILED', StatusReason }, []).isTaken).toBe(true);
  });

  it('fails with what DescribeEvents names, and distinguishes warnings', () => {
    expect(
      judgeChangeSet(failed, [
        {
          EventType: 'VALIDATION_ERROR',
          LogicalResourceId: 'Bodies',
          ValidationName: 'PROPERTY_VALIDATION',
          ValidationFailureMode: 'FAIL',
          ValidationPath: '/Resources/Bodies/Properties/Colour',
          ValidationStatusReason: 'Unsupported property [Colour]',
        },
        {
          EventType: 'VALIDATION_ERROR',
          LogicalResourceId: 'Vpc',
          ValidationFailureMode: 'WARN',
          ValidationStatusReason: 'The quota L-F678F1CE is reached',
        },
        { EventType: 'STACK_EVENT', LogicalResourceId: 'Svc', ResourceStatus: 'CREATE_COMPLETE' },
      ]),
    ).toEqual({
      isTaken: false,
      faults: [
        failed.StatusReason,
        'Bodies /Resources/Bodies/Properties/Colour Unsupported property [Colour]',
      ],
      warnings: ['Vpc The quota L-F678F1CE is reached'],
    });
  });

  it('has values in place of imports that are not exported yet, and leaves the others unchanged', () => {
    const { stacks } = deploymentOf(oneRegion);
    const [state, service] = ['State', 'Service'].map((end) => stacks.find(({ name }) => name.endsWith(end)));
    const there = { region, account: '111122223333' };
    const text = service?.text ?? '';
    const imports = [...text.matchAll(/"Fn::ImportValue":"([^"]+)"/g)].map(([, name = '']) => name);
    expect(imports.length).toBeGreaterThan(10);
    expect(withoutMissingImports(text, stacks, { ...there, exported: new Set(imports) })).toBe(text);
    const replaced = withoutMissingImports(text, stacks, { ...there, exported: new Set() });
    expect(replaced).not.toContain('Fn::ImportValue');
    expect(replaced).toContain(`"arn:aws:service:${region}:111122223333:to-come"`);
    expect(withoutMissingImports(state?.text ?? '', stacks, { ...there, exported: new Set() })).toBe(
      state?.text,
    );
  });
});
