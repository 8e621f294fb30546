/**
 * The network of the delivery functions: by default Lambda's own. With the setting `vpcs` it is a VPC of the operator, so that
 * private hosts there can be destinations; with `fixedAddresses` it is a VPC made here, whose NAT gateways have the operator's
 * elastic addresses.
 */
import { Stack } from 'aws-cdk-lib';
import {
  CfnVPCEndpoint,
  IpAddresses,
  type ISecurityGroup,
  type IVpc,
  NatProvider,
  Peer,
  Port,
  SecurityGroup,
  SubnetType,
  Vpc,
} from 'aws-cdk-lib/aws-ec2';
import { AnyPrincipal, Effect, PolicyDocument, PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { IBucket } from 'aws-cdk-lib/aws-s3';
import { Construct } from 'constructs';
import { accept, PatternStatement } from '../acknowledge.ts';
import { namesOf, secretArn } from '../names.ts';
import type { Queues } from '../state/queues.ts';
import { valuesIn } from '../regional.ts';
import type { ScheduleGroup } from '../state/scheduleGroup.ts';
import type { Settings } from '../settings.ts';
import { allow } from '../statements.ts';
import type { Tables } from '../state/tables.ts';

/** The network of a function, as Lambda's settings. */
export interface FunctionNetwork {
  readonly subnetIds: string[];
  readonly securityGroupIds: string[];
}

interface NetworkProps {
  readonly settings: Settings;
  readonly tables: Tables;
  readonly bodies: IBucket;
  readonly queues: Queues;
  readonly scheduleGroup: ScheduleGroup;
}

/** The only port of AWS and of the interface endpoints. */
const httpsPort = 443;

/** @returns undefined when the functions stay in Lambda's own network */
export function makeNetwork(stack: Stack, props: NetworkProps): FunctionNetwork | undefined {
  const { settings } = props;
  const [vpcId] = valuesIn(settings.vpcs, stack.region);
  const addresses = valuesIn(settings.fixedAddresses, stack.region);
  if (vpcId !== undefined) return new Network(stack, 'Network', props).inVpc(vpcId);
  if (addresses.length > 0) return new Network(stack, 'Network', props).withAddresses(addresses);
  return undefined;
}

class Network extends Construct {
  readonly #props: NetworkProps;

  constructor(stack: Stack, id: string, props: NetworkProps) {
    super(stack, id);
    this.#props = props;
  }

  /** A VPC of the operator. */
  inVpc(vpcId: string): FunctionNetwork {
    const { settings } = this.#props;
    const values = (list: readonly string[]): string[] => [...valuesIn(list, Stack.of(this).region)];
    const vpc = Vpc.fromVpcAttributes(this, 'Vpc', {
      vpcId,
      availabilityZones: Stack.of(this).availabilityZones,
    });
    const given = values(settings.securityGroups);
    const subnetIds = values(settings.subnets);
    const securityGroupIds = given.length > 0 ? given : [this.#groupOfFunctions(vpc).securityGroupId];
    if (settings.vpcEndpoints) {
      this.#makeGatewayEndpoints(vpcId, values(settings.routeTables));
      this.#makeInterfaceEndpoints(vpc, { subnetIds, securityGroupIds });
    }
    return { subnetIds, securityGroupIds };
  }

  /** Makes a VPC with nothing else in it, which reaches the internet through a NAT gateway for each address. */
  withAddresses(addresses: readonly string[]): FunctionNetwork {
    const vpc = new Vpc(this, 'Vpc', {
      // Nothing is ever connected to this network, so any private range fits.
      ipAddresses: IpAddresses.cidr('10.0.0.0/22'),
      maxAzs: addresses.length,
      natGatewayProvider: NatProvider.gateway({ eipAllocationIds: [...addresses] }),
      subnetConfiguration: [
        { name: 'Nat', subnetType: SubnetType.PUBLIC, cidrMask: 28, mapPublicIpOnLaunch: false },
        { name: 'Functions', subnetType: SubnetType.PRIVATE_WITH_EGRESS, cidrMask: 24 },
      ],
    });
    accept(
      vpc,
      'AwsSolutions-VPC7',
      'Nothing connects into it, and all that connects out of it are deliveries, of which the log has each attempt. Flow logs ' +
        'would be billed for each connection once more.',
    );
    const routeTables = vpc.privateSubnets.map(({ routeTable }) => routeTable.routeTableId);
    // Gateway endpoints cost nothing, and the NAT gateway does not bill their traffic.
    this.#makeGatewayEndpoints(vpc.vpcId, routeTables);
    return {
      subnetIds: vpc.privateSubnets.map(({ subnetId }) => subnetId),
      securityGroupIds: [this.#groupOfFunctions(vpc).securityGroupId],
    };
  }

  /** Allows no connections to the functions, and theirs to the ports of destinations only. */
  #groupOfFunctions(vpc: IVpc): ISecurityGroup {
    const group = new SecurityGroup(this, 'Functions', {
      vpc,
      description: 'The delivery functions: to the ports of destinations, from nowhere',
      allowAllOutbound: false,
    });
    for (const port of new Set([httpsPort, ...this.#props.settings.deliveryPorts])) {
      group.addEgressRule(Peer.anyIpv4(), Port.tcp(port), `Destinations and AWS, port ${port.toString()}`);
    }
    return group;
  }

  #makeGatewayEndpoints(vpcId: string, routeTableIds: readonly string[]): void {
    const { tables, bodies } = this.#props;
    const arns = Object.values(tables).map(({ tableArn }) => tableArn);
    const indexes = arns.map((arn) => `${arn}/index/*`);
    const gateway = (service: 'dynamodb' | 's3', statement: PolicyStatement) =>
      new CfnVPCEndpoint(this, `${service}Endpoint`, {
        ...this.#serviceOf(vpcId, service, [statement]),
        vpcEndpointType: 'Gateway',
        routeTableIds: [...routeTableIds],
      });
    gateway('dynamodb', allow(['dynamodb:*'], ...arns, ...indexes));
    gateway('s3', allow(['s3:*'], bodies.bucketArn, bodies.arnForObjects('*')));
  }

  #makeInterfaceEndpoints(vpc: IVpc, { subnetIds, securityGroupIds }: FunctionNetwork): void {
    const { queues, scheduleGroup, settings } = this.#props;
    const group = new SecurityGroup(this, 'Endpoints', {
      vpc,
      description: 'The endpoints of AWS: from the delivery functions, to nowhere',
      allowAllOutbound: false,
    });
    for (const [at, id] of securityGroupIds.entries()) {
      const functions = SecurityGroup.fromSecurityGroupId(this, `From${at.toString()}`, id, {
        mutable: false,
      });
      group.addIngressRule(functions, Port.tcp(httpsPort), 'The delivery functions');
    }
    const { short, long, dead } = queues;
    const secret = secretArn(this, namesOf(settings).masterSecret);
    const uses = {
      sqs: [allow(['sqs:SendMessage'], short.queueArn, long.queueArn, dead.queueArn)],
      scheduler: [
        allow(['scheduler:CreateSchedule', 'scheduler:DeleteSchedule'], scheduleGroup.scheduleArns),
      ],
      secretsmanager: [allow(['secretsmanager:GetSecretValue'], secret)],
    };
    for (const [service, statements] of Object.entries(uses)) {
      new CfnVPCEndpoint(this, `${service}Endpoint`, {
        ...this.#serviceOf(vpc.vpcId, service, statements),
        vpcEndpointType: 'Interface',
        subnetIds,
        securityGroupIds: [group.securityGroupId],
        // The functions call the services by their usual names.
        privateDnsEnabled: true,
      });
    }
  }

  /** Makes the service of an endpoint. Its policy limits the actions; roles limit the callers. */
  #serviceOf(vpcId: string, service: string, statements: readonly PolicyStatement[]) {
    for (const statement of statements) statement.addPrincipals(new AnyPrincipal());
    return {
      vpcId,
      serviceName: `com.amazonaws.${Stack.of(this).region}.${service}`,
      policyDocument: new PolicyDocument({ statements: [...statements] }),
    };
  }
}

const interfaces = [
  'ec2:CreateNetworkInterface',
  'ec2:DescribeNetworkInterfaces',
  'ec2:DescribeSubnets',
  'ec2:DeleteNetworkInterface',
  'ec2:AssignPrivateIpAddresses',
  'ec2:UnassignPrivateIpAddresses',
];

/**
 * Lets Lambda connect a function to a VPC, which it does with the function's role, and forbids the same to the function's own
 * code. These actions are the ones that Lambda asks for, on all resources: see "Attaching Lambda functions to an Amazon VPC" in
 * its guide, which also has the refusal.
 */
export function connectToVpc(): PolicyStatement[] {
  const fromItsCode = new PolicyStatement({ effect: Effect.DENY, actions: interfaces, resources: ['*'] });
  // Only calls by a function's code have this key.
  fromItsCode.addCondition('Null', { 'lambda:SourceFunctionArn': 'false' });
  const reason =
    'Lambda connects the function to its VPC with these rights, which it asks for on all resources; a refusal keeps them from the ' +
    'function’s own code.';
  return [new PatternStatement(interfaces, '*', reason), fromItsCode];
}
