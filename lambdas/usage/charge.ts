import type { Account } from '../account/account.ts';
import { dayOf, nextDay, nextMonth, now, secondMs } from '../shared/clock.ts';
import { HttpError, overLimit } from '../error/httpError.ts';
import { log } from '../aws/log.ts';
import { count as countMetric } from '../aws/metrics.ts';
import { logAndContinue } from '../aws/logAndContinue.ts';
import { counterOf, type UsageCounter } from './counter.ts';

export interface Charges {
  /**
   * Counts messages before they are accepted.
   *
   * @returns the refusal, without counting them: 429 above the hard daily limit, 412 above the budget
   */
  readonly charge: (messages: number) => HttpError | undefined;
  readonly giveBack: (messages: number) => void;
}

/**
 * A request with at least this many messages reports them before they are charged, because several processes
 * may get such requests at the same time.
 */
const reservedFrom = 20;

/**
 * Does work that charges messages before it accepts them. Messages that were reported but not charged are
 * given back when the work ends, and all are given back if it throws. If the account's common count cannot be
 * read, this process's last known count is used.
 *
 * @param most messages that the work may accept
 */
export async function withCharges<T>(
  account: Account,
  most: number,
  work: (charges: Charges) => Promise<T>,
): Promise<T> {
  const time = now();
  const counter = await counterOf(account, time);
  await logAndContinue(counter.refresh());

  let reserved = most >= reservedFrom ? most : 0;
  let charged = 0;
  const count = (messages: number): void => {
    if (messages !== 0) counter.count({ requests: messages, messages });
  };
  if (reserved > 0) {
    count(reserved);
    await logAndContinue(counter.report());
  }
  const charges: Charges = {
    charge: (messages) => {
      const refusal = refusalOf(counter, reserved, messages, time);
      if (refusal !== undefined) return refusal;
      charged += messages;
      const fromReserve = Math.min(reserved, messages);
      reserved -= fromReserve;
      count(messages - fromReserve);
      return undefined;
    },
    giveBack: (messages) => {
      charged -= messages;
      count(-messages);
    },
  };
  try {
    return await work(charges);
  } catch (error) {
    charges.giveBack(charged);
    throw error;
  } finally {
    count(-reserved);
  }
}

/** @param reserved messages of this request that are counted but not charged yet */
function refusalOf(
  counter: UsageCounter,
  reserved: number,
  messages: number,
  time: number,
): HttpError | undefined {
  const { hardPerDay, budget, paidMessages } = counter.allowance;
  const today = counter.dailyRequests - reserved;
  if (today + messages > hardPerDay) {
    countMetric('LimitsHit');
    const tomorrow = nextDay(time);
    return new HttpError(
      429,
      'daily_limit_reached',
      `The account's limit max_requests_per_day_hard is ${hardPerDay}; ${today} messages were sent today, and this would be ${messages} more. The next day begins at ${new Date(tomorrow).toISOString()}.`,
      {
        'ratelimit-limit': String(hardPerDay),
        'ratelimit-remaining': String(Math.max(0, hardPerDay - today)),
        'ratelimit-reset': String(Math.ceil(tomorrow / secondMs)),
        'retry-after': String(Math.ceil((tomorrow - time) / secondMs)),
      },
    );
  }
  const thisMonth = counter.monthlyMessages - reserved;
  if (thisMonth + messages > paidMessages) {
    countMetric('LimitsHit');
    countMetric('BudgetReached');
    log.warn('The account has met its budget', { accountId: counter.allowance.accountId, budget });
    return overLimit(
      'budget_reached',
      `The account's budget is ${budget} dollars a month, which pays for ${paidMessages} messages; ${thisMonth} were sent this month, and this would be ${messages} more. The next month begins on ${dayOf(nextMonth(time))}.`,
    );
  }
  return undefined;
}
