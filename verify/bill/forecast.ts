/**
 * The forecast for a day: what docs/cost.md counts of a message, and what an idle deployment has, at list prices. `forecastOf` is all
 * that the comparison uses of it.
 */
import * as z from 'zod';
import { dollarsPerMillion, type Unit } from '../../bench/prices.ts';
import type { StackTemplate } from '../deployment.ts';

/** The services as Cost Explorer names them. */
export const services = {
  gateway: 'Amazon API Gateway',
  lambda: 'AWS Lambda',
  sqs: 'Amazon Simple Queue Service',
  dynamodb: 'Amazon DynamoDB',
  cloudWatch: 'AmazonCloudWatch',
  secrets: 'AWS Secrets Manager',
  waf: 'AWS WAF',
} as const;

/** Dollars for a day: with each message alone, and in batches of ten. */
export interface Forecast {
  readonly service: string;
  readonly alone: number;
  readonly batched: number;
}

/** The units of a message of 1 KB, as docs/cost.md lists them, for a destination that answers after 100 ms. */
const perMessage: readonly (readonly [service: string, unit: Unit, alone: number, batched: number])[] = [
  [services.gateway, 'apiRequest', 1, 1],
  [services.lambda, 'lambdaRequest', 2, 1.1],
  // Seconds of half a gigabyte: publish 20 ms; deliver 130 ms alone, and 30 ms of a batch.
  [services.lambda, 'lambdaGbSecond', 0.075, 0.025],
  [services.sqs, 'sqsRequest', 3, 1.2],
  [services.sqs, 'sqsGroup', 1, 1],
  [services.dynamodb, 'dynamoRead', 2, 2],
  [services.dynamodb, 'dynamoWrite', 3.17, 3.17],
  // A line of the gateway, one of the attempt, and the metrics: 1 KB.
  [services.cloudWatch, 'logGb', 1e-6, 1e-6],
];

const daysOfMonth = 730 / 24;

/**
 * Polls of an empty queue in a month: pollers wait for 20 s each, five of them where a maximum concurrency is set and two elsewhere
 * ("Configuring scaling behavior for SQS event source mappings").
 */
const pollsOfMonth = (pollers: number): number => (pollers * 730 * 3_600) / 20;
const mapping = z.object({ ScalingConfig: z.unknown().optional() });

const alarm = z.object({ Metrics: z.array(z.object({ MetricStat: z.unknown().optional() })).optional() });
const secret = z.object({ ReplicaRegions: z.array(z.unknown()).default([]) });
const acl = z.object({ Rules: z.array(z.unknown()) });

/** What a resource of a type costs in a month without any use: units, by its properties. */
const idle: Readonly<
  Record<string, readonly [service: string, unit: Unit, amount: (properties: unknown) => number]>
> = {
  'AWS::CloudWatch::Alarm': [
    services.cloudWatch,
    'alarmMetric',
    (properties) =>
      alarm.parse(properties).Metrics?.filter(({ MetricStat }) => MetricStat !== undefined).length ?? 1,
  ],
  'AWS::CloudWatch::Dashboard': [services.cloudWatch, 'dashboard', () => 1],
  'AWS::SecretsManager::Secret': [
    services.secrets,
    'secret',
    (properties) => 1 + secret.parse(properties).ReplicaRegions.length,
  ],
  'AWS::Lambda::EventSourceMapping': [
    services.sqs,
    'sqsRequest',
    (properties) => pollsOfMonth(mapping.parse(properties).ScalingConfig === undefined ? 2 : 5),
  ],
  'AWS::WAFv2::WebACL': [services.waf, 'webAcl', () => 1],
};

/** Prices of resources are for one of them; those of units for a million. */
const dollars = (unit: Unit, amount: number): number => dollarsPerMillion(unit, amount) / 1e6;

/** @param messages of the day, callbacks among them */
export function forecastOf(messages: number, stacks: readonly StackTemplate[]): readonly Forecast[] {
  const sums = new Map<string, Forecast>();
  const add = (service: string, alone: number, batched: number): void => {
    const before = sums.get(service) ?? { service, alone: 0, batched: 0 };
    sums.set(service, { service, alone: before.alone + alone, batched: before.batched + batched });
  };
  for (const [service, unit, alone, batched] of perMessage)
    add(service, dollars(unit, alone * messages), dollars(unit, batched * messages));
  for (const { Type, Properties } of stacks.flatMap(({ resources }) => Object.values(resources))) {
    const found = idle[Type];
    if (found === undefined) continue;
    const [service, unit, amount] = found;
    const daily = dollars(unit, amount(Properties)) / daysOfMonth;
    add(service, daily, daily);
    if (Type === 'AWS::WAFv2::WebACL') {
      const rules = dollars('webAclRule', acl.parse(Properties).Rules.length) / daysOfMonth;
      add(services.waf, rules, rules);
    }
  }
  return [...sums.values()];
}
