import type * as answers from '../wire/accountAnswers.ts';
import type { Answer } from '../wire/answers.ts';
import { limitsOf, type Account } from '../account/account.ts';
import { dayMs, dayOf, hourMs, hourOf, now, secondMs } from '../shared/clock.ts';
import { hoursAt, knownOutcomes, stepMs, stepsAt } from './outcomes.ts';
import { shownPeriod, type ShownPeriod } from './rules/shownPeriod.ts';
import { settings } from '../aws/settings.ts';
import { loadSize } from '../deadLetter/sizeRows.ts';
import { usageByHour, type DayUsage } from './store/hours.ts';
import type { Usage } from '../usage/usage.ts';
import type { Caller } from '../account/caller.ts';
import { getGlobalParallelism } from '../lane/flowControl.ts';
import { dollarsFor } from './dollars.ts';
import { countOutcomes, type CountedOutcomes } from './countOutcomes.ts';

type OwnStats = Answer<typeof answers.ownStats>;
type UsageOfDays = ReadonlyMap<string, DayUsage>;

/** How long the log is read if much of it is uncounted. */
const logBudgetMs = secondMs;

export async function getOwnStats({ account, access }: Caller): Promise<OwnStats> {
  const time = now();
  const period = shownPeriod(time);
  const [usage, counted, parallelism, deadLetters] = await Promise.all([
    usageByHour(account.id, period.first, period.today),
    countOutcomes(account, logBudgetMs),
    getGlobalParallelism(account),
    loadSize(account.id, time),
  ]);
  const { counts, countedUntil } = counted;
  const days = period.days.map((day) => ({ day, ...dayStats(usage, counted, day) }));
  return {
    access: access === 'write' ? 'write' : 'read',
    account: {
      id: account.id,
      customer_id: account.customerId,
      type: account.plan,
      region: account.region,
      deployment: settings.deployment,
    },
    limits: limitsOf(account),
    today: dayStats(usage, counted, period.today),
    days,
    hours: hoursAt(time).map((hour) => hourStats(usage, counted, hour)),
    lastHour: stepsAt(time).map((from) => ({
      from,
      ...knownOutcomes(counts.steps.get(from), from + stepMs, countedUntil),
    })),
    countedUntil,
    month: monthStats(usage, period, account),
    inFlight: parallelism.parallelismCount,
    deadLetters,
  };
}

/**
 * A count may be negative: a process may subtract too much in a later hour, or before another one adds its
 * share.
 */
const shownCount = (count = 0): number => Math.max(0, count);

function hourStats(usage: UsageOfDays, { counts, countedUntil }: CountedOutcomes, hour: number) {
  const day = dayOf(hour);
  return {
    hour,
    accepted: shownCount(usage.get(day)?.messagesOfHours[hourOf(day, hour)]),
    ...knownOutcomes(counts.hours.get(hour), hour + hourMs, countedUntil),
  };
}

function dayStats(usage: UsageOfDays, { counts, countedUntil }: CountedOutcomes, day: string) {
  const used = usage.get(day);
  const messages = shownCount(used?.messages);
  return {
    requests: shownCount(used?.requests),
    messages,
    calls: shownCount(used && used.calls + used.hooks),
    bytes: shownCount(used?.bytes),
    accepted: messages,
    ...knownOutcomes(counts.days.get(day), Date.parse(day) + dayMs, countedUntil),
  };
}

function monthStats(usage: UsageOfDays, { month }: ShownPeriod, { budget }: Account): OwnStats['month'] {
  const days = [...usage].flatMap(([day, used]) => (day >= month ? [used] : []));
  const sum = (of: (one: Usage) => number): number =>
    shownCount(days.reduce((total, one) => total + of(one), 0));
  const messages = sum((one) => one.messages);
  return { messages, bytes: sum(({ bytes }) => bytes), cost: dollarsFor(messages), budget };
}
