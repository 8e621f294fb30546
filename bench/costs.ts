/** Measures and prints what a message costs, with and without lanes, a workflow run, and the console. */
import { wrongAssumptions } from './assumptions.ts';
import { batchSizes, totalOf, type Bill } from '../verify/prices/bill.ts';
import { batchCount, countUrlUses, countUses } from './count.ts';
import { measureBundles, type BundleCost } from './bundles.ts';
import { brotliTotal, measureConsole, type ConsoleFile } from './console.ts';
import { firstMessages, measureCpu, measureUrlLogBytes, onTheWay, type CpuTime } from './cpu.ts';
import { printWholeBill } from './bill/print.ts';
import { jsonBodyName } from './events.ts';
import { idleBills, printIdle } from './idle.ts';
import type { Part } from './options.ts';
import { dollarsPerMillion, pricedOn } from '../verify/prices/prices.ts';
import { dollars, printBill } from './printBill.ts';
import { memoryCosts } from './memory.ts';
import { formatTable, printTable, verdict } from './table.ts';
import { countLanes } from './laneCosts.ts';
import { measureLaneRows } from './laneRows.ts';
import { measureLaneSpeed } from './laneSpeed.ts';
import { printLaneCosts, printLaneRows, printLaneSpeeds } from './printLanes.ts';
import { printWorkflows } from './printWorkflows.ts';
import { countWorkflows } from './workflowCosts.ts';
import { startFixture, type Fixture } from './fixture.ts';

/**
 * Dollars are for a million messages of JSON in full batches, because a large bill comes from such a load. Starts and CPU are
 * for the two functions that a message passes, and the console's goal is for its first load.
 */
const goals = {
  dollarsPerMillion: 7,
  dollarsThroughUrl: 3.5,
  dollarsInBatches: 3,
  startBytes: 450_000,
  importMs: 60,
  cpuMs: 1,
  consoleBytes: 60_000,
};
const isOnTheWay = (handler: string): boolean => onTheWay.some((one) => one === handler);
const judgedSize = 10;

const kilobytes = (bytes: number): string => (bytes / 1000).toFixed(0);

/** A bill, with the most that a million of its messages may cost under load. Without a goal it is only printed. */
interface JudgedBill {
  readonly title: string;
  readonly bill: Bill;
  readonly goal?: number | undefined;
}

function printMessageBill({ title, bill, goal }: JudgedBill): void {
  const more =
    goal === undefined
      ? []
      : [
          [
            `goal: at most ${dollars(goal)}`,
            ...['', '', '', ''],
            ...batchSizes.map((size) => (size === judgedSize ? verdict(totalOf(bill, size), goal) : '')),
          ],
        ];
  printBill(`${title}: units for one, dollars for a million`, bill, more);
}

const printCpu = (times: readonly CpuTime[]): void => {
  printTable(
    `CPU milliseconds for a message: the first ${firstMessages} of a process, then warm; deliver in batches of 10`,
    times,
    [
      ['bundle', ({ handler }) => handler],
      ['first', ({ firstMs }) => firstMs.toFixed(2)],
      ['median', ({ medianMs }) => medianMs.toFixed(2)],
      ['least', ({ leastMs }) => leastMs.toFixed(2)],
      ['goal', () => goals.cpuMs.toFixed(2)],
      ['verdict', ({ medianMs }) => verdict(medianMs, goals.cpuMs)],
    ],
  );
};

function printMemory(times: readonly CpuTime[]): void {
  const cpuOf = (wanted: CpuTime['handler']): number =>
    times.find(({ handler }) => handler === wanted)?.medianMs ?? 0;
  printTable(
    'Running times by memory, computed from the CPU times; deliver in batches of 10',
    memoryCosts({ publish: cpuOf('publish'), deliver: cpuOf('deliver') }),
    [
      ['memory', ({ memoryMb }) => `${memoryMb} MB`],
      ['publish ms', ({ publishMs }) => publishMs.toFixed(1)],
      ['deliver ms', ({ deliverMs }) => deliverMs.toFixed(0)],
      ['$', (cost) => dollars(cost.dollars)],
    ],
  );
}

const printBundles = (bundles: readonly BundleCost[]): void => {
  printTable('Bundles', bundles, [
    ['bundle', ({ handler }) => handler],
    ['KB at start', ({ startBytes }) => kilobytes(startBytes)],
    ['KB in all', ({ allBytes }) => kilobytes(allBytes)],
    ['import ms', ({ importWallMs }) => importWallMs.toFixed(0)],
    ['its CPU ms', ({ importCpuMs }) => importCpuMs.toFixed(0)],
    [
      `≤ ${kilobytes(goals.startBytes)} KB`,
      ({ handler, startBytes }) => (isOnTheWay(handler) ? verdict(startBytes, goals.startBytes) : ''),
    ],
    [
      `≤ ${goals.importMs} ms`,
      ({ handler, importWallMs }) => (isOnTheWay(handler) ? verdict(importWallMs, goals.importMs) : ''),
    ],
  ]);
};

/** @returns the missed goals, as sentences */
function printConsole(files: readonly ConsoleFile[]): readonly string[] {
  const tenths = (bytes: number): string => (bytes / 1000).toFixed(1);
  const total = brotliTotal(files);
  const rows = files.map(({ name, isFirst, plainBytes, gzipBytes, brotliBytes }) => [
    isFirst ? name : `${name}, loaded later`,
    ...[plainBytes, gzipBytes, brotliBytes].map(tenths),
  ]);
  rows.push(['first load', '', '', tenths(total), verdict(total, goals.consoleBytes)]);
  const head = ['file', 'KB', 'KB gzip', 'KB brotli', `≤ ${kilobytes(goals.consoleBytes)} KB`];
  console.log(`\nThe console\n\n${formatTable(head, rows)}`);
  return total > goals.consoleBytes
    ? [`The first load of the console has ${tenths(total)} KB, compressed.`]
    : [];
}

/** Says by how much a bill misses its goal, and which call is the most expensive. */
function missedBy({ title, bill, goal = Infinity }: JudgedBill): readonly string[] {
  const total = totalOf(bill, judgedSize);
  if (total <= goal) return [];
  const costs = bill.lines.map(({ by, what, unit, amounts }) => ({
    call: `${what} of ${by}`,
    cost: dollarsPerMillion(unit, amounts[judgedSize]),
  }));
  const [dearest] = costs.toSorted((one, other) => other.cost - one.cost);
  return [
    `${title}: a million in batches of ${judgedSize} cost $${dollars(total)}, $${dollars(total - goal)} more than the goal; the dearest is ${dearest?.call ?? 'nothing'}, $${dollars(dearest?.cost ?? 0)}.`,
  ];
}

/** The missed goals among counted figures. Times depend on the machine, so the reader judges them. */
function missedGoals(bills: readonly JudgedBill[], bundles: readonly BundleCost[]): readonly string[] {
  const tooLarge = bundles
    .filter(({ handler, startBytes }) => isOnTheWay(handler) && startBytes > goals.startBytes)
    .map(({ handler, startBytes }) => `The bundle of ${handler} starts with ${kilobytes(startBytes)} KB.`);
  return [...bills.flatMap(missedBy), ...tooLarge];
}

/** Counts messages through the API, and JSON messages through the publish URL. */
async function countMessages(fixture: Fixture): Promise<readonly JudgedBill[]> {
  const throughApi = (await countUses(fixture)).map((bill) => ({
    title: `A message of ${bill.body}`,
    bill,
    goal: bill.body === jsonBodyName ? goals.dollarsPerMillion : undefined,
  }));
  const { single, batch } = await countUrlUses(fixture);
  return [
    ...throughApi,
    {
      title: `A message of ${single.body} through the publish URL`,
      bill: single,
      goal: goals.dollarsThroughUrl,
    },
    {
      title: `A message of ${batch.body} through the publish URL, ${batchCount} to a request (POST /v2/batch)`,
      bill: batch,
      goal: goals.dollarsInBatches,
    },
  ];
}

async function measureMessages(fixture: Fixture): Promise<readonly string[]> {
  const bills = await countMessages(fixture);
  bills.forEach(printMessageBill);
  const cpu = await measureCpu(fixture);
  printCpu(cpu);
  printMemory(cpu);
  const bundles = await measureBundles();
  printBundles(bundles);
  return [...missedGoals(bills, bundles), ...wrongAssumptions(cpu, await measureUrlLogBytes(fixture))];
}

async function measureLanes(fixture: Fixture): Promise<readonly string[]> {
  const missed = printLaneCosts(await countLanes(fixture));
  printLaneRows(await measureLaneRows());
  return missed;
}

/**
 * Measures and prints the given parts.
 *
 * @returns the missed goals among counted figures, as sentences
 */
export async function measureCosts(parts: readonly Part[]): Promise<readonly string[]> {
  const isWanted = (part: Part): boolean => parts.includes(part);
  console.log(
    `List prices as of ${pricedOn}, of us-east-1 where no region is named; Node ${process.versions.node} on ${process.arch}`,
  );
  const missed: string[] = [];
  const fixture = await startFixture();
  try {
    if (isWanted('cost')) await printWholeBill(fixture);
    if (isWanted('messages')) missed.push(...(await measureMessages(fixture)));
    if (isWanted('lanes')) missed.push(...(await measureLanes(fixture)));
    if (isWanted('workflows')) printWorkflows(await countWorkflows(fixture));
  } finally {
    await fixture.close();
  }
  if (isWanted('lanes')) printLaneSpeeds(await measureLaneSpeed());
  if (isWanted('idle')) printIdle(idleBills());
  if (isWanted('console')) missed.push(...printConsole(measureConsole()));
  return missed;
}
