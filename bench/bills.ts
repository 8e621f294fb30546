/** Bills of counted uses. */
import { type BatchSize, batchSizes, type Bill, type BillLine, totalOf } from '../verify/prices/bill.ts';
import { dollarsPerMillion, prices } from '../verify/prices/prices.ts';
import { sum } from './figures.ts';
import type { CountedUse, Use } from './meter.ts';
import { dollars, formatTable } from './table.ts';

/**
 * Calls that a process makes once in seconds or minutes, however many messages there are. Costs of lanes and
 * runs leave them out.
 */
const nowAndThen = [
  /^deliver GetItem accounts/,
  /^\w+ (Query accounts|BatchGetItem accounts|GetSecretValue)/,
  // To learn the hosts of the APIs.
  /^\w+ UpdateItem accounts/,
  /^\w+ (GetItem|UpdateItem|Query) usage/,
  /^\w+ \w+ lanes \(account\)/,
  // Calls that hide a slow batch for longer, because this machine is slow.
  /^deliver ChangeMessageVisibilityBatch/,
];

export const isCounted = ({ by, what }: Use): boolean => !nowAndThen.some((one) => one.test(`${by} ${what}`));

export const callsOf = (uses: readonly CountedUse[]): number => new Set(uses.map(({ call }) => call)).size;

export const dollarsOf = (uses: readonly Use[]): number =>
  sum(uses.map(({ unit, amount }) => dollarsPerMillion(unit, amount)));

export const requestUse = (amount: number): Use => ({
  by: 'gateway',
  what: 'a request',
  unit: 'apiRequest',
  amount,
});

export const invocationUse = (by: string, amount: number): Use => ({
  by,
  what: 'its invocation',
  unit: 'lambdaRequest',
  amount,
});

/** The uses of an invocation of deliver. The event source mapping's calls of SQS are billed to the account. */
export const ofBatch = (uses: readonly Use[]): readonly Use[] => [
  { by: 'queue', what: 'ReceiveMessage', unit: 'sqsRequest', amount: 1 },
  invocationUse('deliver', 1),
  ...uses,
  { by: 'queue', what: 'DeleteMessageBatch', unit: 'sqsRequest', amount: 1 },
];

const keyOf = ({ by, what, unit }: Use): string => `${by} ${what} ${unit}`;

/**
 * Adds up uses by kind, in the order of calls. Usage comes last, because which message reports it depends on
 * earlier counts.
 *
 * @param counted the number of messages or runs with these uses
 */
export function linesOf(
  lists: Readonly<Record<BatchSize, readonly Use[]>>,
  counted: number,
): readonly BillLine[] {
  const kinds = new Map(batchSizes.flatMap((size) => lists[size]).map((use) => [keyOf(use), use]));
  const inOrder = [...kinds.values()].sort((a, b) => Number(isCounted(b)) - Number(isCounted(a)));
  return inOrder.map((kind) => {
    const alike = (size: BatchSize) => lists[size].filter((use) => keyOf(use) === keyOf(kind));
    const amount = (size: BatchSize): number => sum(alike(size).map((use) => use.amount)) / counted;
    return {
      by: kind.by,
      what: kind.what,
      unit: kind.unit,
      amounts: { 1: amount(1), 10: amount(10) },
      gbMonths: sum(alike(10).map(({ gbMonths = 0 }) => gbMonths)) / counted,
    };
  });
}

export function printBill(name: string, bill: Bill, more: readonly (readonly string[])[] = []): void {
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
  console.log(
    `\n${name}: units for one, dollars for a million\n\n${formatTable(head, [...rows, ...more], 3)}`,
  );
}
