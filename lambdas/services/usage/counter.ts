/**
 * Counts what accounts use. A process counts in memory, and reports to the account's row of the day in steps
 * (`domain/usage/steps.ts`): a report adds to the row, and its answer is what all processes have reported. So a message
 * costs a fraction of a write.
 */
import type { Account } from '../../domain/account/account.ts';
import { dayOf, hourOf, now, secondMs } from '../../domain/clock.ts';
import { headerName } from '../../domain/headers.ts';
import { aheadOf, stepOf } from '../../domain/usage/steps.ts';
import { log } from '../../log.ts';
import { count, countOf } from '../../metrics.ts';
import { addUsage, usageOf, type Usage } from '../../stores/usage/usage.ts';
import { allowanceOf, type Allowance } from './allowance.ts';

const nothing: Usage = { requests: 0, messages: 0, calls: 0, bytes: 0 };

const plus = (one: Usage, other: Usage, times = 1): Usage => ({
  requests: one.requests + times * other.requests,
  messages: one.messages + times * other.messages,
  calls: one.calls + times * other.calls,
  bytes: one.bytes + times * other.bytes,
});

const minus = (one: Usage, other: Usage): Usage => plus(one, other, -1);

/** Reports of requests to the API in a second of full traffic: from them a process learns its share of the requests. */
const callReportsPerSecond = 10;
/** News of what other processes use is too old after this, and a limit may have been reached. */
const newsMs = 5 * secondMs;

/** This process's count of one account on one day (UTC), and its news of the other processes' counts. */
export class UsageCounter {
  readonly day: string;
  /** The account's limits, as they were last read. */
  allowance: Allowance;
  /** Messages of the month's earlier days. */
  #earlierMessages = 0;
  /** The row of the day, as the table last told it. */
  #reported = nothing;
  /** Counted by this process and not reported; below zero where it reported ahead. */
  #unreported = nothing;
  /** Counted by this process since its last report. */
  #sinceReport = nothing;
  /** Decides which part of a step is reported ahead; see `domain/usage/steps.ts`. */
  readonly #phase = Math.random();
  /** This process's part of the account's messages, 0 to 1, between its last two reports. */
  #messageShare = 1;
  /** The same of its requests to the API. */
  #callShare = 1;
  /** Unix milliseconds of this process's last report. */
  #reportedAt = 0;
  /** Unix milliseconds at which the table last told the row of the day. */
  #heardAt = 0;
  #loading: Promise<void> | undefined;
  #reporting: Promise<void> | undefined;

  constructor(day: string, allowance: Allowance) {
    this.day = day;
    this.allowance = allowance;
  }

  /** Messages that requests, schedules and retries made today. */
  get dailyRequests(): number {
    return this.#reported.requests + this.#unreported.requests;
  }

  /** All messages of this month, callbacks included. */
  get monthlyMessages(): number {
    return this.#earlierMessages + this.#reported.messages + this.#unreported.messages;
  }

  /** This process's part of the account's requests to the API, 0 to 1. An old one says nothing of now: it counts as 1. */
  callShareAt(time: number): number {
    return time - this.#reportedAt < newsMs ? this.#callShare : 1;
  }

  count(usage: Partial<Usage>): void {
    const counted = { ...nothing, ...usage };
    this.#unreported = plus(this.#unreported, counted);
    this.#sinceReport = plus(this.#sinceReport, counted);
  }

  /** Reads the row of the day, unless it was read or reported to within the last 5 s. */
  async refresh(): Promise<void> {
    await this.#loadMonth();
    if (now() - this.#heardAt < newsMs) return;
    const { accountId } = this.allowance;
    const row = (await usageOf(accountId, this.day, this.day)).get(this.day) ?? nothing;
    // The answer to a report that is under way is newer than this one.
    if (this.#reporting === undefined) this.#hear(row);
  }

  /** Reports what was counted when a step is full. */
  async reportWhenDue(): Promise<void> {
    if (this.#isReportDue()) await this.report();
  }

  /** Reports all that was counted. A report that is under way is waited for instead. */
  async report(): Promise<void> {
    this.#reporting ??= this.#addToRow().finally(() => {
      this.#reporting = undefined;
    });
    await this.#reporting;
  }

  /** Reads the days of the month: once, and again after a failure. */
  #loadMonth(): Promise<void> {
    this.#loading ??= usageOf(this.allowance.accountId, `${this.day.slice(0, 7)}-01`, this.day).then(
      (days) => {
        this.#hear(days.get(this.day) ?? nothing);
        for (const [day, { messages }] of days) if (day < this.day) this.#earlierMessages += messages;
      },
      (error: unknown) => {
        this.#loading = undefined;
        throw error;
      },
    );
    return this.#loading;
  }

  #hear(row: Usage): void {
    this.#reported = row;
    this.#heardAt = now();
  }

  /** Messages between two reports. */
  #step(): number {
    const { hardPerDay, paidMessages } = this.allowance;
    const room = Math.min(hardPerDay - this.dailyRequests, paidMessages - this.monthlyMessages);
    return stepOf(this.#reported.requests, Math.max(0, room), this.#messageShare);
  }

  #isReportDue(): boolean {
    const { requests, messages, calls } = this.#unreported;
    if (calls * callReportsPerSecond >= Math.max(callReportsPerSecond, this.allowance.callsPerSecond))
      return true;
    const step = this.#step();
    const full = step - aheadOf(step, this.#phase);
    // Too much is reported where messages were given back, or where the step has become shorter.
    const isTooMuchReported = requests <= -step;
    return requests >= full || messages >= full || isTooMuchReported;
  }

  async #addToRow(): Promise<void> {
    await this.#loadMonth();
    const { accountId, softPerDay, isExported } = this.allowance;
    const counted = this.#sinceReport;
    const ahead = aheadOf(this.#step(), this.#phase);
    const added = plus(this.#unreported, {
      ...nothing,
      requests: counted.requests > 0 ? ahead : 0,
      messages: counted.messages > 0 ? ahead : 0,
    });
    const before = this.#reported;
    const row = await addUsage(accountId, this.day, hourOf(this.day, now()), added);
    this.#unreported = minus(this.#unreported, added);
    this.#sinceReport = minus(this.#sinceReport, counted);
    this.#hear(row);

    const byOthers = minus(minus(row, before), added);
    this.#messageShare = shareOf(counted.messages, byOthers.messages) ?? this.#messageShare;
    const isRecent = now() - this.#reportedAt < newsMs;
    this.#callShare = (isRecent ? shareOf(counted.calls, byOthers.calls) : undefined) ?? 1;
    this.#reportedAt = now();

    if (this.dailyRequests > softPerDay) {
      count('RequestsOverSoftLimit', counted.requests);
      log.info('The account is over its soft daily limit', { accountId, messages: counted.requests });
    }
    if (!isExported) return;
    countOf(accountId, 'Messages', counted.messages);
    countOf(accountId, 'Requests', counted.calls);
  }
}

/** @returns 0 to 1; undefined when this process had nothing to compare */
const shareOf = (own: number, others: number): number | undefined =>
  own <= 0 ? undefined : own / (own + Math.max(0, others));

/** Accounts that a process counts at once. Above it, the one that was used longest ago is reported and dropped. */
const mostCounters = 1_000;
const counters = new Map<string, UsageCounter>();

/**
 * Waits for a report. A request does not fail because its count could not be written: what was counted stays counted, and
 * goes with the next report.
 */
async function logFailure({ allowance: { accountId } }: UsageCounter, report: Promise<void>): Promise<void> {
  try {
    await report;
  } catch (error) {
    log.warn('Usage could not be added to its count', { accountId, error: String(error) });
  }
}

/** The counter of an account for the day of a moment in Unix milliseconds. */
export async function counterOf(account: Account, time: number): Promise<UsageCounter> {
  const day = dayOf(time);
  const allowance = allowanceOf(account);
  const known = counters.get(account.id);
  const counter = known?.day === day ? known : new UsageCounter(day, allowance);
  counter.allowance = allowance;
  counters.delete(account.id);
  counters.set(account.id, counter);
  // The day before is over for this account: its last messages are reported.
  if (known !== undefined && known !== counter) await logFailure(known, known.report());
  const [oldest] = counters.values();
  if (counters.size > mostCounters && oldest !== undefined) {
    counters.delete(oldest.allowance.accountId);
    await logFailure(oldest, oldest.report());
  }
  return counter;
}

/**
 * Reports what this process counted of an account when a step is full. Called at the end of each request, because
 * afterwards the process may stand still.
 */
export async function reportUsage(account: Account): Promise<void> {
  const counter = await counterOf(account, now());
  await logFailure(counter, counter.reportWhenDue());
}

/** Counts messages that follow from others, such as callbacks: the budget pays for them, but no limit holds them back. */
export async function countFollowing(account: Account, messages: number): Promise<void> {
  if (messages === 0) return;
  const counter = await counterOf(account, now());
  counter.count({ messages });
  await reportUsage(account);
}

/** The header that an answer has once the account's soft daily limit is passed. */
export function usageHeaders(account: Account, prefix: string): Readonly<Record<string, string>> {
  const counter = counters.get(account.id);
  if (counter === undefined || counter.dailyRequests <= counter.allowance.softPerDay) return {};
  const name = headerName(prefix, 'soft-limit').toLowerCase();
  return { [name]: `max_requests_per_day=${counter.allowance.softPerDay}; used=${counter.dailyRequests}` };
}
