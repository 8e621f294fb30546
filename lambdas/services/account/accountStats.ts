import type * as answers from '../../api/answers.ts';
import type { Answer } from '../../api/answers.ts';
import { dayMs, dayOf, now } from '../../domain/clock.ts';
import { settings } from '../../settings.ts';
import { usageOf, type Usage } from '../../stores/usage/usage.ts';
import { answerOf, existingAccount } from './replicas.ts';

/** The statistics show so many days, today included. */
const shownDays = 30;

const weekday = (day: string): string =>
  new Intl.DateTimeFormat('en', { weekday: 'long', timeZone: 'UTC' }).format(new Date(day));

/** @throws HttpError 404 */
export async function getStats(id: string): Promise<Answer<typeof answers.accountStats>> {
  const { id: accountId, region } = await existingAccount(id, 'stale');
  const time = now();
  const days = Array.from({ length: shownDays }, (_, index) => dayOf(time - (shownDays - 1 - index) * dayMs));
  const months = [...new Set(days.map((day) => day.slice(0, 7)))];
  const usageOfMonths = await Promise.all(
    months.map((month) => answerOf(region, usageOf(accountId, month, region))),
  );
  const usage = new Map(usageOfMonths.flatMap((found) => [...found]));
  const daily = (of: (one: Usage) => number) =>
    days.map((day) => {
      const found = usage.get(day);
      return { x: new Date(day).toISOString(), y: found === undefined ? 0 : of(found) };
    });
  // Sums of prices such as 0.00001 dollars would show the error of binary fractions.
  const billing = (messages: number): number => Number((messages * settings.pricePerMessage).toFixed(6));
  const month = dayOf(time).slice(0, 7);
  const monthly = (of: (one: Usage) => number): number =>
    [...usage].reduce((total, [day, one]) => (day.startsWith(month) ? total + of(one) : total), 0);
  return {
    days: days.map(weekday),
    daily_requests: daily(({ requests }) => requests),
    daily_messages: daily(({ messages }) => messages),
    daily_calls: daily(({ calls }) => calls),
    daily_bandwidths: daily(({ bytes }) => bytes),
    daily_billings: daily(({ messages }) => billing(messages)),
    total_monthly_requests: monthly(({ requests }) => requests),
    total_monthly_messages: monthly(({ messages }) => messages),
    total_monthly_bandwidth: monthly(({ bytes }) => bytes),
    total_monthly_billing: billing(monthly(({ messages }) => messages)),
  };
}
