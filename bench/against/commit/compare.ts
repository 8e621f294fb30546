/** Measures the CPU of publish and deliver in turns with that of another commit: only ratios of one run can be compared. */
import { join } from 'node:path';
import { BenchError } from '../../benchError.ts';
import { bundleUrl } from '../../child.ts';
import {
  allMessages,
  deliverEvents,
  measureProcess,
  onTheWay,
  publishEvents,
  type OnTheWay,
  type Rounds,
} from '../../cpu.ts';
import { median } from '../../median.ts';
import { formatTable } from '../../table.ts';
import { startWorld, type World } from '../../world.ts';
import { checkOut, type Checkout } from './checkout.ts';

const root = join(import.meta.dirname, '../../..');

/** Processes of each of the two, one after the other: what one happens to compile well is chance, and so is a busy moment. */
const pairs = 7;
/** For one process. */
const counts: Rounds = { warmUpMessages: 500, rounds: 5, messagesInRound: 200 };

/** The commit that the goals are told by: what its functions took on a quiet machine, and what they may take there. */
const baseline = {
  commit: 'f28a2d8',
  goalMs: 1,
  measuredMs: { publish: 1.71, deliver: 1.64 },
} as const;

interface CpuRatio {
  readonly handler: OnTheWay;
  /** CPU milliseconds for a message: the medians of all processes. */
  readonly ownMs: number;
  readonly otherMs: number;
  /** Of this tree to the other commit, in each pair of processes. */
  readonly ratios: readonly number[];
}

/** One of the two that are compared. */
interface Side {
  readonly name: string;
  readonly bundles: Readonly<Record<OnTheWay, string>>;
}

export async function compareWithCommit(name: string): Promise<void> {
  const other = await checkOut(root, name);
  const sides = [
    { name: 'this tree', bundles: { publish: bundleUrl('publish'), deliver: bundleUrl('deliver') } },
    { name, bundles: await bundlesOf(other) },
  ] as const;
  const world = await startWorld();
  try {
    const ratios = await measureRatios(world, sides);
    print(other, ratios);
  } finally {
    await world.close();
  }
}

const bundlesOf = async (checkout: Checkout): Promise<Side['bundles']> => ({
  publish: await checkout.bundleUrl('publish'),
  deliver: await checkout.bundleUrl('deliver'),
});

async function measureRatios(
  world: World,
  [own, other]: readonly [Side, Side],
): Promise<readonly CpuRatio[]> {
  const times = new Map(onTheWay.map((handler) => [handler, { own: [] as number[], other: [] as number[] }]));
  for (let pair = 0; pair < pairs; pair += 1) {
    // Each begins as often as the other.
    for (const side of pair % 2 === 0 ? [own, other] : [other, own]) {
      const measured = await measureSide(world, side);
      for (const handler of onTheWay)
        times.get(handler)?.[side === own ? 'own' : 'other'].push(measured[handler]);
    }
  }
  return [...times].map(([handler, { own, other }]) => ({
    handler,
    ownMs: median(own),
    otherMs: median(other),
    ratios: own.map((ms, pair) => ms / (other[pair] ?? Number.NaN)),
  }));
}

/** Publishes messages in one process, and delivers the same messages in another. */
async function measureSide(world: World, { name, bundles }: Side): Promise<Record<OnTheWay, number>> {
  const messages = allMessages(counts);
  const measure = async (handler: OnTheWay, events: readonly object[]): Promise<number> => {
    try {
      return median((await measureProcess(bundles[handler], events, counts)).roundsMs);
    } catch (error) {
      throw new BenchError(
        `The ${handler} of ${name} fails with the tables and the variables of this tree; its error stands above.`,
        { cause: error },
      );
    }
  };
  const publish = await measure('publish', publishEvents(world, messages));
  return { publish, deliver: await measure('deliver', await deliverEvents(world, messages)) };
}

function print({ commit }: Checkout, ratios: readonly CpuRatio[]): void {
  const isBaseline = commit.startsWith(baseline.commit);
  const rows = ratios.map(({ handler, ownMs, otherMs, ratios }) => {
    const ratio = median(ratios);
    const goal = baseline.goalMs / baseline.measuredMs[handler];
    return [
      handler,
      ownMs.toFixed(2),
      otherMs.toFixed(2),
      ratio.toFixed(2),
      Math.min(...ratios).toFixed(2),
      Math.max(...ratios).toFixed(2),
      ...(isBaseline ? [`≤ ${goal.toFixed(2)}`, ratio <= goal ? 'met' : 'missed'] : []),
    ];
  });
  const head = ['bundle', 'this tree', commit.slice(0, 7), 'ratio', 'least', 'most'];
  console.log(
    `CPU milliseconds for a message, warm; deliver in batches of 10; ${pairs} processes of each, in turns\n\n` +
      formatTable([...head, ...(isBaseline ? ['goal', 'verdict'] : [])], rows),
  );
}
