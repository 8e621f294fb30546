/** Checks the network of the delivery functions: the operator's VPC, or one that the deployment creates. */
import * as z from 'zod';
import { valuesIn } from '../../lib/regional.ts';
import { type Check, expectNone, expectThat, Skipped } from '../check.ts';
import { type Before, listOf, stacksThere } from './context.ts';
import type { Endpoint, RouteTable, Subnet } from './network.ts';

/** The services that deliveries call. Without internet access, each needs an endpoint. */
const neededServices = ({ longDelivery, tracing }: Before['settings']): readonly string[] => [
  ...['dynamodb', 's3', 'sqs', 'scheduler', 'secretsmanager'],
  // Only functions on instances write logs and traces from within the VPC.
  ...(longDelivery === 'instances' ? ['logs', ...(tracing ? ['xray'] : [])] : []),
];

/** The fewest zones for the functions, so that one may fail. */
const leastZones = 2;

/** The functions use one address in each subnet, and each endpoint one more. */
const leastFreeAddresses = 8;

const internet = '0.0.0.0/0';

function ownVpc({ settings, region }: Before): {
  readonly vpc: string;
  readonly subnetIds: readonly string[];
} {
  const [vpc] = valuesIn(settings.vpcs, region);
  if (vpc === undefined) throw new Skipped('the setting vpcs has no VPC here');
  return { vpc, subnetIds: valuesIn(settings.subnets, region) };
}

const endpointShape = z.object({
  ServiceName: z.string(),
  VpcEndpointType: z.string(),
  VpcId: z.string(),
  RouteTableIds: z.array(z.string()).default([]),
  PrivateDnsEnabled: z.boolean().default(false),
});

type ComingEndpoint = Omit<Endpoint, 'id'>;

const propertiesOf = ({ stacks }: Pick<Before, 'stacks'>, type: string) =>
  stacks
    .flatMap(({ resources }) => Object.values(resources))
    .flatMap(({ Type, Properties }) => (Type === type ? [Properties] : []));

/** The endpoints that the templates create in the operator's VPC. */
const comingEndpoints = (before: Pick<Before, 'stacks'>, vpc: string): readonly ComingEndpoint[] =>
  propertiesOf(before, 'AWS::EC2::VPCEndpoint').flatMap((properties) => {
    const { data } = endpointShape.safeParse(properties);
    if (data === undefined || data.VpcId !== vpc) return [];
    return [
      {
        service: data.ServiceName,
        isGateway: data.VpcEndpointType === 'Gateway',
        hasPrivateDns: data.PrivateDnsEnabled,
        routeTables: data.RouteTableIds,
      },
    ];
  });

const nameOf = ({ service }: Pick<Endpoint, 'service'>): string => service.split('.').at(-1) ?? service;

const ownIds = async (before: Before): Promise<ReadonlySet<string>> =>
  new Set((await stacksThere(before)).flatMap(({ physicalIds }) => [...physicalIds]));

function conflictOf(coming: ComingEndpoint, there: Endpoint): string | undefined {
  if (coming.service !== there.service) return undefined;
  // A route table has at most one endpoint route per service ("Gateway endpoints", AWS PrivateLink Guide).
  const shared = coming.routeTables.filter((table) => there.routeTables.includes(table));
  if (coming.isGateway && there.isGateway && shared.length > 0)
    return `${there.id} has the route to ${nameOf(there)} in ${shared.join(', ')}`;
  // EC2 refuses a second private name for a service: private-dns-enabled conflicts with the existing DNS domain.
  return coming.hasPrivateDns && there.hasPrivateDns
    ? `${there.id} has the private name of ${nameOf(there)}`
    : undefined;
}

const tableOf = (tables: readonly RouteTable[], subnet: string): RouteTable | undefined =>
  tables.find(({ subnets }) => subnets.includes(subnet)) ?? tables.find(({ isMain }) => isMain);

/** Describes what a subnet's routes lack; undefined if AWS and destinations can be reached. */
function faultOf(
  subnet: Subnet,
  tables: readonly RouteTable[],
  endpoints: readonly Omit<Endpoint, 'id'>[],
  needed: readonly string[],
): string | undefined {
  const table = tableOf(tables, subnet.id);
  const way = table?.routes.find(({ to }) => to === internet);
  if (way?.via.startsWith('igw-') === true)
    return `${subnet.id} leads to the internet gateway ${way.via}, and functions have no public address`;
  if (way !== undefined && !way.isActive) return `${subnet.id} leads to ${way.via}, which no longer exists`;
  if (way !== undefined) return undefined;
  const served = endpoints
    .filter((one) => (one.isGateway ? one.routeTables.includes(table?.id ?? '') : one.hasPrivateDns))
    .map(nameOf);
  const missing = needed.filter((service) => !served.includes(service));
  return missing.length === 0
    ? undefined
    : `${subnet.id} has no route to the internet, and no endpoint of ${missing.join(', ')}`;
}

const untold =
  'AWS publishes no list of the zones in which Lambda and NAT gateways have room, so only the deployment shows that';

const zoneShape = z.object({ AvailabilityZoneId: z.string() });
const letterShape = z.object({ AvailabilityZone: z.object({ 'Fn::Select': z.array(z.unknown()) }) });

export const networkChecks: readonly Check<Before>[] = [
  {
    name: 'endpoints',
    shows: 'AWS lets the VPC have the endpoints of vpcEndpoints beside its own',
    remedy:
      'Take the services out of vpcEndpoints that the VPC has already, or the tables out of routeTables: docs/network.md, "Private destinations".',
    run: async (before) => {
      const { vpc } = ownVpc(before);
      const { network } = before.aws;
      const coming = comingEndpoints(before, vpc);
      const own = await ownIds(before);
      const others = (await network.endpointsIn(vpc)).filter(({ id }) => !own.has(id));
      const has = `the VPC has those of ${others.map(nameOf).join(', ') || 'no service'}`;
      if (coming.length === 0) return `the deployment makes no endpoints; ${has}`;
      const faults = coming.flatMap((one) => others.flatMap((other) => conflictOf(one, other) ?? []));
      const needsDns = coming.some(({ hasPrivateDns }) => hasPrivateDns);
      const dns = needsDns ? await network.dnsOf(vpc) : undefined;
      if (dns !== undefined && !(dns.isOn && dns.hasHostnames))
        faults.push(
          `${vpc} has DNS support or DNS hostnames off, and the endpoints' private names need both`,
        );
      expectNone(faults, (list) => `The endpoints of vpcEndpoints cannot be made: ${list}.`);
      return `the endpoints of ${coming.map(nameOf).join(', ')} can be made; ${has}`;
    },
  },
  {
    name: 'routes',
    shows: 'AWS is reached from the subnets of the delivery functions',
    remedy:
      'Choose private subnets whose table leads to a NAT or transit gateway, or set vpcEndpoints and routeTables: docs/network.md, "Private destinations".',
    run: async (before) => {
      const { vpc, subnetIds } = ownVpc(before);
      const { network } = before.aws;
      const subnets = await network.subnets(subnetIds);
      const foreign = subnets
        .filter((subnet) => subnet.vpc !== vpc)
        .map((subnet) => `${subnet.id} is in ${subnet.vpc}`);
      expectNone(foreign, (list) => `The subnets are not all in ${vpc}: ${list}.`);
      const tables = await network.routeTablesIn(vpc);
      const endpoints = [...(await network.endpointsIn(vpc)), ...comingEndpoints(before, vpc)];
      const faults = subnets.flatMap(
        (subnet) => faultOf(subnet, tables, endpoints, neededServices(before.settings)) ?? [],
      );
      expectNone(faults, (list) => `The functions would not reach AWS: ${list}.`);
      const ways = subnets.map(({ id }) => {
        const way = tableOf(tables, id)?.routes.find(({ to }) => to === internet);
        return `${id} by ${way?.via ?? 'endpoints only'}`;
      });
      return `AWS is reached from ${listOf(ways)}`;
    },
  },
  {
    name: 'zones',
    shows: 'AWS has the zones that the delivery functions are to be in',
    remedy: 'Choose subnets or zones of other zone ids: aws ec2 describe-availability-zones lists them.',
    run: async (before) => {
      const { aws } = before;
      // The deployment creates a VPC for fixed addresses or managed instances.
      const own = propertiesOf(before, 'AWS::EC2::Subnet');
      if (own.length > 0) {
        const zones = await aws.network.zones();
        const asked = [
          ...new Set(own.flatMap((one) => zoneShape.safeParse(one).data?.AvailabilityZoneId ?? [])),
        ];
        const missing = asked.filter((id) => !zones.some((zone) => zone.id === id && zone.isAvailable));
        const known = zones.map(({ id, name }) => `${id} (${name})`).join(', ');
        expectNone(missing, () => `The account has no zone ${missing.join(', ')} here; it has ${known}.`);
        const letters = new Set(
          own.flatMap((one) => letterShape.safeParse(one).data?.AvailabilityZone['Fn::Select'][0] ?? []),
        );
        const available = zones.filter(({ isAvailable }) => isAvailable);
        expectThat(
          letters.size <= available.length,
          `The account has ${available.length} zones here, ${known}, and ${letters.size} are needed: name those to use in the setting zones.`,
        );
        const chosen = asked.length === 0 ? 'AWS chooses the zones by letter' : asked.join(', ');
        return `${chosen}, of ${known}; ${untold}`;
      }
      const { vpc, subnetIds } = ownVpc(before);
      const subnets = await aws.network.subnets(subnetIds);
      const zoneIds = [...new Set(subnets.map(({ zoneId }) => zoneId))];
      const faults: string[] = [];
      if (zoneIds.length < leastZones)
        faults.push(
          `all subnets are in ${zoneIds.join(', ')}, and nothing is delivered when that zone fails`,
        );
      for (const { id, freeAddresses } of subnets)
        if (freeAddresses < leastFreeAddresses) faults.push(`${id} has ${freeAddresses} free addresses`);
      for (const { service, isGateway } of comingEndpoints(before, vpc)) {
        if (isGateway) continue;
        // "The VPC endpoint service … does not support the availability zone of the subnet."
        const served = await aws.network.zonesOfService(service);
        for (const subnet of subnets)
          if (!served.includes(subnet.zoneId))
            faults.push(`${service} has no endpoints in ${subnet.zoneId}, the zone of ${subnet.id}`);
      }
      expectNone(faults, (list) => `The subnets do not fit: ${list}.`);
      return `the subnets are in ${zoneIds.join(', ')}; ${untold}`;
    },
  },
  {
    name: 'addresses',
    shows: 'AWS has the elastic addresses of fixedAddresses, free for NAT gateways',
    remedy:
      'Allocate an address (aws ec2 allocate-address), or release the association of this one; then put its id into fixedAddresses.',
    run: async (before) => {
      const { settings, region, aws } = before;
      const ids = valuesIn(settings.fixedAddresses, region);
      if (ids.length === 0) throw new Skipped('the setting fixedAddresses has none here');
      const addresses = await aws.network.addresses(ids);
      const gateways = [...(await ownIds(before))].filter((id) => id.startsWith('nat-'));
      const own = gateways.length === 0 ? [] : await aws.network.addressesOfNat(gateways);
      const faults = addresses.flatMap(({ id, address, isInUse, borderGroup }) => [
        ...(isInUse && !own.includes(id) ? [`${id} (${address}) belongs to something else already`] : []),
        ...(borderGroup !== region ? [`${id} (${address}) is announced in ${borderGroup}`] : []),
      ]);
      expectNone(faults, (list) => `A NAT gateway cannot get these addresses: ${list}.`);
      return `${addresses.map(({ address }) => address).join(', ')} can be had by NAT gateways`;
    },
  },
];
