/** Reads the AWS account's network in a region. */
import {
  DescribeAddressesCommand,
  DescribeAvailabilityZonesCommand,
  DescribeNatGatewaysCommand,
  DescribeVpcAttributeCommand,
  DescribeVpcEndpointServicesCommand,
  paginateDescribeRouteTables,
  paginateDescribeSubnets,
  paginateDescribeVpcEndpoints,
} from '@aws-sdk/client-ec2';
import type { Clients } from '../clients.ts';

export interface Endpoint {
  readonly id: string;
  /** Such as `com.amazonaws.eu-central-1.sqs`. */
  readonly service: string;
  readonly isGateway: boolean;
  /** Whether the service's usual host name leads to the endpoint within the VPC. */
  readonly hasPrivateDns: boolean;
  /** The route tables of a gateway endpoint. */
  readonly routeTables: readonly string[];
}

export interface Subnet {
  readonly id: string;
  readonly vpc: string;
  /** The zone's id, such as `euc1-az2`. */
  readonly zoneId: string;
  readonly freeAddresses: number;
}

interface Route {
  /** The destination. `0.0.0.0/0` is the internet. */
  readonly to: string;
  /** The target's id, such as `nat-0a1b2c3d`. */
  readonly via: string;
  /** Whether the target exists. */
  readonly isActive: boolean;
}

export interface RouteTable {
  readonly id: string;
  readonly subnets: readonly string[];
  /** Whether it applies to subnets without their own table. */
  readonly isMain: boolean;
  readonly routes: readonly Route[];
}

interface Address {
  readonly id: string;
  readonly address: string;
  readonly isInUse: boolean;
  /** The region or local zone that announces the address. */
  readonly borderGroup: string;
}

interface Zone {
  readonly id: string;
  readonly name: string;
  readonly isAvailable: boolean;
}

export type Network = ReturnType<typeof openNetwork>;

export function openNetwork({ ec2: client }: Pick<Clients, 'ec2'>) {
  const attributeOf = async (VpcId: string, Attribute: 'enableDnsSupport' | 'enableDnsHostnames') => {
    const { EnableDnsSupport, EnableDnsHostnames } = await client.send(
      new DescribeVpcAttributeCommand({ VpcId, Attribute }),
    );
    return (EnableDnsSupport ?? EnableDnsHostnames)?.Value === true;
  };
  return {
    /** Whether the VPC has DNS, and whether its hosts get names. Private names of endpoints require both. */
    dnsOf: async (vpc: string) => ({
      isOn: await attributeOf(vpc, 'enableDnsSupport'),
      hasHostnames: await attributeOf(vpc, 'enableDnsHostnames'),
    }),
    endpointsIn: async (vpc: string): Promise<readonly Endpoint[]> => {
      const all: Endpoint[] = [];
      const input = { Filters: [{ Name: 'vpc-id', Values: [vpc] }] };
      for await (const { VpcEndpoints = [] } of paginateDescribeVpcEndpoints({ client }, input))
        for (const one of VpcEndpoints)
          // A deleted or refused endpoint occupies no name and no route.
          if (!/^(deleting|deleted|rejected|failed|expired)$/i.test(one.State ?? ''))
            all.push({
              id: one.VpcEndpointId ?? '',
              service: one.ServiceName ?? '',
              isGateway: one.VpcEndpointType === 'Gateway',
              hasPrivateDns: one.PrivateDnsEnabled === true,
              routeTables: one.RouteTableIds ?? [],
            });
      return all;
    },
    routeTablesIn: async (vpc: string): Promise<readonly RouteTable[]> => {
      const all: RouteTable[] = [];
      const input = { Filters: [{ Name: 'vpc-id', Values: [vpc] }] };
      for await (const { RouteTables = [] } of paginateDescribeRouteTables({ client }, input))
        for (const { RouteTableId = '', Associations = [], Routes = [] } of RouteTables)
          all.push({
            id: RouteTableId,
            subnets: Associations.flatMap(({ SubnetId }) => SubnetId ?? []),
            isMain: Associations.some(({ Main }) => Main === true),
            routes: Routes.map((route) => ({
              to: route.DestinationCidrBlock ?? route.DestinationPrefixListId ?? '',
              via:
                route.NatGatewayId ??
                route.TransitGatewayId ??
                route.VpcPeeringConnectionId ??
                route.NetworkInterfaceId ??
                route.GatewayId ??
                route.CoreNetworkArn ??
                '',
              isActive: route.State === 'active',
            })),
          });
      return all;
    },
    /** @throws EC2's error for an invalid id */
    subnets: async (ids: readonly string[]): Promise<readonly Subnet[]> => {
      const all: Subnet[] = [];
      const input = { SubnetIds: [...ids] };
      for await (const { Subnets = [] } of paginateDescribeSubnets({ client }, input))
        for (const one of Subnets)
          all.push({
            id: one.SubnetId ?? '',
            vpc: one.VpcId ?? '',
            zoneId: one.AvailabilityZoneId ?? '',
            freeAddresses: one.AvailableIpAddressCount ?? 0,
          });
      return all;
    },
    /** @throws EC2's error for an invalid id */
    addresses: async (ids: readonly string[]): Promise<readonly Address[]> => {
      const { Addresses = [] } = await client.send(new DescribeAddressesCommand({ AllocationIds: [...ids] }));
      return Addresses.map((one) => ({
        id: one.AllocationId ?? '',
        address: one.PublicIp ?? '',
        isInUse: one.AssociationId !== undefined,
        borderGroup: one.NetworkBorderGroup ?? '',
      }));
    },
    addressesOfNat: async (gateways: readonly string[]): Promise<readonly string[]> => {
      const { NatGateways = [] } = await client.send(
        new DescribeNatGatewaysCommand({ NatGatewayIds: [...gateways] }),
      );
      return NatGateways.flatMap(({ NatGatewayAddresses = [] }) =>
        NatGatewayAddresses.flatMap(({ AllocationId }) => AllocationId ?? []),
      );
    },
    zones: async (): Promise<readonly Zone[]> => {
      const { AvailabilityZones = [] } = await client.send(new DescribeAvailabilityZonesCommand({}));
      return AvailabilityZones.map(({ ZoneId = '', ZoneName = '', State }) => ({
        id: ZoneId,
        name: ZoneName,
        isAvailable: State === 'available',
      }));
    },
    /** The ids of zones in which a service can have endpoints. */
    zonesOfService: async (service: string): Promise<readonly string[]> => {
      const { ServiceDetails = [] } = await client.send(
        new DescribeVpcEndpointServicesCommand({ ServiceNames: [service] }),
      );
      return ServiceDetails.flatMap(({ AvailabilityZoneIds = [] }) => AvailabilityZoneIds);
    },
  };
}
