import { batchSizes, totalOf, type Bill } from '../verify/prices/bill.ts';
import { dollarsPerMillion, prices } from '../verify/prices/prices.ts';
import { formatTable } from './table.ts';

export const dollars = (value: number): string => value.toFixed(3);

/**
 * Prints a bill.
 *
 * @param more rows below the total
 */
export function printBill(title: string, bill: Bill, more: readonly (readonly string[])[] = []): void {
  const rows = bill.lines.map(({ by, what, unit, amounts }) => [
    by,
    what,
    prices[unit].unit,
    ...batchSizes.map((size) => String(Number(amounts[size].toFixed(3)))),
    ...batchSizes.map((size) => dollars(dollarsPerMillion(unit, amounts[size]))),
  ]);
  const totals = batchSizes.map((size) => totalOf(bill, size));
  rows.push(['total', '', '', '', '', ...totals.map(dollars)]);
  const head = ['by', 'call', 'billed', 'batch 1', 'batch 10', '$ batch 1', '$ batch 10'];
  console.log(`\n${title}\n\n${formatTable(head, [...rows, ...more], 3)}`);
}
