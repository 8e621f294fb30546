/** The bill of a month: messages, and what is there without any. */
import { assumed } from '../estimate.ts';
import { idleBill, idleDollars } from '../idle.ts';
import { apiDollars, dollarsPerMillion, prices, type PricedRegion } from '../prices.ts';
import type { Bill } from '../count.ts';
import { batchAt } from './batches.ts';
import { batchOf, partsOf } from './workload.ts';

/** The month that `npm run bench cost -- --messages …` asks for. */
export interface Month {
  readonly messages: number;
  readonly answerMs: number;
  readonly region: PricedRegion;
  readonly kb: number;
  /** The way on which the messages come. */
  readonly by: 'api' | 'url';
  /** Messages of an invocation of deliver; derived from the rate when absent. */
  readonly batch: number | undefined;
}

export const secondsOfMonth = 730 * 3_600;

/** Dollars for the month, in parts. */
export interface MonthLine {
  readonly what: string;
  readonly dollars: number;
}

export const batchOfMonth = ({ batch, messages, answerMs }: Month): number =>
  batchOf({ batch: batch ?? batchAt(messages / secondsOfMonth), answerMs });

/** The bill of messages in a month, without what an idle deployment costs. */
export function messagesOfMonth(month: Month, counted: Bill): readonly MonthLine[] {
  const { messages, region } = month;
  const millions = messages / 1e6;
  const parts = partsOf({ ...month, batch: batchOfMonth(month), counted });
  return parts.map(({ what, dollars }) => ({
    what,
    dollars:
      what === 'API Gateway'
        ? apiDollars((dollars / prices.apiRequest.dollarsPerMillion[region]) * messages, region)
        : dollars * millions,
  }));
}

/** Dollars for the metrics that functions write in each hour of a month with messages. */
export const metricsDollars = (region: PricedRegion): number =>
  dollarsPerMillion('metric', assumed.metrics / 1e6, region);

/** The costs of a month without any message: an idle region with the defaults, and the functions' metrics. */
export const fixedOfMonth = (region: PricedRegion): readonly MonthLine[] => [
  { what: 'CloudWatch, metrics of the functions', dollars: metricsDollars(region) },
  {
    what: 'idle: one region with the defaults',
    dollars: idleDollars(idleBill('the defaults').lines)[0],
  },
];
