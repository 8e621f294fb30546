import { batchSizes, totalOf } from '../verify/prices/bill.ts';
import { dollars, printBill } from './printBill.ts';
import { printTable, short } from './table.ts';
import type { RunCost, StepCost, WorkflowCosts } from './workflowCosts.ts';

export function printWorkflows({ run, parts, long, large }: WorkflowCosts): void {
  for (const { bill } of parts) printBill(`${bill.body}: units for one, dollars for a million`, bill);
  printTable<RunCost>(
    'Runs of workflows',
    [run, ...parts],
    [
      ['for one; $ for a million', ({ bill }) => bill.body],
      ['requests', ({ sums }) => short(sums.requests)],
      ['deliver runs', ({ sums }) => short(sums.deliveries)],
      ['calls', ({ sums }) => short(sums.calls)],
      ['write units', ({ sums }) => short(sums.writeUnits)],
      ['read units', ({ sums }) => short(sums.readUnits)],
      ...batchSizes.map(
        (size) => [`$ batch ${size}`, ({ bill }: RunCost) => dollars(totalOf(bill, size))] as const,
      ),
    ],
  );
  printSteps('A step of one long run: its delivery, and what its endpoint then submits', long);
  printSteps('A step of a run whose steps have outputs of 500 KB', large);
}

const printSteps = (title: string, steps: readonly StepCost[]): void => {
  printTable(title, steps, [
    ['step', ({ step }) => String(step)],
    ['publish calls', ({ calls }) => String(calls('publish'))],
    ['deliver calls', ({ calls }) => String(calls('deliver'))],
    // The calls with which the endpoint reads a list that is too large for its delivery.
    ['workflows calls', ({ calls }) => String(calls('workflows'))],
    ['write units', ({ units }) => String(units('dynamoWrite', 'publish', 'deliver'))],
    ['publish reads', ({ units }) => String(units('dynamoRead', 'publish'))],
    ['deliver reads', ({ units }) => String(units('dynamoRead', 'deliver'))],
    ['workflows reads', ({ units }) => String(units('dynamoRead', 'workflows'))],
    ['S3 PUT', ({ units }) => String(units('s3Put'))],
    ['S3 GET', ({ units }) => String(units('s3Get'))],
    ['KB delivered', ({ deliveredBytes }) => (deliveredBytes / 1_000).toFixed(1)],
    ['$ batch 1', (step) => dollars(step.dollars)],
  ]);
};
