/** Counts the monthly cost of an idle deployment: its templates' resources, at list prices. */
import type { Template } from 'aws-cdk-lib/assertions';
import { resources, synthesize } from '../test/infra/app.ts';
import { idleUses, replicas, secrets } from '../verify/prices/resources.ts';
import { pricedRegionOf, unitDollars } from '../verify/prices/prices.ts';
import { sum } from './figures.ts';
import { printTable } from './table.ts';

export interface IdleLine {
  readonly what: string;
  /** Dollars per month: in the first region, and in another. */
  readonly dollars: readonly [first: number, other: number];
}

interface IdleBill {
  readonly title: string;
  readonly lines: readonly IdleLine[];
}

function dollarsIn(region: string, templates: readonly Template[]): ReadonlyMap<string, number> {
  const dollars = new Map<string, number>();
  for (const { what, unit, amount } of idleUses(templates.flatMap((one) => [...resources(one).values()])))
    dollars.set(what, (dollars.get(what) ?? 0) + unitDollars(unit, amount, pricedRegionOf(region)));
  return dollars;
}

/** @param context settings for two regions */
export function idleBill(title: string, context: Readonly<Record<string, unknown>> = {}): IdleBill {
  const { regions, management } = synthesize(context);
  const [first, other] = regions;
  if (first === undefined || other === undefined) throw new Error('There are fewer than two regions.');
  const ofFirst = dollarsIn(first.region, [first.state, first.service, management]);
  const ofOther = dollarsIn(other.region, [other.state, other.service]);
  // The first region creates the replicas, but they are billed in the others.
  const ofReplicas = (ofFirst.get(replicas) ?? 0) / (regions.length - 1);
  const lines = [...new Set([...ofFirst.keys(), ...ofOther.keys()])]
    .filter((what) => what !== replicas)
    .map((what): IdleLine => {
      const more = what === secrets ? ofReplicas : 0;
      return { what, dollars: [ofFirst.get(what) ?? 0, (ofOther.get(what) ?? 0) + more] };
    });
  return { title, lines: lines.filter(({ dollars }) => sum(dollars) > 0) };
}

/** Dollars per month of one or several lines: in the first region, in another, and in both. */
export function idleDollars(
  lines: readonly IdleLine[],
): readonly [first: number, other: number, both: number] {
  const place = (at: 0 | 1): number => sum(lines.map(({ dollars }) => dollars[at]));
  return [place(0), place(1), place(0) + place(1)];
}

export const idleBills = (): readonly IdleBill[] => [
  idleBill('the defaults'),
  idleBill('monitoring=essential', { monitoring: 'essential' }),
  idleBill('monitoring=false', { monitoring: 'false' }),
  idleBill('stage=prod', { stage: 'prod' }),
  idleBill('longDelivery=instances', { longDelivery: 'instances' }),
];

export function printIdle(): readonly string[] {
  const bills = idleBills();
  const rows = [
    ...(bills[0]?.lines ?? []).map((line) => ({ what: line.what, dollars: idleDollars([line]) })),
    ...bills.map(({ title, lines }) => ({ what: `sum, ${title}`, dollars: idleDollars(lines) })),
  ];
  printTable('An idle deployment', rows, [
    ['idle, dollars a month', ({ what }) => what],
    ['first region', ({ dollars: [first] }) => first.toFixed(2)],
    ['another', ({ dollars: [, other] }) => other.toFixed(2)],
    ['two regions', ({ dollars: [, , both] }) => both.toFixed(2)],
  ]);
  return [];
}
