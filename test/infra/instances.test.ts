/** The functions on managed instances, and the instances: with the setting `longDelivery`. */
import type { Template } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { functionSecondsOf, longestTimeoutSeconds, messagesInMemory } from '../../lambdas/aws/resources.ts';
import { longFunction } from '../../verify/after/delivery/instanceChecks.ts';
import {
  aliasReference,
  firstOf,
  properties,
  reference,
  resources,
  synthesize,
  synthesizeOne,
} from './app.ts';
import { functionsOf, nameOf, rightsOf } from './roles.ts';
import {
  emulated,
  everythingOn,
  instances,
  instancesInVpc,
  instancesInZones,
  withAddresses,
} from './variants.ts';

const { service, management } = firstOf(synthesize(instances));
const plain = synthesizeOne();

const onInstances = ['DeliverAlone', 'DeliverLong'];

const configShape = z.object({
  LambdaManagedInstancesCapacityProviderConfig: z.object({
    CapacityProviderArn: reference,
    PerExecutionEnvironmentMaxConcurrency: z.number(),
    ExecutionEnvironmentMemoryGiBPerVCpu: z.number(),
  }),
});
const placedShape = z.object({
  Environment: z.object({ Variables: z.record(z.string(), z.unknown()) }),
  CapacityProviderConfig: configShape.optional(),
  PublishToLatestPublished: z.boolean().optional(),
  MemorySize: z.number(),
  Timeout: z.number(),
  VpcConfig: z.unknown().optional(),
});

/** The functions on instances, by name, with their logical ids. */
const placedIn = (template: Template) =>
  new Map(
    [...resources(template, 'AWS::Lambda::Function')].flatMap(([id, { Properties }]) => {
      const { CapacityProviderConfig: config, ...found } = placedShape.parse(Properties);
      if (config === undefined) return [];
      const placement = config.LambdaManagedInstancesCapacityProviderConfig;
      return [[nameOf(found.Environment.Variables), { id, ...found, ...placement }] as const];
    }),
  );

const versionShape = z.object({
  FunctionName: reference,
  FunctionScalingConfig: z
    .object({ MinExecutionEnvironments: z.number(), MaxExecutionEnvironments: z.number() })
    .optional(),
});

/** The fewest and the most execution environments of the functions on instances, by name. */
function environmentsIn(template: Template): Record<string, readonly [least: number, most: number]> {
  const versions = properties(template, 'AWS::Lambda::Version', versionShape);
  return Object.fromEntries(
    [...placedIn(template)].map(([name, { id }]) => {
      const scaling = versions.find(({ FunctionName }) => FunctionName === id)?.FunctionScalingConfig;
      return [name, [scaling?.MinExecutionEnvironments ?? 0, scaling?.MaxExecutionEnvironments ?? 0]];
    }),
  );
}

const mappingShape = z.object({
  FunctionName: aliasReference,
  BatchSize: z.number(),
  ScalingConfig: z.object({ MaximumConcurrency: z.number() }),
});

/** The concurrent messages of the functions on instances, by name. */
const messagesIn = (template: Template): Record<string, number> =>
  Object.fromEntries(
    [...placedIn(template)].map(([name, { id }]) => {
      const [mapping] = properties(template, 'AWS::Lambda::EventSourceMapping', z.unknown())
        .map((one) => mappingShape.safeParse(one))
        .flatMap(({ data }) => data ?? [])
        .filter(({ FunctionName }) => FunctionName.startsWith(id.slice(0, -8)));
      return [name, (mapping?.ScalingConfig.MaximumConcurrency ?? 0) * (mapping?.BatchSize ?? 0)];
    }),
  );

const providerShape = z.object({
  VpcConfig: z.object({ SubnetIds: z.array(z.unknown()), SecurityGroupIds: z.array(z.unknown()) }),
  InstanceRequirements: z.object({
    Architectures: z.array(z.string()),
    AllowedInstanceTypes: z.array(z.string()),
  }),
  CapacityProviderScalingConfig: z.object({ MaxVCpuCount: z.number() }),
  PermissionsConfig: z.object({ CapacityProviderOperatorRoleArn: reference }),
  PropagateTags: z.object({ ExplicitTags: z.array(z.object({ Key: z.string(), Value: z.string() })) }),
  TelemetryConfig: z.object({ LoggingConfig: z.object({ LogGroup: reference }) }),
});

function providerIn(template: Template) {
  const [provider, ...others] = properties(template, 'AWS::Lambda::CapacityProvider', providerShape);
  if (provider === undefined || others.length > 0) throw new Error('There must be one capacity provider.');
  return provider;
}

describe('by default', () => {
  it('there are no instances, and no function may wait for longer', () => {
    plain.service.resourceCountIs('AWS::Lambda::CapacityProvider', 0);
    expect(placedIn(plain.service).size).toBe(0);
    for (const { Environment, name } of functionsOf(plain.service))
      expect(Environment.Variables, name).not.toHaveProperty('LONGEST_TIMEOUT');
  });
});

describe('the functions for long answers', () => {
  const placed = placedIn(service);

  it('run on one capacity provider, and others do not', () => {
    expect([...placed.keys()].sort()).toEqual(onInstances);
    const providers = resources(service, 'AWS::Lambda::CapacityProvider');
    for (const { CapacityProviderArn } of placed.values())
      expect([...providers.keys()]).toEqual([CapacityProviderArn]);
  });

  it('have the logical ids by which a check of a deployment finds them', () => {
    expect([...placed].filter(([, { id }]) => longFunction.test(id)).map(([name]) => name)).toEqual([
      'DeliverLong',
    ]);
  });

  it('may run for 90 minutes, of which the longest attempt leaves two', () => {
    for (const { Timeout } of placed.values()) expect(Timeout).toBe(5_400);
    expect(5_400 - longestTimeoutSeconds.instances).toBe(120);
    for (const template of [service, management])
      for (const { Environment, name } of functionsOf(template))
        expect(Environment.Variables['LONGEST_TIMEOUT'], name).toBe(String(longestTimeoutSeconds.instances));
  });

  it('have queues that hide a message for as long as a function runs, as Lambda requires, and no longer than otherwise', () => {
    const shape = z.object({ VisibilityTimeout: z.number() });
    for (const [id, { Properties }] of resources(service, 'AWS::SQS::Queue')) {
      const { VisibilityTimeout } = shape.parse(Properties);
      expect([id, VisibilityTimeout]).toEqual([
        id,
        shape.parse(resources(plain.service).get(id)?.Properties).VisibilityTimeout,
      ]);
      if (/^Queues(Long|Dead)[0-9A-F]{8}$/.test(id)) expect(VisibilityTimeout).toBeGreaterThanOrEqual(5_400);
    }
    expect(functionSecondsOf('slow', longestTimeoutSeconds.instances)).toBe(900);
  });

  it('have execution environments as small as Lambda allows, with memory for each of their messages', () => {
    for (const { MemorySize, ExecutionEnvironmentMemoryGiBPerVCpu: ratio } of placed.values())
      expect([MemorySize, MemorySize / 1_024 / ratio]).toEqual([2_048, 1]);
    const { PerExecutionEnvironmentMaxConcurrency: invocations } = z
      .object({ PerExecutionEnvironmentMaxConcurrency: z.number() })
      .parse(placed.get('DeliverLong'));
    expect(invocations).toBe(messagesInMemory(2_048));
    // "up to a maximum of 64 per vCPU"
    expect(invocations).toBeLessThanOrEqual(64);
    for (const { Environment } of placed.values())
      expect(Environment.Variables['AWS_LAMBDA_NODEJS_WORKER_COUNT']).toBe('1');
  });

  it('do jobs that kill their workers alone', () => {
    expect(placed.get('DeliverAlone')?.PerExecutionEnvironmentMaxConcurrency).toBe(1);
  });

  it.each([
    [service, { DeliverLong: 1_000, DeliverAlone: 20 }, { DeliverLong: [3, 18], DeliverAlone: [1, 20] }, 84],
    [
      synthesizeOne(instancesInZones).service,
      { DeliverLong: 20, DeliverAlone: 2 },
      { DeliverLong: [30, 30], DeliverAlone: [1, 2] },
      126,
    ],
  ])('deliver as many messages at once as the settings say: %#', (one, messages, environments, vCPUs) => {
    expect(messagesIn(one)).toEqual(messages);
    expect(environmentsIn(one)).toEqual(environments);
    expect(providerIn(one).CapacityProviderScalingConfig.MaxVCpuCount).toBe(vCPUs);
  });

  it.each([
    { stage: 'dev' },
    { longEnvironments: '19', deliveryConcurrency: '2' },
    { longEnvironments: '3700' },
  ])(
    'have enough vCPUs for a new version beside the former one, two for each environment, with %j',
    (context) => {
      const { service: one } = synthesizeOne({ ...instances, ...context });
      const needed = Object.values(environmentsIn(one)).reduce(
        (sum, [least, most]) => sum + 2 * (most + least),
        0,
      );
      const { MaxVCpuCount } = providerIn(one).CapacityProviderScalingConfig;
      expect(MaxVCpuCount).toBeGreaterThanOrEqual(needed);
      // "CapacityProviderScalingConfig"
      expect(MaxVCpuCount).toBeLessThanOrEqual(15_000);
    },
  );

  it('have no version that nothing invokes: each has separate instances', () => {
    for (const { PublishToLatestPublished } of placed.values()) expect(PublishToLatestPublished).toBe(false);
    const ids = new Set([...placed.values()].map(({ id }) => id));
    for (const { Properties, DeletionPolicy, UpdateReplacePolicy } of resources(
      service,
      'AWS::Lambda::Version',
    ).values()) {
      const isPlaced = ids.has(versionShape.parse(Properties).FunctionName);
      expect([DeletionPolicy, UpdateReplacePolicy]).toEqual(
        isPlaced ? ['Delete', 'Delete'] : ['RetainExceptOnCreate', 'Retain'],
      );
    }
  });

  it('may do the same as otherwise', () => {
    for (const name of onInstances) expect(rightsOf(service, name)).toEqual(rightsOf(plain.service, name));
  });

  it('are new ones if their network changes: Lambda moves neither a function nor a capacity provider', () => {
    const { service: moved } = synthesizeOne(instancesInVpc);
    const ids = (template: Template) => [...placedIn(template).values()].map(({ id }) => id);
    expect(ids(moved).filter((id) => ids(service).includes(id))).toEqual([]);
  });

  it('change at once with canary: a second version would double their instances', () => {
    const { service: canary } = synthesizeOne(everythingOn);
    const groups = [...resources(canary, 'AWS::CodeDeploy::DeploymentGroup').keys()];
    expect(groups.length).toBeGreaterThan(0);
    for (const name of onInstances) expect(groups.filter((id) => id.startsWith(`${name}Canary`))).toEqual([]);
  });
});

describe('the instances', () => {
  it('are small arm64 ones of three families, with the tag of the deployment', () => {
    const { InstanceRequirements, PropagateTags } = providerIn(service);
    expect(InstanceRequirements).toEqual({
      Architectures: ['arm64'],
      AllowedInstanceTypes: ['c7g.large', 'm7g.large', 'r7g.large'],
    });
    expect(PropagateTags.ExplicitTags).toEqual([{ Key: 'service', Value: 'Svc' }]);
  });

  it('are started with a role that has AWS’s rights for that, and that only Lambda may assume', () => {
    const { PermissionsConfig } = providerIn(service);
    const role = resources(service).get(PermissionsConfig.CapacityProviderOperatorRoleArn);
    expect(JSON.stringify(role?.Properties['ManagedPolicyArns'])).toContain(
      'AWSLambdaManagedEC2ResourceOperator',
    );
    expect(role?.Properties['AssumeRolePolicyDocument']).toMatchObject({
      Statement: [
        {
          Principal: { Service: 'lambda.amazonaws.com' },
          Condition: { StringEqualsIfExists: { 'aws:SourceAccount': { Ref: 'AWS::AccountId' } } },
        },
      ],
    });
    // No function has these permissions.
    for (const { Role } of functionsOf(service))
      expect(Role).not.toBe(PermissionsConfig.CapacityProviderOperatorRoleArn);
  });

  it('have a log that expires, and is deleted with them', () => {
    const { service: short } = synthesizeOne(withAddresses);
    const log = resources(short).get(providerIn(short).TelemetryConfig.LoggingConfig.LogGroup);
    expect(log).toMatchObject({ DeletionPolicy: 'Delete', Properties: { RetentionInDays: 1 } });
  });

  it('have a separate VPC by default: three zones, which share a NAT gateway, without incoming connections', () => {
    const { VpcConfig } = providerIn(service);
    expect([VpcConfig.SubnetIds.length, VpcConfig.SecurityGroupIds.length]).toEqual([3, 1]);
    service.resourceCountIs('AWS::EC2::NatGateway', 1);
    service.resourceCountIs('AWS::EC2::SecurityGroup', 1);
    service.hasResourceProperties('AWS::EC2::VPCEndpoint', { VpcEndpointType: 'Gateway' });
    service.resourceCountIs('AWS::EC2::SecurityGroupIngress', 0);
    // The other functions stay in Lambda's network.
    for (const found of properties(service, 'AWS::Lambda::Function', placedShape))
      expect(found.VpcConfig).toBeUndefined();
  });

  it('start after the ways out of their VPC exist: before, they would reach nothing', () => {
    const all = resources(service);
    const ways = ['Route', 'SubnetRouteTableAssociation', 'VPCEndpoint'].map((type) => `AWS::EC2::${type}`);
    const there = [...all].flatMap(([id, { Type }]) => (ways.includes(Type) ? [id] : []));
    expect(there.length).toBeGreaterThan(10);
    const [provider] = resources(service, 'AWS::Lambda::CapacityProvider').values();
    expect(provider?.DependsOn).toEqual(expect.arrayContaining(there));
  });

  it('are in the zones from the settings', () => {
    const { service: placed } = synthesizeOne(instancesInZones);
    expect(providerIn(placed).VpcConfig.SubnetIds).toHaveLength(2);
    const zones = properties(placed, 'AWS::EC2::Subnet', z.object({ AvailabilityZoneId: z.string() }));
    expect(new Set(zones.map(({ AvailabilityZoneId }) => AvailabilityZoneId))).toEqual(
      new Set(['euc1-az2', 'euc1-az3']),
    );
  });

  it('are in the operator’s VPC if there is one, together with the other delivery functions', () => {
    const { service: inVpc } = synthesizeOne(everythingOn);
    expect(providerIn(inVpc).VpcConfig.SubnetIds).toEqual(['subnet-0a1b2c3d', 'subnet-0b1b2c3d']);
    inVpc.resourceCountIs('AWS::EC2::VPC', 0);
    const connected = properties(inVpc, 'AWS::Lambda::Function', placedShape).flatMap(
      ({ Environment, VpcConfig }) => (VpcConfig === undefined ? [] : [nameOf(Environment.Variables)]),
    );
    expect(connected.sort()).toEqual(['DeliverShort', 'DeliverSlow']);
  });

  it('reach CloudWatch Logs and X-Ray through endpoints if all of AWS is reached so: their functions write from within', () => {
    const { service: inVpc } = synthesizeOne(everythingOn);
    const endpoint = z.object({ ServiceName: z.string(), PolicyDocument: z.unknown() });
    const found = properties(inVpc, 'AWS::EC2::VPCEndpoint', endpoint);
    const policyOf = (name: string): string =>
      JSON.stringify(found.find(({ ServiceName }) => ServiceName.endsWith(`.${name}`))?.PolicyDocument);
    expect(policyOf('logs')).toContain(':log-group:Svc-eu-central-1-Service-*');
    expect(policyOf('xray')).toContain('xray:PutTraceSegments');
  });

  it('are in each region', () => {
    const counts = synthesize(instances).regions.map((region) => placedIn(region.service).size);
    expect(counts).toEqual([2, 2]);
  });
});

describe('on an emulator, which has no capacity providers', () => {
  const { service: standIn } = synthesizeOne(emulated);

  it('plain functions wait for as long', () => {
    standIn.resourceCountIs('AWS::Lambda::CapacityProvider', 0);
    for (const { name, Timeout, Environment } of functionsOf(standIn)) {
      if (onInstances.includes(name)) expect([name, Timeout]).toEqual([name, 5_400]);
      expect(Environment.Variables['LONGEST_TIMEOUT']).toBe('5280');
    }
  });

  it('they have their aliases, and the mappings of their queues', () => {
    const ids = (template: Template, type: string) => [...resources(template, type).keys()].sort();
    for (const type of ['AWS::Lambda::Function', 'AWS::Lambda::Alias', 'AWS::Lambda::EventSourceMapping'])
      expect(ids(standIn, type)).toEqual(ids(plain.service, type));
  });
});
