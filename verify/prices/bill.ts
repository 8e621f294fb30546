/** The bill of a million messages: what AWS counts for each, by call. */
import { dollarsPerMillion, type Unit } from './prices.ts';

/** Attempts per invocation of deliver: one with little traffic, ten under load. */
export const batchSizes = [1, 10] as const;
export type BatchSize = (typeof batchSizes)[number];

export interface BillLine {
  readonly by: string;
  readonly what: string;
  readonly unit: Unit;
  readonly amounts: Readonly<Record<BatchSize, number>>;
  /** Gigabyte-months of a message's rows. */
  readonly gbMonths?: number;
}

export interface Bill {
  readonly body: string;
  readonly lines: readonly BillLine[];
}

/** The prefix of an index's name, if a write of a row also writes to the index. */
export const indexMark = 'its row in the index ';

export const totalOf = ({ lines }: Bill, size: BatchSize): number =>
  lines.reduce((sum, { unit, amounts }) => sum + dollarsPerMillion(unit, amounts[size]), 0);
