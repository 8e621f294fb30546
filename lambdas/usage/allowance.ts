import { limitsOf, type Account } from '../account/account.ts';
import { settings } from '../aws/settings.ts';

export interface Allowance {
  readonly accountId: string;
  /** Messages a day above which answers and metrics warn. */
  readonly softPerDay: number;
  /** Messages a day above which more are refused. */
  readonly hardPerDay: number;
  /** Authenticated requests per second. Webhook calls have the same limit, counted separately. */
  readonly callsPerSecond: number;
  /**
   * Bytes of the bodies of authenticated requests per second. Webhook calls have the same limit, counted
   * separately.
   */
  readonly bytesPerSecond: number;
  /** Dollars a month; 0 for no limit. */
  readonly budget: number;
  readonly paidMessages: number;
  readonly isExported: boolean;
}

/** Tolerance for division: prices are binary fractions, and 0.3 / 0.1 is slightly less than 3. */
const rounding = 1e-9;

export function allowanceOf(account: Account): Allowance {
  const limits = limitsOf(account);
  const { budget } = account;
  const price = settings.pricePerMessage;
  return {
    accountId: account.id,
    softPerDay: limits.max_requests_per_day,
    hardPerDay: limits.max_requests_per_day_hard,
    callsPerSecond: limits.max_requests_per_second,
    bytesPerSecond: limits.max_bandwidth_per_second,
    budget,
    paidMessages: budget === 0 || price === 0 ? Infinity : Math.floor(budget / price + rounding),
    isExported: account.prometheus,
  };
}
