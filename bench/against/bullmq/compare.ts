/** Measures the local stage and BullMQ in turns, doing the same work. Only ratios of one run can be compared. */
import { median } from '../../median.ts';
import { formatTable } from '../../table.ts';
import {
  bodyBytes,
  measureLoad,
  startDestination,
  type Destination,
  type Load,
  type Measured,
} from './load.ts';
import { startBullmqRival, startStageRival, type Rival } from './rivals.ts';

/** Turns of each; odd, so that there is a middle one. */
const rounds = 5;
const publishersAtOnce = 32;
const publishingSeconds = 5;
/** Odd, too. */
const oneAtATime = 201;

const sideBySide: Load = {
  atOnce: publishersAtOnce,
  waitsForArrival: false,
  goesOn: (_, sinceMs) => sinceMs < 1_000 * publishingSeconds,
};
const oneByOne: Load = {
  atOnce: 1,
  waitsForArrival: true,
  goesOn: (published) => published < oneAtATime,
};

interface Round {
  readonly sideBySide: Measured;
  readonly oneByOne: Measured;
}

/** A line of the table: a figure of both, and what is judged of it. */
interface Figure {
  readonly name: string;
  readonly of: (round: Round) => number | undefined;
  readonly digits: number;
  /** A goal of the ratio to BullMQ, or of the stage's own figure. */
  readonly judged: 'ratio' | 'own';
  readonly goal: { readonly atLeast: number } | { readonly atMost: number };
}

/** Times depend on the machine, and these ratios on how many cores it has: they are left to the reader. */
const figures: readonly Figure[] = [
  {
    name: `deliveries a second, ${publishersAtOnce} at once`,
    of: (round) => round.sideBySide.perSecond,
    digits: 0,
    judged: 'ratio',
    goal: { atLeast: 0.33 },
  },
  {
    name: '% not yet arrived when publishing ends',
    of: (round) => 100 * round.sideBySide.backlog,
    digits: 1,
    judged: 'own',
    goal: { atMost: 1 },
  },
  {
    name: `CPU ms for a message, ${publishersAtOnce} at once`,
    of: (round) => round.sideBySide.cpuMs,
    digits: 2,
    judged: 'ratio',
    // The other side of 0.33 of the deliveries, where CPU is what limits both.
    goal: { atMost: 3 },
  },
  {
    name: 'ms from publish to arrival, one at a time',
    of: (round) => round.oneByOne.arrivalMs,
    digits: 1,
    judged: 'ratio',
    goal: { atMost: 3 },
  },
  {
    name: 'CPU ms for a message, one at a time',
    of: (round) => round.oneByOne.cpuMs,
    digits: 2,
    judged: 'ratio',
    goal: { atMost: 4 },
  },
];

/** @throws BenchError when there is no Redis on this machine, or BullMQ cannot be installed */
export async function compareWithBullmq(): Promise<void> {
  // What may be missing comes first.
  const bullmq = await startBullmqRival();
  try {
    const stage = await startStageRival();
    try {
      const destination = await startDestination();
      try {
        print(bullmq, await measureRounds(stage, bullmq, destination));
      } finally {
        await destination.close();
      }
    } finally {
      await stage.close();
    }
  } finally {
    await bullmq.close();
  }
}

interface Rounds {
  readonly own: readonly Round[];
  readonly other: readonly Round[];
}

async function measureRounds(stage: Rival, bullmq: Rival, destination: Destination): Promise<Rounds> {
  const measured: { own: Round[]; other: Round[] } = { own: [], other: [] };
  // Both become fast first.
  for (const rival of [stage, bullmq]) await measureRound(rival, destination);
  for (let turn = 0; turn < rounds; turn += 1) {
    // Each begins as often as the other.
    for (const rival of turn % 2 === 0 ? [stage, bullmq] : [bullmq, stage]) {
      const round = await measureRound(rival, destination);
      measured[rival === stage ? 'own' : 'other'].push(round);
    }
  }
  return measured;
}

const measureRound = async (rival: Rival, destination: Destination): Promise<Round> => ({
  sideBySide: await measureLoad(rival, destination, sideBySide),
  oneByOne: await measureLoad(rival, destination, oneByOne),
});

function print(bullmq: Rival, { own, other }: Rounds): void {
  const rows = figures.map((figure) => rowOf(figure, own, other));
  const head = ['', 'stage', 'BullMQ', 'ratio', 'least', 'most', 'goal', 'verdict'];
  console.log(
    `The local stage beside ${bullmq.name}: ${bodyBytes} bytes over HTTP, delivered over HTTP; medians of ${rounds} turns\n\n` +
      formatTable(head, rows),
  );
}

function rowOf(figure: Figure, own: readonly Round[], other: readonly Round[]): readonly string[] {
  const { name, of, digits, judged, goal } = figure;
  const ownValues = own.map(of).filter((value) => value !== undefined);
  const otherValues = other.map(of).filter((value) => value !== undefined);
  if (ownValues.length === 0) return [name, 'only on Linux'];
  const ratios = ownValues.map((value, turn) => value / (otherValues[turn] ?? Number.NaN));
  const value = median(judged === 'ratio' ? ratios : ownValues);
  const [sign, limit] = 'atLeast' in goal ? ['≥', goal.atLeast] : ['≤', goal.atMost];
  const isMet = 'atLeast' in goal ? value >= goal.atLeast : value <= goal.atMost;
  const ratioCells =
    judged === 'ratio'
      ? [median(ratios), Math.min(...ratios), Math.max(...ratios)].map((ratio) => ratio.toFixed(2))
      : ['', '', ''];
  return [
    name,
    median(ownValues).toFixed(digits),
    median(otherValues).toFixed(digits),
    ...ratioCells,
    `${sign} ${limit}`,
    isMet ? 'met' : 'missed',
  ];
}
