/**
 * The network of the delivery functions: by default Lambda's own. The setting `vpcs` names VPCs of the operator whose private
 * hosts can be destinations. With `fixedAddresses` it is a VPC whose NAT gateways have the operator's elastic addresses.
 * Managed instances always need a VPC.
 */
import { Annotations, Stack } from 'aws-cdk-lib';
import {
  CfnRoute,
  CfnSecurityGroupIngress,
  CfnSubnet,
  CfnSubnetRouteTableAssociation,
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
  type VpcProps,
} from 'aws-cdk-lib/aws-ec2';
import { AnyPrincipal, Effect, PolicyDocument, PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { Construct, DependencyGroup, type IConstruct, type IDependable } from 'constructs';
import { accept, PatternStatement } from '../../acknowledge.ts';
import { valuesIn } from '../../regional.ts';
import type { Settings } from '../../settings.ts';
import { type EndpointService, endpointsOf, gatewayServices } from './settings.ts';

export interface FunctionNetwork {
  readonly vpcConfig: { readonly subnetIds: string[]; readonly securityGroupIds: string[] };
  /** The routes and endpoints. A function in these subnets can reach nothing before they exist. */
  readonly ways: IDependable;
}

type VpcConfig = FunctionNetwork['vpcConfig'];

interface NetworkProps {
  readonly settings: Settings;
  /** All permissions of the functions in the network, for the policies of its endpoints. */
  readonly may: readonly PolicyStatement[];
}

/** Zones of the instances' network: as many as Lambda's default of three execution environments uses. */
const defaultZones = 3;

const httpsPort = 443;

export function makeNetwork(stack: Stack, props: NetworkProps): FunctionNetwork | undefined {
  const { settings } = props;
  const [vpcId] = valuesIn(settings.vpcs, stack.region);
  const addresses = valuesIn(settings.fixedAddresses, stack.region);
  if (vpcId === undefined && addresses.length === 0) return undefined;
  const network = new Network(stack, 'Network', props);
  return withWays(network, vpcId === undefined ? network.withAddresses(addresses) : network.inVpc(vpcId));
}

export function makeInstancesNetwork(stack: Stack, props: NetworkProps): FunctionNetwork {
  const network = new Network(stack, 'InstancesNetwork', props);
  return withWays(network, network.withOneGateway());
}

const withWays = (network: Network, vpcConfig: VpcConfig): FunctionNetwork => ({
  vpcConfig,
  ways: new DependencyGroup(...network.node.findAll().filter(isWay)),
});

/**
 * Whether a resource is a route or an endpoint. CloudFormation must be told to wait for these, because
 * functions refer only to subnets and groups.
 */
const isWay = (construct: IConstruct): boolean =>
  construct instanceof CfnRoute ||
  construct instanceof CfnSubnetRouteTableAssociation ||
  construct instanceof CfnVPCEndpoint ||
  construct instanceof CfnSecurityGroupIngress;

class Network extends Construct {
  readonly #props: NetworkProps;

  constructor(stack: Stack, id: string, props: NetworkProps) {
    super(stack, id);
    this.#props = props;
  }

  inVpc(vpcId: string): VpcConfig {
    const { settings } = this.#props;
    const values = (list: readonly string[]): string[] => [...valuesIn(list, Stack.of(this).region)];
    const vpc = Vpc.fromVpcAttributes(this, 'Vpc', {
      vpcId,
      availabilityZones: Stack.of(this).availabilityZones,
    });
    const given = values(settings.securityGroups);
    const subnetIds = values(settings.subnets);
    const securityGroupIds = given.length > 0 ? given : [this.#groupOfFunctions(vpc).securityGroupId];
    const services = endpointsOf(settings);
    const interfaceServices = services.filter((service) => !gatewayServices.includes(service));
    this.#makeGatewayEndpoints(
      vpcId,
      services.filter((service) => gatewayServices.includes(service)),
      values(settings.routeTables),
    );
    if (interfaceServices.length > 0)
      this.#makeInterfaceEndpoints(vpc, interfaceServices, { subnetIds, securityGroupIds });
    return { subnetIds, securityGroupIds };
  }

  /** A VPC with a NAT gateway for each address. */
  withAddresses(addresses: readonly string[]): VpcConfig {
    return this.#make('fixedAddresses', {
      maxAzs: addresses.length,
      natGatewayProvider: NatProvider.gateway({ eipAllocationIds: [...addresses] }),
    });
  }

  /**
   * A VPC with one NAT gateway for all zones. Instances need several zones, and a gateway costs more than
   * half as much as an instance. While its zone is down, long deliveries wait in their queue.
   */
  withOneGateway(): VpcConfig {
    const zones = valuesIn(this.#props.settings.zones, Stack.of(this).region);
    return this.#make('longDelivery', { maxAzs: zones.length || defaultZones, natGateways: 1 });
  }

  #make(setting: keyof Settings, ways: Pick<VpcProps, 'maxAzs' | 'natGatewayProvider' | 'natGateways'>) {
    const vpc = new Vpc(this, 'Vpc', {
      // Never connected to another network, so any private range fits.
      ipAddresses: IpAddresses.cidr('10.0.0.0/22'),
      ...ways,
      subnetConfiguration: [
        { name: 'Nat', subnetType: SubnetType.PUBLIC, cidrMask: 28, mapPublicIpOnLaunch: false },
        { name: 'Functions', subnetType: SubnetType.PRIVATE_WITH_EGRESS, cidrMask: 24 },
      ],
    });
    accept(
      vpc,
      ['AwsSolutions-VPC7', 'NIST.800.53.R5-VPCFlowLogsEnabled'],
      'Nothing connects into it, and all that connects out of it are deliveries, of which the log has each attempt. Flow logs ' +
        'would be billed for each connection once more.',
    );
    accept(
      vpc,
      'NIST.800.53.R5-VPCDefaultSecurityGroupClosed',
      'Nothing in it has the default group: the functions have a separate one. The CDK closes it with a function that would need ' +
        'rights to change groups.',
    );
    this.#placeInZones(vpc, setting);
    for (const subnet of vpc.publicSubnets) {
      accept(
        subnet.node.findChild('DefaultRoute'),
        'NIST.800.53.R5-VPCNoUnrestrictedRouteToIGW',
        'It is the way of the NAT gateway, which is alone in this subnet, to destinations anywhere.',
      );
    }
    const routeTables = vpc.privateSubnets.map(({ routeTable }) => routeTable.routeTableId);
    // Gateway endpoints are free, and the NAT gateway does not bill their traffic.
    this.#makeGatewayEndpoints(vpc.vpcId, gatewayServices, routeTables);
    return {
      subnetIds: vpc.privateSubnets.map(({ subnetId }) => subnetId),
      securityGroupIds: [this.#groupOfFunctions(vpc).securityGroupId],
    };
  }

  /**
   * Puts the subnets into the zones of the settings. The default is the first letters, which mean other zones in every AWS
   * account ("Availability Zone IDs for your AWS resources"), and some zones have no NAT gateways ("Troubleshoot NAT gateways":
   * `NotAvailableInZone`). Subnets cannot move, so without the setting existing ones keep their zones.
   */
  #placeInZones({ publicSubnets, privateSubnets }: Vpc, setting: keyof Settings): void {
    const stack = Stack.of(this);
    const zones = valuesIn(this.#props.settings.zones, stack.region);
    if (zones.length === 0) {
      Annotations.of(this).addWarningV2(
        'svc-queue:zones',
        `${setting} has no zones for ${stack.region}, so its NAT gateways are in the first zones by letter, which may have none. ` +
          'Name their ids in the setting zones before the first deployment: docs/network.md, "Fixed address".',
      );
    }
    for (const [at, zone] of zones.entries()) {
      for (const subnet of [publicSubnets[at], privateSubnets[at]]) {
        const made = subnet?.node.defaultChild;
        if (!(made instanceof CfnSubnet)) throw new Error(`There is no subnet for the zone ${zone}.`);
        made.availabilityZone = undefined;
        made.availabilityZoneId = zone;
      }
    }
  }

  /**
   * Allows connections only from the functions to the ports of destinations. DNS still works: security groups do not apply to
   * the VPC's resolver ("Secure your Amazon VPC DNS resolution with Amazon Route 53 Resolver DNS Firewall").
   */
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

  #makeGatewayEndpoints(
    vpcId: string,
    services: readonly EndpointService[],
    routeTableIds: readonly string[],
  ): void {
    for (const service of services) {
      new CfnVPCEndpoint(this, `${service}Endpoint`, {
        ...this.#serviceOf(vpcId, service),
        vpcEndpointType: 'Gateway',
        routeTableIds: [...routeTableIds],
      });
    }
  }

  #makeInterfaceEndpoints(
    vpc: IVpc,
    services: readonly EndpointService[],
    { subnetIds, securityGroupIds }: VpcConfig,
  ): void {
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
    for (const service of services) {
      new CfnVPCEndpoint(this, `${service}Endpoint`, {
        ...this.#serviceOf(vpc.vpcId, service),
        vpcEndpointType: 'Interface',
        subnetIds,
        securityGroupIds: [group.securityGroupId],
        // So that the functions can use the usual host names of services. A VPC can have one such endpoint
        // for each service: another one fails with "private-dns-enabled cannot be set because there is
        // already a conflicting DNS domain".
        privateDnsEnabled: true,
      });
    }
  }

  /** The endpoint's policy allows no caller in the VPC more than the functions' permissions. */
  #serviceOf(vpcId: string, service: EndpointService) {
    const statements = this.#props.may
      .map((statement) => ({
        statement,
        actions: statement.actions.filter((action) => action.startsWith(`${service}:`)),
      }))
      .filter(({ actions }) => actions.length > 0)
      .map(({ statement, actions }) => statement.copy({ actions, principals: [new AnyPrincipal()] }));
    return {
      vpcId,
      serviceName: `com.amazonaws.${Stack.of(this).region}.${service}`,
      policyDocument: new PolicyDocument({ statements, minimize: true }),
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
 * Lets Lambda connect a function to a VPC by the function's role, but not the function's own code ("Attaching
 * Lambda functions to an Amazon VPC" in Lambda's guide).
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
