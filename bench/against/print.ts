import { median } from '../figures.ts';
import { formatTable } from '../table.ts';
import type { Measured } from './load.ts';
import type { RivalName } from './rivals.ts';

export interface Round {
  readonly sideBySide: Measured;
  readonly oneByOne: Measured;
}

export type Title = RivalName | 'stage' | 'processes' | 'apart';

export type Measurements = ReadonlyMap<Title, { readonly name: string; readonly rounds: readonly Round[] }>;

type Figure = (round: Round) => number | undefined;

const perSecond: Figure = ({ sideBySide }) => sideBySide.perSecond;
const backlog: Figure = ({ sideBySide }) => 100 * sideBySide.backlog;
const arrivalMs: Figure = ({ oneByOne }) => oneByOne.arrivalMs;
const cpuMs: Figure = ({ sideBySide }) => sideBySide.cpuMs;
const cpuMsOneByOne: Figure = ({ oneByOne }) => oneByOne.cpuMs;
const loadCpuMs: Figure = ({ sideBySide }) => sideBySide.loadCpuMs;

/** A line for each contender. Ratios to the stage are of the same round: median, lowest and highest. */
export function printSpeeds(measurements: Measurements): void {
  const own = measurements.get('stage')?.rounds ?? [];
  const rows = [...measurements.values()].map(({ name, rounds: measured }) => {
    const ratios = ratiosOf(perSecond, measured, own);
    return [
      name,
      ...measured.map((round) => fixed(perSecond(round), 0)),
      ...[median(ratios), Math.min(...ratios), Math.max(...ratios)].map((ratio) => fixed(ratio, 2)),
      fixed(middle(backlog, measured), 1),
      fixed(middle(arrivalMs, measured), 1),
      fixed(middle(cpuMs, measured), 2),
      fixed(middle(cpuMsOneByOne, measured), 2),
      fixed(middle(loadCpuMs, measured), 2),
    ];
  });
  const head = [
    'contender',
    ...own.map((_, round) => `round ${round + 1}, a second`),
    'by the stage’s',
    'least',
    'most',
    '% late',
    'p50 ms',
    'CPU ms',
    'CPU ms, one by one',
    'load’s CPU ms',
  ];
  console.log(formatTable(head, rows));
  console.log(
    `
a second: deliveries, from the first request to the last arrival, beside the stage’s of the same round
% late: accepted, and not yet arrived when publishing ends
p50 ms: from publish to arrival, one at a time
CPU ms: of the contender and its servers for a message; without the load
load’s CPU ms: of the publishers and the destination for a message, on the same cores`,
  );
}

interface Goal {
  readonly name: string;
  readonly figure: Figure;
  readonly of: Title;
  /** Undefined if the figure is not compared. */
  readonly by?: Title;
  readonly limit: { readonly atLeast: number } | { readonly atMost: number };
}

/** Times and their ratios depend on the machine, so they are not checked. */
const goals: readonly Goal[] = [
  { name: 'deliveries a second', figure: perSecond, of: 'processes', by: 'stage', limit: { atLeast: 1.6 } },
  { name: 'deliveries a second', figure: perSecond, of: 'processes', by: 'apart', limit: { atLeast: 0.9 } },
  { name: 'deliveries a second', figure: perSecond, of: 'processes', by: 'outpost', limit: { atLeast: 1 } },
  {
    name: 'deliveries a second',
    figure: perSecond,
    of: 'processes',
    by: 'bullmq-http',
    limit: { atLeast: 0.5 },
  },
  { name: 'deliveries a second', figure: perSecond, of: 'stage', by: 'bullmq', limit: { atLeast: 0.33 } },
  { name: '% late', figure: backlog, of: 'stage', limit: { atMost: 1 } },
  // The counterpart of 0.33 of the deliveries, because CPU limits both.
  { name: 'CPU ms', figure: cpuMs, of: 'stage', by: 'bullmq', limit: { atMost: 3 } },
  { name: 'p50 ms', figure: arrivalMs, of: 'stage', by: 'bullmq', limit: { atMost: 3 } },
  { name: 'CPU ms, one by one', figure: cpuMsOneByOne, of: 'stage', by: 'bullmq', limit: { atMost: 4 } },
];

export function printGoals(measurements: Measurements): void {
  const rows = goals.flatMap(({ name, figure, of, by, limit }) => {
    const [one, another] = [measurements.get(of), by && measurements.get(by)];
    if (one === undefined || (by !== undefined && another === undefined)) return [];
    const whose = another === undefined ? one.name : `${one.name} by ${another.name}`;
    const value =
      another === undefined
        ? middle(figure, one.rounds)
        : medianOf(ratiosOf(figure, one.rounds, another.rounds));
    const [sign, bound] = 'atLeast' in limit ? ['≥', limit.atLeast] : ['≤', limit.atMost];
    if (value === undefined) return [[whose, name, 'only on Linux', `${sign} ${bound}`, '']];
    const isMet = sign === '≥' ? value >= bound : value <= bound;
    return [[whose, name, fixed(value, 2), `${sign} ${bound}`, isMet ? 'met' : 'missed']];
  });
  console.log(`\n${formatTable(['of', 'figure', '', 'goal', 'verdict'], rows, 2)}`);
}

const valuesOf = (figure: Figure, rounds: readonly Round[]): readonly number[] =>
  rounds.map(figure).filter((value) => value !== undefined);

const medianOf = (values: readonly number[]): number | undefined =>
  values.length === 0 ? undefined : median(values);

const middle = (figure: Figure, rounds: readonly Round[]): number | undefined =>
  medianOf(valuesOf(figure, rounds));

function ratiosOf(figure: Figure, rounds: readonly Round[], by: readonly Round[]): readonly number[] {
  const divisors = valuesOf(figure, by);
  return valuesOf(figure, rounds).map((value, round) => value / (divisors[round] ?? Number.NaN));
}

const fixed = (value: number | undefined, digits: number): string => value?.toFixed(digits) ?? '';
