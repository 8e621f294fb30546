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
import { allOf } from '../../operate/awsCalls.ts';
import type { Clients } from '../clients.ts';

export type Network = ReturnType<typeof openNetwork>;

type Read<Name extends keyof Network> = Awaited<ReturnType<Network[Name]>>;
export type Endpoint = Read<'endpointsIn'>[number];
export type RouteTable = Read<'routeTablesIn'>[number];
export type Subnet = Read<'subnets'>[number];

export function openNetwork({ ec2: client }: Pick<Clients, 'ec2'>) {
  const attributeOf = async (VpcId: string, Attribute: 'enableDnsSupport' | 'enableDnsHostnames') => {
    const { EnableDnsSupport, EnableDnsHostnames } = await client.send(
      new DescribeVpcAttributeCommand({ VpcId, Attribute }),
    );
    return (EnableDnsSupport ?? EnableDnsHostnames)?.Value === true;
  };
  const inVpc = (vpc: string) => ({ Filters: [{ Name: 'vpc-id', Values: [vpc] }] });
  return {
    /**
     * Whether the VPC has DNS, and whether its hosts get names. Endpoints with private names require both.
     */
    dnsOf: async (vpc: string) => ({
      isOn: await attributeOf(vpc, 'enableDnsSupport'),
      hasHostnames: await attributeOf(vpc, 'enableDnsHostnames'),
    }),
    endpointsIn: async (vpc: string) => {
      const pages = paginateDescribeVpcEndpoints({ client }, inVpc(vpc));
      const all = await allOf(pages, ({ VpcEndpoints }) => VpcEndpoints);
      return (
        all
          // An endpoint that was deleted or refused has no name and no route.
          .filter(({ State = '' }) => !/^(deleting|deleted|rejected|failed|expired)$/i.test(State))
          .map((one) => ({
            id: one.VpcEndpointId ?? '',
            /** Such as `com.amazonaws.eu-central-1.sqs`. */
            service: one.ServiceName ?? '',
            isGateway: one.VpcEndpointType === 'Gateway',
            /** Whether the usual host name of the service leads to the endpoint within the VPC. */
            hasPrivateDns: one.PrivateDnsEnabled === true,
            /** The route tables of a gateway endpoint. */
            routeTables: one.RouteTableIds ?? [],
          }))
      );
    },
    routeTablesIn: async (vpc: string) => {
      const pages = paginateDescribeRouteTables({ client }, inVpc(vpc));
      const all = await allOf(pages, ({ RouteTables }) => RouteTables);
      return all.map(({ RouteTableId = '', Associations = [], Routes = [] }) => ({
        id: RouteTableId,
        subnets: Associations.flatMap(({ SubnetId }) => SubnetId ?? []),
        /** Whether it applies to subnets without their own table. */
        isMain: Associations.some(({ Main }) => Main === true),
        routes: Routes.map((route) => ({
          /** The destination. `0.0.0.0/0` is the internet. */
          to: route.DestinationCidrBlock ?? route.DestinationPrefixListId ?? '',
          /** The target's id, such as `nat-0a1b2c3d`. */
          via:
            route.NatGatewayId ??
            route.TransitGatewayId ??
            route.VpcPeeringConnectionId ??
            route.NetworkInterfaceId ??
            route.GatewayId ??
            route.CoreNetworkArn ??
            '',
          /** Whether the target exists. */
          isActive: route.State === 'active',
        })),
      }));
    },
    /** @throws EC2's error for an invalid id */
    subnets: async (ids: readonly string[]) => {
      const pages = paginateDescribeSubnets({ client }, { SubnetIds: [...ids] });
      return (await allOf(pages, ({ Subnets }) => Subnets)).map((one) => ({
        id: one.SubnetId ?? '',
        vpc: one.VpcId ?? '',
        /** Such as `euc1-az2`. */
        zoneId: one.AvailabilityZoneId ?? '',
        freeAddresses: one.AvailableIpAddressCount ?? 0,
      }));
    },
    /** @throws EC2's error for an invalid id */
    addresses: async (ids: readonly string[]) => {
      const { Addresses = [] } = await client.send(new DescribeAddressesCommand({ AllocationIds: [...ids] }));
      return Addresses.map((one) => ({
        id: one.AllocationId ?? '',
        address: one.PublicIp ?? '',
        isInUse: one.AssociationId !== undefined,
        /** The region or local zone that announces the address. */
        borderGroup: one.NetworkBorderGroup ?? '',
      }));
    },
    addressesOfNat: async (gateways: readonly string[]): Promise<readonly string[]> => {
      const { NatGateways = [] } = await client.send(
        new DescribeNatGatewaysCommand({ NatGatewayIds: [...gateways] }),
      );
      const all = NatGateways.flatMap(({ NatGatewayAddresses = [] }) => NatGatewayAddresses);
      return all.flatMap(({ AllocationId }) => AllocationId ?? []);
    },
    zones: async () => {
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
