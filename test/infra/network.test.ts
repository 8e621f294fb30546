import { Match, type Template } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { properties, resources, synthesize, synthesizeOne } from './app.ts';
import { nameOf, rightsOf } from './roles.ts';
import { closed, elsewhere, instancesInVpc, otherValues, reduced, tuned, withAddresses } from './variants.ts';

const delivery = ['DeliverAlone', 'DeliverLong', 'DeliverShort', 'DeliverSlow'];

/** The functions in a VPC, by name, each with its place. */
function connected(template: Template): Record<string, unknown> {
  const shape = z.object({
    Environment: z.object({ Variables: z.record(z.string(), z.unknown()) }),
    VpcConfig: z.unknown().optional(),
  });
  return Object.fromEntries(
    properties(template, 'AWS::Lambda::Function', shape).flatMap(({ Environment, VpcConfig }) =>
      VpcConfig === undefined ? [] : [[nameOf(Environment.Variables), VpcConfig]],
    ),
  );
}

const ofEc2 = (template: Template): readonly string[] =>
  [...resources(template).values()].map(({ Type }) => Type).filter((type) => type.startsWith('AWS::EC2'));

const policyShape = z.object({
  ServiceName: z.string(),
  VpcEndpointType: z.enum(['Gateway', 'Interface']),
  PolicyDocument: z.object({
    Statement: z.array(z.object({ Effect: z.string(), Action: z.unknown(), Resource: z.unknown() })),
  }),
});

/** A resource as in its template. The conditions that some resources have are needed only for the role. */
const named = (resource: unknown): string => JSON.stringify(resource);

const rightsIn = (actions: unknown, resource: unknown): readonly string[] =>
  [actions].flat().flatMap((action) => [resource].flat().map((one) => `${String(action)} ${named(one)}`));

/** The network resources for which a function in the network waits, and all that exist. */
function waysOf(template: Template) {
  const all = resources(template);
  const ways = ['Route', 'SubnetRouteTableAssociation', 'VPCEndpoint'].map((type) => `AWS::EC2::${type}`);
  const there = [...all].filter(([, { Type }]) => ways.includes(Type)).map(([id]) => id);
  const awaited = [...all.values()].flatMap(({ Type, Properties, DependsOn }) =>
    Type === 'AWS::Lambda::Function' && Properties['VpcConfig'] !== undefined
      ? [there.filter((id) => DependsOn.includes(id))]
      : [],
  );
  return { there, awaited };
}

describe('by default', () => {
  it('no function is in a VPC, and no EC2 resource is created', () => {
    const { service } = synthesizeOne();
    expect(connected(service)).toEqual({});
    expect(ofEc2(service)).toEqual([]);
  });
});

describe('with a VPC of the operator', () => {
  const { service } = synthesizeOne(elsewhere);
  const { service: behindEndpoints } = synthesizeOne(closed);

  it('exactly the delivery functions are in its subnets', () => {
    const found = connected(service);
    expect(Object.keys(found).sort()).toEqual(delivery);
    for (const name of delivery) {
      expect(found[name]).toMatchObject({ SubnetIds: ['subnet-0a1b2c3d', 'subnet-0b1b2c3d'] });
    }
  });

  it('nothing may connect to them, and they may connect only to the ports of destinations and to AWS', () => {
    service.resourceCountIs('AWS::EC2::SecurityGroup', 1);
    service.hasResourceProperties('AWS::EC2::SecurityGroup', {
      VpcId: 'vpc-0a1b2c3d',
      SecurityGroupIngress: Match.absent(),
      SecurityGroupEgress: [443, 8443].map((port) => ({
        CidrIp: '0.0.0.0/0',
        IpProtocol: 'tcp',
        FromPort: port,
        ToPort: port,
        Description: Match.anyValue(),
      })),
    });
    expect(ofEc2(service)).toEqual(['AWS::EC2::SecurityGroup']);
  });

  it('their roles let Lambda connect them, but not their code', () => {
    const roles = properties(service, 'AWS::IAM::Policy', z.unknown()).filter((policy) =>
      JSON.stringify(policy).includes('ec2:'),
    );
    expect(roles).toHaveLength(delivery.length);
    const shape = z.object({
      PolicyDocument: z.object({ Statement: z.array(z.looseObject({ Effect: z.string() })) }),
    });
    for (const role of roles) {
      const { Statement } = shape.parse(role).PolicyDocument;
      expect(Statement.filter(({ Effect }) => Effect === 'Deny')).toMatchObject([
        { Resource: '*', Condition: { Null: { 'lambda:SourceFunctionArn': 'false' } } },
      ]);
    }
  });

  it('an operator’s security group replaces the deployment’s', () => {
    const { service: own } = synthesizeOne(otherValues);
    // The endpoints have separate groups.
    own.resourceCountIs('AWS::EC2::SecurityGroup', 1);
    expect(connected(own)['DeliverShort']).toEqual({
      SubnetIds: ['subnet-0a1b2c3d', 'subnet-0b1b2c3d'],
      SecurityGroupIds: ['sg-0a1b2c3d'],
    });
  });

  it('endpoints allow what deliveries do, to this deployment’s resources, and only from them', () => {
    const endpoints = properties(behindEndpoints, 'AWS::EC2::VPCEndpoint', policyShape);
    expect(
      endpoints.map(({ ServiceName, VpcEndpointType }) => [ServiceName, VpcEndpointType]).sort(),
    ).toEqual([
      ['com.amazonaws.eu-central-1.dynamodb', 'Gateway'],
      ['com.amazonaws.eu-central-1.events', 'Interface'],
      ['com.amazonaws.eu-central-1.lambda', 'Interface'],
      ['com.amazonaws.eu-central-1.s3', 'Gateway'],
      ['com.amazonaws.eu-central-1.scheduler', 'Interface'],
      ['com.amazonaws.eu-central-1.secretsmanager', 'Interface'],
      ['com.amazonaws.eu-central-1.sns', 'Interface'],
      ['com.amazonaws.eu-central-1.sqs', 'Interface'],
    ]);
    for (const { PolicyDocument } of endpoints) {
      for (const { Effect, Resource } of PolicyDocument.Statement) {
        expect(Effect).toBe('Allow');
        expect([Resource].flat()).not.toContain('*');
      }
    }
    const throughEndpoints = endpoints.flatMap(({ PolicyDocument }) =>
      PolicyDocument.Statement.flatMap(({ Action, Resource }) => rightsIn(Action, Resource)),
    );
    // Outside the VPC, Lambda receives messages and passes roles.
    const elsewhere = /^sqs:(ReceiveMessage|GetQueueAttributes) |^iam:/;
    const ofFunctions = delivery.flatMap((name) => rightsOf(synthesizeOne(tuned).service, name, named));
    expect(new Set(throughEndpoints)).toEqual(new Set(ofFunctions.filter((right) => !elsewhere.test(right))));
    behindEndpoints.hasResourceProperties('AWS::EC2::SecurityGroupIngress', { FromPort: 443, ToPort: 443 });
    behindEndpoints.hasResourceProperties('AWS::EC2::VPCEndpoint', {
      ServiceName: 'com.amazonaws.eu-central-1.dynamodb',
      RouteTableIds: ['rtb-0a1b2c3d'],
    });
  });

  it('functions move in after the endpoints exist: before, they would reach nothing', () => {
    const { there, awaited } = waysOf(behindEndpoints);
    expect(there).toHaveLength(8);
    expect(awaited).toEqual(delivery.map(() => there));
  });

  it('only the endpoints of a list are created, and gateway endpoints need no group for interfaces', () => {
    const { service: some } = synthesizeOne(instancesInVpc);
    expect(properties(some, 'AWS::EC2::VPCEndpoint', policyShape)).toMatchObject([
      { ServiceName: 'com.amazonaws.eu-central-1.s3', VpcEndpointType: 'Gateway' },
    ]);
    some.resourceCountIs('AWS::EC2::SecurityGroup', 1);
  });

  it('another region stays outside', () => {
    const { regions } = synthesize(elsewhere);
    expect(regions.map(({ service: one }) => Object.keys(connected(one)).length)).toEqual([4, 0]);
  });
});

describe('with fixed addresses', () => {
  const { service } = synthesizeOne(reduced);

  it('deliveries leave through a NAT gateway for each address, each in a separate zone', () => {
    expect(Object.keys(connected(service)).sort()).toEqual(delivery);
    const gateways = properties(service, 'AWS::EC2::NatGateway', z.object({ AllocationId: z.string() }));
    expect(gateways.map(({ AllocationId }) => AllocationId).sort()).toEqual([
      'eipalloc-0a1b2c3d',
      'eipalloc-0b1b2c3d',
    ]);
    service.resourceCountIs('AWS::EC2::EIP', 0);
    const zones = properties(service, 'AWS::EC2::Subnet', z.object({ AvailabilityZone: z.unknown() }));
    expect(zones).toHaveLength(4);
    expect(new Set(zones.map((zone) => JSON.stringify(zone))).size).toBe(2);
  });

  it('the zones are those in the setting, by id, each with a subnet for the gateway and one for the functions', () => {
    const { service: placed } = synthesizeOne(withAddresses);
    const subnets = [...resources(placed, 'AWS::EC2::Subnet')].map(([id, { Properties }]) => [
      id.replace(/^NetworkVpc(.*)Subnet(\d)Subnet\w+$/, '$1 $2'),
      Properties['AvailabilityZoneId'],
      Properties['AvailabilityZone'],
    ]);
    expect(subnets.sort()).toEqual([
      ['Functions 1', 'euc1-az3', undefined],
      ['Functions 2', 'euc1-az2', undefined],
      ['Nat 1', 'euc1-az3', undefined],
      ['Nat 2', 'euc1-az2', undefined],
    ]);
  });

  it('functions move in after its routes and endpoints exist: before, they would reach nothing', () => {
    const { there, awaited } = waysOf(service);
    // For each of four subnets a route and its table, and two endpoints.
    expect(there).toHaveLength(10);
    expect(awaited).toEqual(delivery.map(() => there));
  });

  it('traffic to the tables and the bodies does not pass through it', () => {
    const endpoints = properties(service, 'AWS::EC2::VPCEndpoint', policyShape);
    expect(endpoints.map(({ ServiceName }) => ServiceName).sort()).toEqual([
      'com.amazonaws.us-east-1.dynamodb',
      'com.amazonaws.us-east-1.s3',
    ]);
  });
});
