/** Measures and prints what a message costs, with and without lanes, a workflow run, and the console. */
import { batchSizes, totalOf, type Bill } from '../verify/prices/bill.ts';
import { dollarsPerMillion, pricedOn } from '../verify/prices/prices.ts';
import { printBill } from './bills.ts';
import { printWholeBill } from './bill/print.ts';
import { printBundles } from './bundles.ts';
import { batchCount, countBody, type By } from './count.ts';
import { printCpu } from './cpu.ts';
import { bodies, jsonBody, jsonBodyName } from './events.ts';
import { startFixture, type Fixture } from './fixture.ts';
import { printIdle } from './idle.ts';
import { printLanes } from './laneCosts.ts';
import { printLaneRows } from './laneRows.ts';
import type { Part } from './options.ts';
import { dollars, verdict } from './table.ts';
import { printWorkflows } from './workflowCosts.ts';

interface CountedMessages {
  readonly title: string;
  readonly by: By;
  readonly name: string;
  readonly body: Buffer;
  /**
   * The most dollars for a million messages in full batches. Only these are checked, because a large bill
   * comes from such a load.
   */
  readonly goal?: number;
}

const json = { name: jsonBodyName, body: jsonBody };

const countedMessages: readonly CountedMessages[] = [
  ...[...bodies].map(([name, body]) => ({
    ...({ title: `A message of ${name}`, by: 'api', name, body } as const),
    ...(name === jsonBodyName && { goal: 7 }),
  })),
  { title: `A message of ${jsonBodyName} through the publish URL`, by: 'url', ...json, goal: 3.5 },
  {
    title: `A message of ${jsonBodyName} through the publish URL, ${batchCount} to a request (POST /v2/batch)`,
    by: 'batch',
    ...json,
    goal: 3,
  },
];
const judgedSize = 10;

function missedBy(title: string, bill: Bill, goal: number): readonly string[] {
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

async function printMessages(fixture: Fixture): Promise<readonly string[]> {
  const missed: string[] = [];
  for (const { title, by, name, body, goal } of countedMessages) {
    const bill = await countBody(fixture, body, by, name);
    if (goal === undefined) {
      printBill(title, bill);
      continue;
    }
    const verdicts = batchSizes.map((size) =>
      size === judgedSize ? verdict(totalOf(bill, size), goal) : '',
    );
    printBill(title, bill, [[`goal: at most ${dollars(goal)}`, '', '', '', '', ...verdicts]]);
    missed.push(...missedBy(title, bill, goal));
  }
  const wrong = await printCpu(fixture);
  return [...missed, ...(await printBundles()), ...wrong];
}

/** Prints a part, and returns the missed goals among counted figures, as sentences. */
const printers: Readonly<Record<Part, (fixture: Fixture) => Promise<readonly string[]> | readonly string[]>> =
  {
    cost: printWholeBill,
    messages: printMessages,
    lanes: async (fixture) => [...(await printLanes(fixture)), ...(await printLaneRows())],
    workflows: printWorkflows,
    idle: printIdle,
  };

/**
 * Measures and prints the given parts.
 *
 * @returns the counted figures that miss their goals, as sentences. Times are not checked, because they
 * depend on the machine
 */
export async function measureCosts(parts: readonly Part[]): Promise<readonly string[]> {
  console.log(
    `List prices as of ${pricedOn}, of us-east-1 where no region is named; Node ${process.versions.node} on ${process.arch}`,
  );
  const missed: string[] = [];
  const fixture = await startFixture();
  try {
    for (const part of parts) missed.push(...(await printers[part](fixture)));
  } finally {
    await fixture.close();
  }
  return missed;
}
