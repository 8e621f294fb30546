import * as z from 'zod';
import { hoursOfMonth, secondsOfMonth, type Unit } from './prices.ts';
import { services, type Service } from './services.ts';

export const templateResource = z.object({
  Type: z.string(),
  Properties: z.record(z.string(), z.unknown()).default({}),
});
export type TemplateResource = z.output<typeof templateResource>;

interface IdleUse {
  readonly what: string;
  readonly service: Service;
  readonly unit: Unit;
  readonly amount: number;
}

const alarm = z.object({ Metrics: z.array(z.object({ MetricStat: z.unknown().optional() })).optional() });
const secret = z.object({ ReplicaRegions: z.array(z.unknown()).default([]) });
const mapping = z.object({ ScalingConfig: z.unknown().optional() });
const acl = z.object({ Rules: z.array(z.unknown()) });
const endpoint = z.object({
  VpcEndpointType: z.string().default('Gateway'),
  SubnetIds: z.array(z.unknown()).default([]),
});
const version = z.object({
  FunctionScalingConfig: z.object({ MinExecutionEnvironments: z.number() }).optional(),
});

/**
 * The time that each of Lambda's pollers waits for a message. There are five with a maximum concurrency, and otherwise two
 * ("Configuring scaling behavior for SQS event source mappings").
 */
const pollSeconds = 20;

export const secrets = 'secrets';
/** Copies of the secrets. The first region creates them, and AWS bills them in the other regions. */
export const replicas = 'replicas of secrets';

/** Billed uses of an idle resource, by type. Missing types cost nothing while idle. */
const usesOf: Readonly<Record<string, (properties: unknown) => readonly IdleUse[]>> = {
  // An alarm is billed per metric.
  'AWS::CloudWatch::Alarm': (properties) => {
    const { Metrics } = alarm.parse(properties);
    const amount = Metrics?.filter(({ MetricStat }) => MetricStat !== undefined).length ?? 1;
    return [{ what: 'alarms, by their metrics', service: services.cloudWatch, unit: 'alarmMetric', amount }];
  },
  'AWS::CloudWatch::Dashboard': () => [
    { what: 'dashboard', service: services.cloudWatch, unit: 'dashboard', amount: 1 },
  ],
  'AWS::Lambda::EventSourceMapping': (properties) => {
    const pollers = mapping.parse(properties).ScalingConfig === undefined ? 2 : 5;
    const amount = (pollers * secondsOfMonth) / pollSeconds;
    return [{ what: 'polls of queues', service: services.sqs, unit: 'sqsRequest', amount }];
  },
  'AWS::WAFv2::WebACL': (properties) => [
    { what: 'firewall', service: services.waf, unit: 'webAcl', amount: 1 },
    {
      what: 'rules of the firewall',
      service: services.waf,
      unit: 'webAclRule',
      amount: acl.parse(properties).Rules.length,
    },
  ],
  'AWS::SecretsManager::Secret': (properties) => [
    { what: secrets, service: services.secrets, unit: 'secret', amount: 1 },
    {
      what: replicas,
      service: services.secrets,
      unit: 'secret',
      amount: secret.parse(properties).ReplicaRegions.length,
    },
  ],
  // Only versions on managed instances have permanent environments, each on a separate instance: see `instances.ts`.
  'AWS::Lambda::Version': (properties) => {
    const { FunctionScalingConfig } = version.parse(properties);
    const amount = (FunctionScalingConfig?.MinExecutionEnvironments ?? 0) * hoursOfMonth;
    return [
      { what: 'instances', service: services.ec2, unit: 'instanceHour', amount },
      { what: 'management fee of instances', service: services.lambda, unit: 'instanceFeeHour', amount },
    ];
  },
  'AWS::EC2::NatGateway': () => [
    { what: 'NAT gateways', service: services.ec2Other, unit: 'natHour', amount: hoursOfMonth },
    { what: 'addresses of NAT gateways', service: services.vpc, unit: 'addressHour', amount: hoursOfMonth },
  ],
  'AWS::EC2::VPCEndpoint': (properties) => {
    const { VpcEndpointType, SubnetIds } = endpoint.parse(properties);
    const amount = VpcEndpointType === 'Interface' ? SubnetIds.length * hoursOfMonth : 0;
    return [{ what: 'endpoints', service: services.vpc, unit: 'endpointHour', amount }];
  },
};

/** The uses of resources, in the order of printing. */
export const idleUses = (resources: readonly TemplateResource[]): readonly IdleUse[] =>
  Object.entries(usesOf).flatMap(([type, uses]) =>
    resources.filter(({ Type }) => Type === type).flatMap(({ Properties }) => uses(Properties)),
  );
