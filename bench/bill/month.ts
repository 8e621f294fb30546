/** A month's bill: for messages, and for an idle deployment. */
import { type LongDelivery, longestTimeoutSeconds } from '../../lambdas/aws/resources.ts';
import { assumed } from '../../verify/prices/estimate.ts';
import { idleBill, idleDollars } from '../idle.ts';
import {
  apiDollars,
  prices,
  type PricedRegion,
  secondsOfMonth,
  unitDollars,
} from '../../verify/prices/prices.ts';
import type { Bill } from '../../verify/prices/bill.ts';
import { batchAt } from './batches.ts';
import {
  batchThatFits,
  instanceLines,
  instancesFor,
  mostWaiting,
  type Waiting,
  waitingAtOnce,
} from './instances.ts';
import { batchOf, partsOf, sumOf } from '../../verify/prices/workload.ts';

/** The month of `npm run bench cost -- --messages …`. */
export interface Month {
  readonly messages: number;
  readonly answerMs: number;
  readonly region: PricedRegion;
  readonly kb: number;
  readonly by: 'api' | 'url';
  /** Messages per invocation of deliver. Default: derived from the rate. */
  readonly batch: number | undefined;
  /** Where the long queue's messages are delivered. With `instances`, all messages count as long. */
  readonly longDelivery: LongDelivery;
}

interface MonthLine {
  readonly what: string;
  readonly dollars: number;
}

const waitingIn = ({ messages, answerMs, kb }: Month): Waiting => ({
  perSecond: messages / secondsOfMonth,
  answerMs,
  kb,
});

export function batchOfMonth(month: Month): number {
  const { messages, batch = Math.max(batchAt(messages / secondsOfMonth), batchThatFits(waitingIn(month))) } =
    month;
  return batchOf({ ...month, batch });
}

/** The average number of waiting messages in a month, and the most that one deployment can have. */
export const roomOfMonth = (month: Month): { readonly waiting: number; readonly most: number } => ({
  waiting: waitingAtOnce(waitingIn(month)),
  most:
    month.answerMs > longestTimeoutSeconds[month.longDelivery] * 1_000 ? 0 : mostWaiting(month.longDelivery),
});

/** A month's bill for messages, without an idle deployment's costs. */
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

/** Dollars for metrics that functions write in every hour of a month. */
export const metricsDollars = (region: PricedRegion): number =>
  unitDollars('metric', assumed.metrics, region);

const instancesOfMonth = (month: Month): readonly MonthLine[] =>
  month.longDelivery === 'instances' ? instanceLines(instancesFor(waitingIn(month)), month.region) : [];

/** A month's costs apart from messages: an idle region with default settings, the functions' metrics, and instances. */
export const fixedOfMonth = (month: Month): readonly MonthLine[] => [
  { what: 'CloudWatch, metrics of the functions', dollars: metricsDollars(month.region) },
  {
    what: 'idle: one region with the defaults',
    dollars: idleDollars(idleBill('the defaults').lines)[0],
  },
  ...instancesOfMonth(month),
];

export const dollarsOfMonth = (month: Month, counted: Bill): number =>
  sumOf([...messagesOfMonth(month, counted), ...instancesOfMonth(month)]);

/** Whether the other kind of delivery would cost more or less, as a sentence. */
export function otherWay(month: Month, counted: Bill): string {
  const longDelivery = month.longDelivery === 'functions' ? 'instances' : 'functions';
  const other: Month = { ...month, longDelivery, batch: undefined };
  const { waiting, most } = roomOfMonth(other);
  if (waiting > most) return `longDelivery=${longDelivery} has no room for them.`;
  const more = dollarsOfMonth(other, counted) - dollarsOfMonth(month, counted);
  const cheaper = more >= 0 ? month.longDelivery : longDelivery;
  return `With longDelivery=${longDelivery} the month costs $${Math.abs(more).toFixed(2)} ${more >= 0 ? 'more' : 'less'}: ${cheaper} are cheaper.`;
}
