/** Compares the CPU time of publish and deliver with another commit's, in turns: only ratios from one run are comparable. */
import { join } from 'node:path';
import { BenchError } from '../../benchError.ts';
import { bundleUrl, startInvoker } from '../../child.ts';
import { firstMessages, onTheWay, passThrough, warmUpMessages, type OnTheWay } from '../../cpu.ts';
import { median } from '../../median.ts';
import { formatTable } from '../../table.ts';
import { startFixture, type Fixture } from '../../fixture.ts';
import { checkOut, type Checkout } from './checkout.ts';

const root = join(import.meta.dirname, '../../..');

/** Pairs of processes. Several are needed, because processes compile code differently by chance. */
const pairs = 3;
/** Turns of a pair's two processes: short ones, so that a busy moment affects both. */
const turns = 7;
const messagesInTurn = 200;

/** The most CPU time that a change may take, relative to the other commit. Runs of one commit differ by less. */
const mostRatio = 1.1;

type PerHandler<Value> = Readonly<Record<OnTheWay, Value>>;

/** CPU milliseconds per message, of both sides in consecutive turns. */
interface Turn {
  readonly own: PerHandler<number>;
  readonly other: PerHandler<number>;
}

interface Measured {
  /** The first messages of each process. */
  readonly first: readonly Turn[];
  readonly warm: readonly Turn[];
}

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
  const fixture = await startFixture();
  try {
    print(other, await measureTurns(fixture, own, { name, bundles: await bundlesOf(other) }));
  } finally {
    await fixture.close();
  }
}

const bundlesOf = async (checkout: Checkout): Promise<Side['bundles']> => ({
  publish: await checkout.bundleUrl('publish'),
  deliver: await checkout.bundleUrl('deliver'),
});

async function measureTurns(fixture: Fixture, own: Side, other: Side): Promise<Measured> {
  const first: Turn[] = [];
  const warm: Turn[] = [];
  for (let pair = 0; pair < pairs; pair += 1) {
    const [ownProcesses, otherProcesses] = [start(fixture, own), start(fixture, other)];
    const measure = async (messages: number): Promise<Turn> => {
      const ofOwn = await ownProcesses.measure(messages);
      return { own: ofOwn, other: await otherProcesses.measure(messages) };
    };
    try {
      first.push(await measure(firstMessages));
      await measure(warmUpMessages - firstMessages);
      for (let turn = 0; turn < turns; turn += 1) warm.push(await measure(messagesInTurn));
    } finally {
      await Promise.all([ownProcesses.end(), otherProcesses.end()]);
    }
  }
  return { first, warm };
}

/** A side's two processes. One publishes, the other delivers. */
interface Processes {
  /** @returns CPU milliseconds per message */
  measure(messages: number): Promise<PerHandler<number>>;
  end(): Promise<void>;
}

function start(fixture: Fixture, { name, bundles }: Side): Processes {
  const [publish, deliver] = [startInvoker(bundles.publish), startInvoker(bundles.deliver)];
  const measure = async (messages: number): Promise<PerHandler<number>> => {
    try {
      return await passThrough(fixture, publish, deliver, messages);
    } catch (error) {
      throw new BenchError(
        `The functions of ${name} fail with the tables and the variables of this tree: ${String(error)} Its error stands above.`,
        { cause: error },
      );
    }
  };
  return {
    measure,
    end: async () => {
      await publish.end();
      await deliver.end();
    },
  };
}

function print({ commit }: Checkout, { first, warm }: Measured): void {
  const short = commit.slice(0, 7);
  const head = ['bundle', 'this tree', short, 'ratio', 'its median', `of ${short}`, 'ratio'];
  const warmRows = onTheWay.map((handler) => {
    const verdict = ratioOf(warm, handler, lowerQuartile) <= mostRatio ? 'met' : 'missed';
    return [...rowOf(warm, handler), `≤ ${mostRatio}`, verdict];
  });
  console.log(
    `CPU milliseconds for a message, warm; deliver in batches of 10; lower quartiles and medians of ${warm.length} turns\n\n` +
      formatTable([...head, 'goal', 'verdict'], warmRows),
  );
  const firstRows = onTheWay.map((handler) => rowOf(first, handler));
  console.log(
    `\nThe same for the first ${firstMessages} messages of a process, whose code is being compiled; ${first.length} processes\n\n` +
      formatTable(head, firstRows),
  );
}

/** Other work on the machine only adds CPU time, so quieter turns say more about the code than the median. */
function lowerQuartile(values: readonly number[]): number {
  const value = values.toSorted((a, b) => a - b)[Math.floor(values.length / 4)];
  if (value === undefined) throw new Error('There are no values.');
  return value;
}

type Average = (values: readonly number[]) => number;

const ratioOf = (turns: readonly Turn[], handler: OnTheWay, average: Average): number =>
  average(turns.map(({ own }) => own[handler])) / average(turns.map(({ other }) => other[handler]));

const rowOf = (turns: readonly Turn[], handler: OnTheWay): readonly string[] => [
  handler,
  ...[lowerQuartile, median].flatMap((average) =>
    [
      average(turns.map(({ own }) => own[handler])),
      average(turns.map(({ other }) => other[handler])),
      ratioOf(turns, handler, average),
    ].map((figure) => figure.toFixed(2)),
  ),
];
