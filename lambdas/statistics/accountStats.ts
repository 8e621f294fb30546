import type * as answers from '../wire/accountAnswers.ts';
import type { Answer } from '../wire/answers.ts';
import { now, secondMs } from '../shared/clock.ts';
import { loadSavedCount } from '../waiting/savedCount.ts';
import { loadOutcomes } from './store/outcomes.ts';
import { shownPeriod } from './rules/shownPeriod.ts';
import type { Usage } from '../usage/usage.ts';
import { usageOf } from '../usage/usageRows.ts';
import { dollarsFor } from './dollars.ts';
import { answerOf, existingAccount } from '../management/replicas.ts';

const weekday = (day: string): string =>
  new Intl.DateTimeFormat('en', { weekday: 'long', timeZone: 'UTC' }).format(new Date(day));

/**
 * Shows an account's statistics. Reads its row, its days, its outcomes, and the first row of its saved
 * waiting messages, of at most 350 KB.
 *
 * @throws HttpError 404
 */
export async function getStats(id: string): Promise<Answer<typeof answers.accountStats>> {
  const { id: accountId, region } = await existingAccount(id, 'stale');
  const { days, today, month, first } = shownPeriod(now());
  const [usage, outcomes, saved] = await answerOf(
    region,
    Promise.all([
      usageOf(accountId, first, today, region),
      loadOutcomes(accountId, false, region),
      loadSavedCount(accountId, region),
    ]),
  );
  const countedUntil = Math.min(saved?.until ?? Infinity, ...(outcomes?.countedUntil ?? []));
  const isOfToday = outcomes !== undefined && countedUntil >= Date.parse(today);
  const daily = (of: (one: Usage) => number) =>
    days.map((day) => {
      const found = usage.get(day);
      return { x: new Date(day).toISOString(), y: found === undefined ? 0 : of(found) };
    });
  const monthly = (of: (one: Usage) => number): number =>
    [...usage].reduce((total, [day, one]) => (day >= month ? total + of(one) : total), 0);
  return {
    days: days.map(weekday),
    daily_requests: daily(({ requests }) => requests),
    daily_messages: daily(({ messages }) => messages),
    daily_calls: daily(({ calls, hooks }) => calls + hooks),
    daily_bandwidths: daily(({ bytes }) => bytes),
    daily_billings: daily(({ messages }) => dollarsFor(messages)),
    total_monthly_requests: monthly(({ requests }) => requests),
    total_monthly_messages: monthly(({ messages }) => messages),
    total_monthly_bandwidth: monthly(({ bytes }) => bytes),
    failed_today: isOfToday ? (outcomes.counts.days.get(today)?.failed ?? 0) : undefined,
    waiting: saved?.waiting,
    counted_at: countedUntil === Infinity ? undefined : Math.floor(countedUntil / secondMs),
    total_monthly_billing: dollarsFor(monthly(({ messages }) => messages)),
  };
}
