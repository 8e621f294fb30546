/** Measures the CPU of publish and deliver in turns with that of another commit: only ratios of one run can be compared. */
import { join } from 'node:path';
import { BenchError } from '../../benchError.ts';
import { bundleUrl, startInvoker } from '../../child.ts';
import { onTheWay, passThrough, type OnTheWay } from '../../cpu.ts';
import { median } from '../../median.ts';
import { formatTable } from '../../table.ts';
import { startWorld, type World } from '../../world.ts';
import { checkOut, type Checkout } from './checkout.ts';

const root = join(import.meta.dirname, '../../..');

/** Pairs of processes, one of each: what a process happens to compile well is chance. */
const pairs = 3;
const warmUpMessages = 400;
/** Turns of the two processes of a pair: short ones, so that a busy moment of the machine falls on both. */
const turns = 7;
const messagesInTurn = 100;

/** The commit that the goals are told by: what its functions took on a quiet machine, and what they may take there. */
const baseline = {
  commit: 'f28a2d8',
  goalMs: 1,
  measuredMs: { publish: 1.71, deliver: 1.64 },
} as const;

interface CpuRatio {
  readonly handler: OnTheWay;
  /** CPU milliseconds for a message: the medians of all turns. */
  readonly ownMs: number;
  readonly otherMs: number;
  /** Of this tree to the other commit, in each turn. */
  readonly ratios: readonly number[];
}

type PerHandler<Value> = Readonly<Record<OnTheWay, Value>>;

/** One of the two that are compared. */
interface Side {
  readonly name: string;
  readonly bundles: PerHandler<string>;
}

export async function compareWithCommit(name: string): Promise<void> {
  const other = await checkOut(root, name);
  const own: Side = {
    name: 'this tree',
    bundles: { publish: bundleUrl('publish'), deliver: bundleUrl('deliver') },
  };
  const world = await startWorld();
  try {
    print(other, await measureRatios(world, own, { name, bundles: await bundlesOf(other) }));
  } finally {
    await world.close();
  }
}

const bundlesOf = async (checkout: Checkout): Promise<Side['bundles']> => ({
  publish: await checkout.bundleUrl('publish'),
  deliver: await checkout.bundleUrl('deliver'),
});

async function measureRatios(world: World, own: Side, other: Side): Promise<readonly CpuRatio[]> {
  const measured: { readonly own: PerHandler<number>; readonly other: PerHandler<number> }[] = [];
  for (let pair = 0; pair < pairs; pair += 1) {
    const [ownProcesses, otherProcesses] = [await startWarm(world, own), await startWarm(world, other)];
    for (let turn = 0; turn < turns; turn += 1) {
      const ofOwn = await ownProcesses.measure(messagesInTurn);
      measured.push({ own: ofOwn, other: await otherProcesses.measure(messagesInTurn) });
    }
    await ownProcesses.end();
    await otherProcesses.end();
  }
  return onTheWay.map((handler) => ({
    handler,
    ownMs: median(measured.map(({ own }) => own[handler])),
    otherMs: median(measured.map(({ other }) => other[handler])),
    ratios: measured.map(({ own, other }) => own[handler] / other[handler]),
  }));
}

/** The two processes of one side, which pass messages on to each other. */
interface Processes {
  /** @returns the CPU milliseconds for a message */
  measure(messages: number): Promise<PerHandler<number>>;
  end(): Promise<void>;
}

async function startWarm(world: World, { name, bundles }: Side): Promise<Processes> {
  const [publish, deliver] = [startInvoker(bundles.publish), startInvoker(bundles.deliver)];
  const measure = async (messages: number): Promise<PerHandler<number>> => {
    try {
      return await passThrough(world, publish, deliver, messages);
    } catch (error) {
      throw new BenchError(
        `The functions of ${name} fail with the tables and the variables of this tree: ${String(error)} Its error stands above.`,
        { cause: error },
      );
    }
  };
  await measure(warmUpMessages);
  return {
    measure,
    end: async () => {
      await publish.end();
      await deliver.end();
    },
  };
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
    `CPU milliseconds for a message, warm; deliver in batches of 10; medians of ${pairs * turns} turns\n\n` +
      formatTable([...head, ...(isBaseline ? ['goal', 'verdict'] : [])], rows),
  );
}
