import { batchSizes, totalOf } from './count.ts';
import { dollars, printBill } from './printBill.ts';
import { formatTable } from './table.ts';
import type { RunCost, StepCost, WorkflowCosts } from './workflowCosts.ts';

const short = (value: number): string => String(Number(value.toFixed(2)));

export function printWorkflows({ run, parts, long, large }: WorkflowCosts): void {
  for (const { bill } of parts) printBill(`${bill.body}: units for one, dollars for a million`, bill);
  printSums([run, ...parts]);
  printSteps('A step of one long run: its delivery, and what its endpoint then submits', long);
  printSteps('A step of a run whose steps have outputs of 500 KB', large);
}

function printSums(costs: readonly RunCost[]): void {
  const rows = costs.map(({ bill, sums }) => [
    bill.body,
    short(sums.requests),
    short(sums.deliveries),
    short(sums.calls),
    short(sums.writeUnits),
    short(sums.readUnits),
    ...batchSizes.map((size) => dollars(totalOf(bill, size))),
  ]);
  const head = [
    'for one; $ for a million',
    'requests',
    'deliver runs',
    'calls',
    'write units',
    'read units',
    '$ batch 1',
    '$ batch 10',
  ];
  console.log(`\nRuns of workflows\n\n${formatTable(head, rows)}`);
}

function printSteps(title: string, steps: readonly StepCost[]): void {
  const rows = steps.map((step) => [
    String(step.step),
    String(step.publishCalls),
    String(step.deliverCalls),
    String(step.workflowsCalls),
    String(step.publishWriteUnits + step.deliverWriteUnits),
    String(step.publishReadUnits),
    String(step.deliverReadUnits),
    String(step.workflowsReadUnits),
    String(step.objectsWritten),
    String(step.objectsRead),
    (step.deliveredBytes / 1_000).toFixed(1),
    dollars(step.dollars),
  ]);
  const head = [
    'step',
    'publish calls',
    'deliver calls',
    'workflows calls',
    'write units',
    'publish reads',
    'deliver reads',
    'workflows reads',
    'S3 PUT',
    'S3 GET',
    'KB delivered',
    '$ batch 1',
  ];
  console.log(`\n${title}\n\n${formatTable(head, rows)}`);
}
