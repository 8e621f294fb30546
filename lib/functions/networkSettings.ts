/** The settings of the delivery functions' network: what they choose from, and what contradicts each other. */
import { valuesIn } from '../regional.ts';
import type { Settings } from '../settings.ts';

/** Services whose endpoint is a route. Others have an interface in each subnet. */
const gateways = ['dynamodb', 's3'] as const;

export const endpointServices = [...gateways, 'sqs', 'scheduler', 'secretsmanager', 'lambda'] as const;
export type EndpointService = (typeof endpointServices)[number];
export const gatewayServices: readonly EndpointService[] = gateways;

/**
 * Zones, by their ids, to whose subnets Lambda connects no function: it answers "The provided subnets contain availability zone
 * Lambda doesn't support". AWS publishes no list; this zone is old and takes none of Lambda, EKS, MSK and VPC Lattice.
 */
const zonesWithoutLambda: readonly string[] = ['use1-az3'];

/** The services of the endpoints that a region's VPC gets. */
export function endpointsOf({
  vpcEndpoints,
  lambdaDestinations,
}: Pick<Settings, 'vpcEndpoints' | 'lambdaDestinations'>): readonly EndpointService[] {
  if (vpcEndpoints === false) return [];
  if (vpcEndpoints !== true) return vpcEndpoints;
  return endpointServices.filter((service) => service !== 'lambda' || lambdaDestinations.length > 0);
}

type Fault = readonly [setting: keyof Settings, message: string];

/** Names the settings that contradict each other. */
export function faultsInNetwork(settings: Settings): readonly Fault[] {
  const faults: Fault[] = [];
  const refuse = (name: keyof Settings, message: string): void => {
    faults.push([name, message]);
  };
  if (
    settings.vpcEndpoints !== true &&
    endpointsOf(settings).includes('lambda') &&
    settings.lambdaDestinations.length === 0
  )
    refuse('vpcEndpoints', 'names lambda, but lambdaDestinations has no function that deliveries may invoke');
  for (const place of settings.regions) {
    const vpcs = valuesIn(settings.vpcs, place);
    if (vpcs.length > 1) refuse('vpcs', `has two VPCs for ${place}`);
    for (const name of ['subnets', 'securityGroups', 'routeTables'] as const) {
      if (vpcs.length === 0 && valuesIn(settings[name], place).length > 0)
        refuse(name, `has a value for ${place}, where vpcs has no VPC`);
    }
    if (vpcs.length > 0 && valuesIn(settings.subnets, place).length === 0)
      refuse('subnets', `must name the subnets of the VPC of ${place}`);
    const gateways = endpointsOf(settings).filter((service) => gatewayServices.includes(service));
    if (gateways.length > 0 && vpcs.length > 0 && valuesIn(settings.routeTables, place).length === 0)
      refuse(
        'routeTables',
        `must name the route tables of the subnets of ${place}, for the endpoints of ${gateways.join(' and ')}`,
      );
    const addresses = valuesIn(settings.fixedAddresses, place);
    if (addresses.length > 3) refuse('fixedAddresses', `has more than three addresses for ${place}`);
    if (addresses.length > 0 && vpcs.length > 0)
      refuse(
        'fixedAddresses',
        `has one for ${place}, where vpcs has a VPC: its own NAT gateway has the address`,
      );
    const zones = valuesIn(settings.zones, place);
    if (zones.length > 0 && zones.length !== addresses.length)
      refuse(
        'zones',
        `must name one zone for each of the ${addresses.length.toString()} fixedAddresses of ${place}, and names ${zones.length.toString()}`,
      );
    if (new Set(zones).size !== zones.length) refuse('zones', `must not name a zone of ${place} twice`);
    for (const zone of zones.filter((one) => zonesWithoutLambda.includes(one)))
      refuse('zones', `must not name ${zone}: Lambda connects no functions to subnets there`);
  }
  return faults;
}
