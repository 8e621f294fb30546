/** Counts what a deployment costs in a month in which nobody uses it: the resources of its templates, at list prices. */
import * as z from 'zod';
import type { Template } from 'aws-cdk-lib/assertions';
import { properties, resources, synthesize } from '../test/infra/app.ts';
import { dollarsPerMillion, type Unit } from './prices.ts';
import { formatTable } from './table.ts';

/** The first region, and another. */
type Counts = readonly [first: number, other: number];

export interface IdleLine {
  readonly what: string;
  readonly unit: Unit;
  /** Units in a month. */
  readonly amounts: Counts;
}

export interface IdleBill {
  readonly title: string;
  readonly lines: readonly IdleLine[];
}

const secondsOfMonth = 730 * 3_600;

/**
 * The requests with which one poller of Lambda asks a queue that is empty, and waits 20 s for a message. A mapping has five pollers;
 * without a maximum concurrency Lambda leaves two of them when traffic is low: "Configuring scaling behavior for SQS event source
 * mappings".
 */
const pollsOfMonth = secondsOfMonth / 20;
const mapping = z.object({ ScalingConfig: z.object({ MaximumConcurrency: z.number() }).optional() });
const pollersOf = ({ ScalingConfig }: z.output<typeof mapping>): number =>
  ScalingConfig === undefined ? 2 : 5;

const alarm = z.object({ Metrics: z.array(z.object({ MetricStat: z.unknown().optional() })).optional() });
/** An alarm is billed by the metric. */
const metricsOf = ({ Metrics }: z.output<typeof alarm>): number =>
  Metrics === undefined ? 1 : Metrics.filter(({ MetricStat }) => MetricStat !== undefined).length;

const secret = z.object({ ReplicaRegions: z.array(z.unknown()).default([]) });
const acl = z.object({ Rules: z.array(z.unknown()) });

const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0);

/** Counts what each place has of a unit, by the templates of that place. */
const counters: readonly (readonly [
  what: string,
  unit: Unit,
  count: (templates: readonly Template[]) => number,
])[] = [
  [
    'alarms, by their metrics',
    'alarmMetric',
    (all) => sum(all.flatMap((one) => properties(one, 'AWS::CloudWatch::Alarm', alarm)).map(metricsOf)),
  ],
  ['dashboard', 'dashboard', (all) => countOf(all, 'AWS::CloudWatch::Dashboard')],
  ['key of the alarms’ topic', 'kmsKey', (all) => countOf(all, 'AWS::KMS::Key')],
  [
    'polls of queues',
    'sqsRequest',
    (all) =>
      pollsOfMonth *
      sum(all.flatMap((one) => properties(one, 'AWS::Lambda::EventSourceMapping', mapping)).map(pollersOf)),
  ],
  ['firewall', 'webAcl', (all) => countOf(all, 'AWS::WAFv2::WebACL')],
  [
    'rules of the firewall',
    'webAclRule',
    (all) =>
      sum(all.flatMap((one) => properties(one, 'AWS::WAFv2::WebACL', acl)).map(({ Rules }) => Rules.length)),
  ],
];

const countOf = (templates: readonly Template[], type: string): number =>
  sum(templates.map((one) => resources(one, type).size));

/** @param context settings for two regions */
export function idleBill(title: string, context: Readonly<Record<string, unknown>> = {}): IdleBill {
  const { regions, management } = synthesize(context);
  const [first, other] = regions.map(({ state, service }) => [state, service]);
  if (first === undefined || other === undefined) throw new Error('There are fewer than two regions.');
  const places = [[...first, management], other] as const;
  // Replicas are made by the first region, and billed in the others.
  const secrets = first.flatMap((one) => properties(one, 'AWS::SecretsManager::Secret', secret));
  const replicas = sum(secrets.map(({ ReplicaRegions }) => ReplicaRegions.length)) / (regions.length - 1);
  const lines: readonly IdleLine[] = [
    ...counters.map(([what, unit, count]) => ({
      what,
      unit,
      amounts: [count(places[0]), count(places[1])] as const,
    })),
    { what: 'secrets', unit: 'secret', amounts: [secrets.length, replicas] },
  ];
  return { title, lines: lines.filter(({ amounts }) => sum(amounts) > 0) };
}

/** Dollars a month of one line, or of several: of the first region, of another, and of both. */
export function idleDollars(
  lines: readonly IdleLine[],
): readonly [first: number, other: number, both: number] {
  const place = (at: 0 | 1): number =>
    sum(lines.map(({ unit, amounts }) => dollarsPerMillion(unit, amounts[at] / 1_000_000)));
  return [place(0), place(1), place(0) + place(1)];
}

/** The settings that the idle costs depend on. */
export const idleBills = (): readonly IdleBill[] => [
  idleBill('the defaults'),
  idleBill('monitoring=essential', { monitoring: 'essential' }),
  idleBill('monitoring=false', { monitoring: 'false' }),
  idleBill('stage=prod', { stage: 'prod' }),
];

export function printIdle(bills: readonly IdleBill[]): void {
  const row = (what: string, lines: readonly IdleLine[]) => [
    what,
    ...idleDollars(lines).map((dollars) => dollars.toFixed(2)),
  ];
  const [defaults] = bills;
  const rows = [
    ...(defaults?.lines ?? []).map((line) => row(line.what, [line])),
    ...bills.map(({ title, lines }) => row(`sum, ${title}`, lines)),
  ];
  const head = ['idle, dollars a month', 'first region', 'another', 'two regions'];
  console.log(`\nAn idle deployment\n\n${formatTable(head, rows)}`);
}
