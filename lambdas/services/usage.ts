/**
 * What accounts use, held against their limits.
 *
 * A process counts in memory, and adds to the account's row of the day in steps (`domain/meter.ts`); each step's answer
 * tells it what all processes have counted. So a message costs a fraction of a write, the day's count is right within a
 * hundred or a hundredth, and close to a limit, where steps become single messages, it is right.
 */
import { limitsOf, type Account } from '../domain/account.ts';
import { now, secondMs } from '../domain/clock.ts';
import { headerName } from '../domain/dialect.ts';
import { HttpError, overLimit } from '../domain/httpError.ts';
import {
  aheadOf,
  dayOf,
  nextDay,
  nextMonth,
  stepOf,
  take,
  type Bucket,
  type Taken,
} from '../domain/meter.ts';
import { settings } from '../settings.ts';
import { addUsage, usageOf, type Usage } from '../stores/usage.ts';
import { log } from '../transport/log.ts';
import { countMetric, countMetricOf } from '../transport/metrics.ts';
import { orUndefined } from './orUndefined.ts';

/** An account's limits, as the meter needs them. */
interface Allowance {
  readonly accountId: string;
  readonly soft: number;
  readonly hard: number;
  readonly callsPerSecond: number;
  readonly bytesPerSecond: number;
  /** Dollars a month; 0 for no limit. */
  readonly budget: number;
  /** Messages a month that the budget pays for. */
  readonly paidMessages: number;
  readonly isExported: boolean;
}

/** Prices are fractions that binary numbers only come close to. */
const rounding = 1e-9;

function allowanceOf(account: Account): Allowance {
  const limits = limitsOf(account);
  const { budget } = account;
  const price = settings.pricePerMessage;
  return {
    accountId: account.id,
    soft: limits.max_requests_per_day,
    hard: limits.max_requests_per_day_hard,
    callsPerSecond: limits.max_requests_per_second,
    bytesPerSecond: limits.max_bandwidth_per_second,
    budget,
    paidMessages: budget === 0 || price === 0 ? Infinity : Math.floor(budget / price + rounding),
    isExported: account.prometheus,
  };
}

const nothing: Usage = { requests: 0, messages: 0, calls: 0, bytes: 0 };

const sum = (one: Usage, other: Usage, sign = 1): Usage => ({
  requests: one.requests + sign * other.requests,
  messages: one.messages + sign * other.messages,
  calls: one.calls + sign * other.calls,
  bytes: one.bytes + sign * other.bytes,
});

/** A process's step in requests to the API, by which it learns its share of them: a tenth of a second's worth. */
const callSteps = 10;
/** What a process heard of others' use is old after this. */
const newsMs = 5 * secondMs;

/** What one process knows of one account's day. */
class Meter {
  readonly day: string;
  /** As it was last read. */
  allowance: Allowance;
  /** The messages of the month's days before. */
  #earlier = 0;
  /** The common count, as the table last told it. */
  #total = nothing;
  /** What this process has counted and not added; less than nothing where it has added ahead. */
  #owed = nothing;
  /** What it has counted since its last step. */
  #fresh = nothing;
  /** The messages that it has counted in all. */
  #counted = 0;
  #step = 1;
  /** This process's part of the account's messages, and of its requests to the API. */
  #messageShare = 1;
  #callShare = 1;
  /** Unix milliseconds. */
  #steppedAt = 0;
  #callBucket: Bucket | undefined;
  #byteBucket: Bucket | undefined;
  /** Unix milliseconds at which the table last told the common count. */
  #heardAt = 0;
  #knowing: Promise<void> | undefined;
  #stepping: Promise<void> | undefined;

  constructor(day: string, allowance: Allowance) {
    this.day = day;
    this.allowance = allowance;
  }

  get requests(): number {
    return this.#total.requests + this.#owed.requests;
  }

  get monthlyMessages(): number {
    return this.#earlier + this.#total.messages + this.#owed.messages;
  }

  count(usage: Partial<Usage>): void {
    const counted = { ...nothing, ...usage };
    this.#owed = sum(this.#owed, counted);
    this.#fresh = sum(this.#fresh, counted);
    this.#counted += counted.messages;
  }

  /** Finds out what the account has used; once, and again after a failure. */
  known(): Promise<void> {
    this.#knowing ??= usageOf(this.allowance.accountId, this.day.slice(0, 7)).then(
      (days) => {
        this.#hear(days.get(this.day) ?? nothing);
        for (const [day, { messages }] of days) if (day < this.day) this.#earlier += messages;
      },
      (error: unknown) => {
        this.#knowing = undefined;
        throw error;
      },
    );
    return this.#knowing;
  }

  /** Finds out what others have used meanwhile, where that is not known of late. */
  async current(): Promise<void> {
    await this.known();
    if (now() - this.#heardAt < newsMs) return;
    const { accountId } = this.allowance;
    const total = (await usageOf(accountId, this.day)).get(this.day) ?? nothing;
    if (this.#stepping === undefined) this.#hear(total);
  }

  #hear(total: Usage): void {
    this.#total = total;
    this.#heardAt = now();
  }

  /** What one process had of an account's requests long ago says nothing of now. */
  #callsNow(time: number): number {
    return time - this.#steppedAt < newsMs ? this.#callShare : 1;
  }

  takeCall(time: number): Taken {
    const perSecond = this.allowance.callsPerSecond * this.#callsNow(time);
    const taken = take(this.#callBucket, 1, perSecond, 1, time);
    this.#callBucket = taken.bucket;
    return taken;
  }

  /** A body may be larger than a second's worth, so it is taken when there is anything left, and the rest is a debt. */
  takeBytes(bytes: number, time: number): Taken {
    const perSecond = this.allowance.bytesPerSecond * this.#callsNow(time);
    const taken = take(this.#byteBucket, bytes, perSecond, Math.min(1, perSecond), time);
    this.#byteBucket = taken.bucket;
    return taken;
  }

  #isDue(): boolean {
    const { requests, messages, calls } = this.#owed;
    if (calls * callSteps >= Math.max(callSteps, this.allowance.callsPerSecond)) return true;
    const behind = this.#step - aheadOf(this.#step);
    const isBehind = requests >= behind || messages >= behind;
    const isTooFarAhead = requests <= -this.#step;
    return isBehind || isTooFarAhead;
  }

  /** Adds to the common count when a step is due. */
  async settle(): Promise<void> {
    if (this.#isDue()) await this.add();
  }

  /** Adds all that was counted to the common count. */
  async add(): Promise<void> {
    this.#stepping ??= this.#addAll().finally(() => {
      this.#stepping = undefined;
    });
    await this.#stepping;
  }

  async #addAll(): Promise<void> {
    await this.known();
    const { accountId, hard, paidMessages, soft, isExported } = this.allowance;
    const counted = this.#fresh;
    const room = Math.max(0, Math.min(hard - this.requests, paidMessages - this.monthlyMessages));
    const step = stepOf(this.#total.requests, room, this.#messageShare, this.#counted / 2);
    const ahead = {
      ...nothing,
      requests: counted.requests > 0 ? aheadOf(step) : 0,
      messages: counted.messages > 0 ? aheadOf(step) : 0,
    };
    const before = this.#total;
    const added = sum(this.#owed, ahead);
    this.#owed = sum(this.#owed, added, -1);
    this.#fresh = nothing;
    try {
      this.#hear(await addUsage(accountId, this.day, added));
    } catch (error) {
      this.#owed = sum(this.#owed, added);
      this.#fresh = sum(this.#fresh, counted);
      throw error;
    }
    const byOthers = sum(sum(this.#total, before, -1), added, -1);
    this.#messageShare = shareOf(counted.messages, byOthers.messages) ?? this.#messageShare;
    const isRecent = now() - this.#steppedAt < newsMs;
    this.#callShare = (isRecent ? shareOf(counted.calls, byOthers.calls) : undefined) ?? 1;
    this.#steppedAt = now();
    this.#step = step;

    if (this.requests > soft) countMetric('RequestsOverSoftLimit', counted.requests, accountId);
    if (!isExported) return;
    countMetricOf(accountId, 'Messages', counted.messages);
    countMetricOf(accountId, 'Requests', counted.calls);
  }
}

/** @returns undefined when there was nothing to tell from */
const shareOf = (own: number, others: number): number | undefined =>
  own <= 0 ? undefined : own / (own + Math.max(0, others));

/** Accounts beyond which the one that was used longest ago is put away. */
const capacity = 1_000;
const meters = new Map<string, Meter>();

/**
 * Requests are not refused because their count could not be written: what is counted goes on to be counted, and is added
 * with the next step.
 */
async function orLogged({ allowance: { accountId } }: Meter, adding: Promise<void>): Promise<void> {
  try {
    await adding;
  } catch (error) {
    log.warn('Usage could not be added to its count', { accountId, error: String(error) });
  }
}

async function meterOf(account: Account, time: number): Promise<Meter> {
  const day = dayOf(time);
  const allowance = allowanceOf(account);
  const known = meters.get(account.id);
  const meter = known?.day === day ? known : new Meter(day, allowance);
  meter.allowance = allowance;
  meters.delete(account.id);
  meters.set(account.id, meter);
  // What is left of a day, or of an account that was not used for long, is added.
  if (known !== undefined && known !== meter) await orLogged(known, known.add());
  const [oldest] = meters.values();
  if (meters.size > capacity && oldest !== undefined) {
    meters.delete(oldest.allowance.accountId);
    await orLogged(oldest, oldest.add());
  }
  return meter;
}

const epochSecond = (time: number): string => String(Math.ceil(time / secondMs));

/**
 * Counts a request to the API, whichever it is.
 *
 * @param bytes of its body
 * @throws HttpError 429 when there are too many within a second, or too many bytes
 */
export async function admitCall(account: Account, bytes: number): Promise<void> {
  const time = now();
  const meter = await meterOf(account, time);
  const { callsPerSecond, bytesPerSecond } = meter.allowance;
  const refuse = (limit: number, sentence: string, { left, moreAt }: Taken): HttpError =>
    new HttpError(429, sentence, {
      'burst-ratelimit-limit': String(limit),
      'burst-ratelimit-remaining': String(left),
      'burst-ratelimit-reset': epochSecond(moreAt),
      'retry-after': String(Math.max(1, Math.ceil((moreAt - time) / secondMs))),
    });
  const call = meter.takeCall(time);
  if (!call.isTaken) {
    const sentence = `The account's limit max_requests_per_second is ${callsPerSecond}, and this request is one too many; send it again a moment later.`;
    throw refuse(callsPerSecond, sentence, call);
  }
  const body = bytes === 0 ? undefined : meter.takeBytes(bytes, time);
  if (body?.isTaken === false) {
    const sentence = `The account's limit max_bandwidth_per_second is ${bytesPerSecond} bytes, and the ${bytes} bytes of this request are too many; send it again a moment later.`;
    throw refuse(bytesPerSecond, sentence, body);
  }
  meter.count({ calls: 1, bytes });
}

/** Where messages are counted before they are accepted. */
export interface Gate {
  /**
   * Counts messages that are about to be accepted.
   *
   * @returns why they may not be, 429 above the hard daily limit, 412 above the budget; they are not counted then
   */
  readonly admit: (messages: number) => HttpError | undefined;
  /** Takes back what was counted and not accepted after all. */
  readonly giveBack: (messages: number) => void;
  /** To be called when all that are admitted are: what was reserved and not used is given back. */
  readonly close: () => void;
  /** To be called instead when nothing comes of it: takes back all that was counted. */
  readonly cancel: () => void;
}

/** So many messages at once are added to the common count before they are admitted: others may be about to do the same. */
const reservedFrom = 20;

/**
 * Opens the way for a request's messages. Where the common count is out of reach, it goes by what is known.
 *
 * @param most how many messages there may be
 */
export async function gateOf(account: Account, most: number): Promise<Gate> {
  const time = now();
  const meter = await meterOf(account, time);
  await orUndefined(meter.current());
  let reserved = 0;
  if (most >= reservedFrom) {
    reserved = most;
    meter.count({ requests: most, messages: most });
    await orUndefined(meter.add());
  }
  const { hard, budget, paidMessages } = meter.allowance;
  const tomorrow = nextDay(time);
  let admitted = 0;
  const takeBack = (messages: number): void => {
    if (messages > 0) meter.count({ requests: -messages, messages: -messages });
  };
  const giveBack = (messages: number): void => {
    admitted -= messages;
    takeBack(messages);
  };
  const close = (): void => {
    takeBack(reserved);
    reserved = 0;
  };
  return {
    admit: (messages) => {
      const requests = meter.requests - reserved;
      const monthly = meter.monthlyMessages - reserved;
      if (requests + messages > hard) {
        return new HttpError(
          429,
          `The account's limit max_requests_per_day_hard is ${hard}; ${requests} messages were sent today, and this would be ${messages} more. The next day begins at ${new Date(tomorrow).toISOString()}.`,
          {
            'ratelimit-limit': String(hard),
            'ratelimit-remaining': String(Math.max(0, hard - requests)),
            'ratelimit-reset': epochSecond(tomorrow),
            'retry-after': String(Math.ceil((tomorrow - time) / secondMs)),
          },
        );
      }
      if (monthly + messages > paidMessages) {
        return overLimit(
          `The account's budget is ${budget} dollars a month, which pays for ${paidMessages} messages; ${monthly} were sent this month, and this would be ${messages} more. The next month begins on ${dayOf(nextMonth(time))}.`,
        );
      }
      admitted += messages;
      const fromReserve = Math.min(reserved, messages);
      reserved -= fromReserve;
      const more = messages - fromReserve;
      if (more > 0) meter.count({ requests: more, messages: more });
      return undefined;
    },
    giveBack,
    close,
    cancel: () => {
      giveBack(admitted);
      close();
    },
  };
}

/** Counts messages that follow from others, such as callbacks: they are paid for, but no limit holds them back. */
export async function countFollowing(account: Account, messages: number): Promise<void> {
  if (messages === 0) return;
  const meter = await meterOf(account, now());
  meter.count({ messages });
  await settleUsage(account);
}

/**
 * Adds what was counted to the common count, when a step is due. To be called when a request is answered: afterwards the
 * process may stand still.
 */
export async function settleUsage(account: Account): Promise<void> {
  const meter = await meterOf(account, now());
  await orLogged(meter, meter.settle());
}

/** What an answer says besides, once the soft daily limit is passed. */
export function usageHeaders(account: Account, prefix: string): Readonly<Record<string, string>> {
  const meter = meters.get(account.id);
  if (meter === undefined || meter.requests <= meter.allowance.soft) return {};
  const name = headerName(prefix, 'soft-limit').toLowerCase();
  return { [name]: `max_requests_per_day=${meter.allowance.soft}; used=${meter.requests}` };
}
