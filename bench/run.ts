/** Measures what a message costs, prints it, and fails where a counted goal is missed. */
import { batchSizes, countUses, totalOf, type Bill } from './count.ts';
import { measureBundles, type BundleCost } from './bundles.ts';
import { measureCpu, type CpuTime } from './cpu.ts';
import { assumed, estimate, type Estimate } from './estimate.ts';
import { jsonBodyName } from './events.ts';
import { dollarsPerMillion, pricedOn, prices } from './prices.ts';
import { formatTable } from './table.ts';
import { startWorld } from './world.ts';

/**
 * The money is for a message of JSON in full batches: a bill of millions comes from a load that fills them. The rest is
 * for the two functions that a message passes.
 */
const goals = { dollarsPerMillion: 7, startBytes: 400_000, importMs: 60, cpuMs: 2 };
const onTheWay = ['publish', 'deliver'];
const judgedSize = 10;

const verdict = (value: number, goal: number): string => (value <= goal ? 'met' : 'missed');

const dollars = (value: number): string => value.toFixed(3);
const kilobytes = (bytes: number): string => (bytes / 1000).toFixed(0);

function printBill(bill: Bill): void {
  const rows = bill.lines.map(({ by, what, unit, amounts }) => [
    by,
    what,
    prices[unit].unit,
    ...batchSizes.map((size) => String(Number(amounts[size].toFixed(3)))),
    ...batchSizes.map((size) => dollars(dollarsPerMillion(unit, amounts[size]))),
  ]);
  const totals = batchSizes.map((size) => totalOf(bill, size));
  rows.push(['total', '', '', '', '', ...totals.map(dollars)]);
  if (bill.body === jsonBodyName) {
    const verdicts = batchSizes.map((size) =>
      size === judgedSize ? verdict(totalOf(bill, size), goals.dollarsPerMillion) : '',
    );
    rows.push([`goal: at most ${dollars(goals.dollarsPerMillion)}`, '', '', '', '', ...verdicts]);
  }
  const head = ['by', 'call', 'billed', 'batch 1', 'batch 10', '$ batch 1', '$ batch 10'];
  print(`A message of ${bill.body}: units for one, dollars for a million`, formatTable(head, rows, 3));
}

function printEstimates(estimates: readonly Estimate[]): void {
  const rows = estimates.map(({ what, dollars: costs }) => [
    what,
    ...batchSizes.map((size) => dollars(costs[size])),
  ]);
  const totals = batchSizes.map((size) =>
    estimates.reduce((sum, { dollars: costs }) => sum + costs[size], 0),
  );
  rows.push(['total', ...totals.map(dollars)]);
  print(
    `Estimated beside it: ${assumed.memoryMb} MB, ${assumed.awsCallMs} ms for an AWS call, ${assumed.destinationMs} ms for the destination`,
    formatTable(['for', '$ batch 1', '$ batch 10'], rows),
  );
}

function printCpu(times: readonly CpuTime[]): void {
  const rows = times.map(({ handler, medianMs, leastMs }) => [
    handler,
    medianMs.toFixed(2),
    leastMs.toFixed(2),
    goals.cpuMs.toFixed(2),
    verdict(medianMs, goals.cpuMs),
  ]);
  print(
    'CPU milliseconds for a message, warm; deliver in batches of 10',
    formatTable(['bundle', 'median', 'least', 'goal', 'verdict'], rows),
  );
}

function printBundles(bundles: readonly BundleCost[]): void {
  const rows = bundles.map(({ handler, startBytes, allBytes, importWallMs, importCpuMs }) => [
    handler,
    kilobytes(startBytes),
    kilobytes(allBytes),
    importWallMs.toFixed(0),
    importCpuMs.toFixed(0),
    ...(onTheWay.includes(handler)
      ? [verdict(startBytes, goals.startBytes), verdict(importWallMs, goals.importMs)]
      : []),
  ]);
  const head = ['bundle', 'KB at start', 'KB in all', 'import ms', 'its CPU ms'];
  const goalHead = [`≤ ${kilobytes(goals.startBytes)} KB`, `≤ ${goals.importMs} ms`];
  print('Bundles', formatTable([...head, ...goalHead], rows));
}

function print(title: string, table: string): void {
  console.log(`\n${title}\n\n${table}`);
}

/** Of what is counted. Times depend on the machine: they are judged by whoever reads them. */
function missedGoals(bills: readonly Bill[], bundles: readonly BundleCost[]): readonly string[] {
  const tooDear = bills
    .filter(({ body }) => body === jsonBodyName)
    .map((bill) => totalOf(bill, judgedSize))
    .filter((total) => total > goals.dollarsPerMillion)
    .map((total) => `A million messages in batches of ${judgedSize} cost $${dollars(total)}.`);
  const tooLarge = bundles
    .filter(({ handler, startBytes }) => onTheWay.includes(handler) && startBytes > goals.startBytes)
    .map(({ handler, startBytes }) => `The bundle of ${handler} starts with ${kilobytes(startBytes)} KB.`);
  return [...tooDear, ...tooLarge];
}

const world = await startWorld();
try {
  console.log(`us-east-1, list prices as of ${pricedOn}; Node ${process.versions.node} on ${process.arch}`);
  const bills = await countUses(world);
  bills.forEach(printBill);
  const cpu = await measureCpu(world);
  printEstimates(estimate(cpu));
  printCpu(cpu);
  const bundles = await measureBundles();
  printBundles(bundles);
  const missed = missedGoals(bills, bundles);
  if (missed.length > 0) {
    console.log(`\nMissed: ${missed.join(' ')}`);
    process.exitCode = 1;
  }
} finally {
  await world.close();
}
