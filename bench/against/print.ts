import { median } from '../figures.ts';
import { formatTable } from '../table.ts';
import type { Measured } from './load.ts';
import type { Contender } from './contender.ts';

export interface Round {
  readonly sideBySide: Measured;
  readonly oneByOne: Measured;
}

export interface Measurements {
  readonly stage: Contender;
  readonly rounds: ReadonlyMap<Contender, readonly Round[]>;
}

type Figure = (round: Round) => number | undefined;

const perSecond: Figure = ({ sideBySide }) => sideBySide.perSecond;
const backlog: Figure = ({ sideBySide }) => 100 * sideBySide.backlog;
const arrivalMs: Figure = ({ oneByOne }) => oneByOne.arrivalMs;
const cpuMs: Figure = ({ sideBySide }) => sideBySide.cpuMs;
const cpuMsOneByOne: Figure = ({ oneByOne }) => oneByOne.cpuMs;

/** A line for each contender. Ratios to the stage are of the same round: the median, lowest and highest. */
export function printSpeeds({ stage, rounds }: Measurements): void {
  const own = rounds.get(stage) ?? [];
  const rows = [...rounds].map(([{ name }, measured]) => {
    const ratios = ratiosOf(perSecond, measured, own);
    return [
      name,
      ...measured.map((round) => fixed(perSecond(round), 0)),
      ...[median(ratios), Math.min(...ratios), Math.max(...ratios)].map((ratio) => fixed(ratio, 2)),
      fixed(middle(backlog, measured), 1),
      fixed(middle(arrivalMs, measured), 1),
      fixed(middle(cpuMs, measured), 2),
      fixed(middle(cpuMsOneByOne, measured), 2),
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
  ];
  console.log(formatTable(head, rows));
  console.log(
    `
a second: deliveries, from the first request to the last arrival, beside the stage’s of the same round
% late: accepted, and not yet arrived when publishing ends
p50 ms: from publish to arrival, one at a time
CPU ms: of the contender and its servers for a message; without the publishers and the destination`,
  );
}

interface Goal {
  readonly name: string;
  readonly figure: Figure;
  readonly judged: 'ratio' | 'own';
  readonly limit: { readonly atLeast: number } | { readonly atMost: number };
}

/** Times and these ratios depend on the machine, so only the reader judges them. */
const goals: readonly Goal[] = [
  { name: 'deliveries a second', figure: perSecond, judged: 'ratio', limit: { atLeast: 0.33 } },
  { name: '% late', figure: backlog, judged: 'own', limit: { atMost: 1 } },
  // The counterpart of 0.33 of the deliveries, because CPU limits both.
  { name: 'CPU ms', figure: cpuMs, judged: 'ratio', limit: { atMost: 3 } },
  { name: 'p50 ms', figure: arrivalMs, judged: 'ratio', limit: { atMost: 3 } },
  { name: 'CPU ms, one by one', figure: cpuMsOneByOne, judged: 'ratio', limit: { atMost: 4 } },
];

export function printGoals({ stage, rounds }: Measurements, bullmq: Contender): void {
  const [own, other] = [rounds.get(stage), rounds.get(bullmq)];
  if (own === undefined || other === undefined) return;
  const rows = goals.map(({ name, figure, judged, limit }) => {
    const value = judged === 'own' ? middle(figure, own) : medianOf(ratiosOf(figure, own, other));
    const [sign, bound] = 'atLeast' in limit ? ['≥', limit.atLeast] : ['≤', limit.atMost];
    if (value === undefined) return [name, 'only on Linux', `${sign} ${bound}`];
    const isMet = sign === '≥' ? value >= bound : value <= bound;
    return [name, fixed(value, 2), `${sign} ${bound}`, isMet ? 'met' : 'missed'];
  });
  console.log(`\n${formatTable(['the stage by BullMQ', '', 'goal', 'verdict'], rows)}`);
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
