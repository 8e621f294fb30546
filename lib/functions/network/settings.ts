import * as z from 'zod';
import type { LongDelivery } from '../../../lambdas/aws/resources.ts';
import type { ArnService } from '../../../lambdas/destination/arns.ts';
import { valuesIn } from '../../regional.ts';
import { asFlag, destinationServiceOf, hexId, items, regional, whole } from '../../settingTypes.ts';

/** Services with a gateway endpoint, which is a route. Others have an interface in each subnet. */
const gateways = ['dynamodb', 's3'] as const;

const endpointServices = [
  ...gateways,
  'sqs',
  'scheduler',
  'secretsmanager',
  'lambda',
  'sns',
  'events',
  'logs',
  'xray',
] as const;
export type EndpointService = (typeof endpointServices)[number];
export const gatewayServices: readonly EndpointService[] = gateways;

/**
 * Ids of zones in which Lambda connects no function ("The provided subnets contain availability zone Lambda doesn't support").
 * AWS publishes no list.
 */
const zonesWithoutLambda: readonly string[] = ['use1-az3'];

export const network = {
  vpcs: regional(`vpc-${hexId}`, 'vpc-0a1b2c3d'),
  subnets: regional(`subnet-${hexId}`, 'subnet-0a1b2c3d'),
  securityGroups: regional(`sg-${hexId}`, 'sg-0a1b2c3d'),
  /**
   * Services for which endpoints are made. The VPC may already have some: it can have one interface endpoint
   * with private DNS for each service, and each route table can have one route to a gateway endpoint.
   */
  vpcEndpoints: z
    .preprocess(
      (value) => items(asFlag(value)),
      z.union([z.boolean(), z.array(z.enum(endpointServices))], {
        error: `must be true, false, or a list of: ${endpointServices.join(', ')}`,
      }),
    )
    .default(false),
  routeTables: regional(`rtb-${hexId}`, 'rtb-0a1b2c3d'),
  fixedAddresses: regional(`eipalloc-${hexId}`, 'eipalloc-0a1b2c3d'),
  /** Zone ids, which are the same in every AWS account, unlike the letters in zone names. */
  zones: regional('[a-z]{2,5}\\d-az\\d', 'euc1-az2'),
  deliveryPorts: z.preprocess(items, z.array(whole(1, 65_535)).min(1)).default([443, 80]),
};

interface NetworkSettings extends z.output<z.ZodObject<typeof network>> {
  readonly regions: readonly string[];
  readonly destinations: readonly string[];
  readonly lambdaDestinations: readonly string[];
  readonly longDelivery: LongDelivery;
  readonly tracing: boolean;
}

type NeedOfEndpoints = Pick<
  NetworkSettings,
  'destinations' | 'lambdaDestinations' | 'longDelivery' | 'tracing'
>;

const mayGoTo = ({ destinations, lambdaDestinations }: NeedOfEndpoints, service: ArnService): boolean =>
  [...destinations, ...lambdaDestinations].some((pattern) => destinationServiceOf(pattern) === service);

/**
 * Why the settings make an endpoint unnecessary. On managed instances logs and traces are written from within
 * the VPC ("Networking for Lambda Managed Instances"), otherwise from outside.
 */
const needless: Readonly<
  Partial<Record<EndpointService, (settings: NeedOfEndpoints) => string | undefined>>
> = {
  lambda: (settings) =>
    mayGoTo(settings, 'lambda')
      ? undefined
      : 'lambdaDestinations has no function that deliveries may invoke, nor has destinations',
  sns: (settings) =>
    mayGoTo(settings, 'sns') ? undefined : 'destinations has no topic that messages may go to',
  events: (settings) =>
    mayGoTo(settings, 'events') ? undefined : 'destinations has no bus that messages may go to',
  logs: ({ longDelivery }) =>
    longDelivery === 'instances' ? undefined : 'longDelivery is functions, whose logs do not pass the VPC',
  xray: ({ longDelivery, tracing }) =>
    longDelivery === 'instances' && tracing
      ? undefined
      : 'only functions on instances send traces through the VPC: longDelivery=instances with tracing',
};

export function endpointsOf(
  settings: NeedOfEndpoints & Pick<NetworkSettings, 'vpcEndpoints'>,
): readonly EndpointService[] {
  const { vpcEndpoints } = settings;
  if (vpcEndpoints === false) return [];
  if (vpcEndpoints !== true) return vpcEndpoints;
  return endpointServices.filter((service) => needless[service]?.(settings) === undefined);
}

/** The most subnets and security groups of a capacity provider ("CapacityProviderVpcConfig", API reference of Lambda). */
const mostOnInstances = { subnets: 16, securityGroups: 5 } as const;

type Fault = readonly [setting: keyof typeof network, message: string];

export function faultsInNetwork(settings: NetworkSettings): readonly Fault[] {
  const faults: Fault[] = [];
  const refuse = (...fault: Fault): void => {
    faults.push(fault);
  };
  for (const service of endpointsOf(settings)) {
    const why = needless[service]?.(settings);
    if (why !== undefined) refuse('vpcEndpoints', `names ${service}, but ${why}`);
  }
  for (const place of settings.regions) {
    const vpcs = valuesIn(settings.vpcs, place);
    if (vpcs.length > 1) refuse('vpcs', `has two VPCs for ${place}`);
    for (const name of ['subnets', 'securityGroups', 'routeTables'] as const) {
      if (vpcs.length === 0 && valuesIn(settings[name], place).length > 0)
        refuse(name, `has a value for ${place}, where vpcs has no VPC`);
    }
    if (vpcs.length > 0 && valuesIn(settings.subnets, place).length === 0)
      refuse('subnets', `must name the subnets of the VPC of ${place}`);
    for (const name of ['subnets', 'securityGroups'] as const) {
      const most = mostOnInstances[name];
      if (settings.longDelivery === 'instances' && valuesIn(settings[name], place).length > most)
        refuse(
          name,
          `has more than ${most} for ${place}, which managed instances (longDelivery) do not take`,
        );
    }
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
    const isForInstances = settings.longDelivery === 'instances' && vpcs.length + addresses.length === 0;
    if (isForInstances && zones.length > 3) refuse('zones', `has more than three zones for ${place}`);
    if (!isForInstances && zones.length > 0 && zones.length !== addresses.length)
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
