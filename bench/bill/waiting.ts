/** The table of docs/cost.md about waiting: functions or instances, by rate and answer time. */
import type { LongDelivery } from '../../lambdas/aws/resources.ts';
import type { Bill } from '../../verify/prices/bill.ts';
import { pricedRegions, type PricedRegion, secondsOfMonth } from '../../verify/prices/prices.ts';
import { type Month, dollarsOfMonth, roomOfMonth } from './month.ts';

const rates = [1, 10, 100, 1_000] as const;
const answers = [10_000, 60_000] as const;

/** A month of 1 KB messages through the API, all in the long queue. */
const monthAt = (
  perSecond: number,
  answerMs: number,
  region: PricedRegion,
  longDelivery: LongDelivery,
): Month => ({
  messages: perSecond * secondsOfMonth,
  answerMs,
  region,
  kb: 1,
  by: 'url',
  batch: undefined,
  longDelivery,
});

export interface WaitingRow {
  readonly perSecond: number;
  readonly answerMs: number;
  /**
   * Whole dollars for each region, on functions and on instances; undefined if a deployment cannot hold so
   * many messages.
   */
  readonly dollars: readonly (number | undefined)[];
}

export const waitingRows = (counted: Bill): readonly WaitingRow[] =>
  rates.flatMap((perSecond) =>
    answers.map((answerMs) => ({
      perSecond,
      answerMs,
      dollars: pricedRegions.flatMap((region) =>
        (['functions', 'instances'] as const).map((longDelivery) => {
          const month = monthAt(perSecond, answerMs, region, longDelivery);
          const { waiting, most } = roomOfMonth(month);
          return waiting > most ? undefined : Math.round(dollarsOfMonth(month, counted));
        }),
      ),
    })),
  );

/** From how many waiting messages on instances are cheaper, if destinations need this time to answer. */
export function instancesPayFrom(answerMs: number, region: PricedRegion, counted: Bill): number {
  const of = (perSecond: number, longDelivery: LongDelivery): number =>
    dollarsOfMonth(monthAt(perSecond, answerMs, region, longDelivery), counted);
  let waiting = 1;
  const perSecond = (): number => waiting / (answerMs / 1_000);
  while (of(perSecond(), 'instances') > of(perSecond(), 'functions')) waiting += 1;
  return waiting;
}
