/**
 * A process counts an account's usage in memory and adds it to the account's row of the day in steps (`rules/processCount.ts`).
 * The write returns the total of all processes. So a message costs a fraction of a write.
 */
import type { Account } from '../account/account.ts';
import { dayOf, hourOf, now } from '../shared/clock.ts';
import { headerName } from '../shared/headers.ts';
import { ProcessCount, type LimitedRequests } from './rules/processCount.ts';
import { noUsage, type Usage } from './usage.ts';
import { log } from '../aws/log.ts';
import { count, countOf } from '../aws/metrics.ts';
import { addUsage, usageOf } from './usageRows.ts';
import { allowanceOf, type Allowance } from './allowance.ts';

export class UsageCounter {
  readonly day: string;
  allowance: Allowance;
  readonly #count: ProcessCount;
  #loading: Promise<void> | undefined;
  #reporting: Promise<void> | undefined;

  /** @param before this process's counter of the account for the previous day, if any */
  constructor(day: string, allowance: Allowance, before?: UsageCounter) {
    this.day = day;
    this.allowance = allowance;
    this.#count = new ProcessCount(
      Math.random(),
      before === undefined ? 0 : before.#count.perSecondAt(now()),
    );
  }

  /** Messages of requests, schedules and retries today. */
  get dailyRequests(): number {
    return this.#count.dailyRequests;
  }

  /** All messages of this month, including callbacks. */
  get monthlyMessages(): number {
    return this.#count.monthlyMessages;
  }

  /** The part of the account's requests of a kind that this process handles, 0 to 1. */
  shareAt(kind: LimitedRequests, time: number): number {
    return this.#count.shareAt(kind, time);
  }

  count(usage: Partial<Usage>): void {
    this.#count.count(usage);
  }

  /** Reads the row of the day, unless it was read or written within the last 5 s. */
  async refresh(): Promise<void> {
    await this.#loadMonth();
    if (this.#count.hasNewsAt(now())) return;
    const { accountId } = this.allowance;
    const row = (await usageOf(accountId, this.day, this.day)).get(this.day) ?? noUsage;
    // A report is in progress, and its answer will be newer.
    if (this.#reporting === undefined) this.#count.hear(row, now());
  }

  /**
   * Reports as long as a step is full. Does nothing while another report is in progress, because its caller
   * checks again.
   */
  async reportWhenDue(): Promise<void> {
    if (this.#reporting !== undefined) return;
    while (this.#count.isReportDue(this.allowance, now())) await this.report();
  }

  async report(): Promise<void> {
    this.#reporting ??= this.#addToRow().finally(() => {
      this.#reporting = undefined;
    });
    await this.#reporting;
  }

  /** Reads the days of the month once, and again after a failure. */
  #loadMonth(): Promise<void> {
    this.#loading ??= usageOf(this.allowance.accountId, `${this.day.slice(0, 7)}-01`, this.day).then(
      (days) => {
        this.#count.hear(days.get(this.day) ?? noUsage, now());
        for (const [day, usage] of days) if (day < this.day) this.#count.hearEarlier(usage);
      },
      (error: unknown) => {
        this.#loading = undefined;
        throw error;
      },
    );
    return this.#loading;
  }

  async #addToRow(): Promise<void> {
    await this.#loadMonth();
    const { accountId, softPerDay, isExported } = this.allowance;
    const report = this.#count.makeReport(this.allowance, now());
    const row = await addUsage(accountId, this.day, hourOf(this.day, now()), report.added);
    this.#count.noteReported(report, row, now());

    const { counted } = report;
    if (this.dailyRequests > softPerDay) {
      count('RequestsOverSoftLimit', counted.requests);
      log.info('The account is over its soft daily limit', { accountId, messages: counted.requests });
    }
    if (!isExported) return;
    countOf(accountId, 'Messages', counted.messages);
    countOf(accountId, 'Requests', counted.calls + counted.hooks);
  }
}

/** Above this number, the least recently used counter is reported and dropped. */
const mostCounters = 1_000;
const counters = new Map<string, UsageCounter>();

/** Logs a failed report. The count is kept for the next one. */
async function logFailure({ allowance: { accountId } }: UsageCounter, report: Promise<void>): Promise<void> {
  try {
    await report;
  } catch (error) {
    log.warn('Usage could not be added to its count', { accountId, error: String(error) });
  }
}

export async function counterOf(account: Account, time: number): Promise<UsageCounter> {
  const day = dayOf(time);
  const allowance = allowanceOf(account);
  const known = counters.get(account.id);
  const counter = known?.day === day ? known : new UsageCounter(day, allowance, known);
  counter.allowance = allowance;
  counters.delete(account.id);
  counters.set(account.id, counter);
  if (known !== undefined && known !== counter) await logFailure(known, known.report());
  const [oldest] = counters.values();
  if (counters.size > mostCounters && oldest !== undefined) {
    counters.delete(oldest.allowance.accountId);
    await logFailure(oldest, oldest.report());
  }
  return counter;
}

/**
 * Reports the usage if it is due. Each request ends with this, because the process may be frozen afterwards.
 */
export async function reportUsage(account: Account): Promise<void> {
  const counter = await counterOf(account, now());
  await logFailure(counter, counter.reportWhenDue());
}

/** Counts messages that follow from others, such as callbacks. The budget pays for them, but no limit refuses them. */
export async function countFollowing(account: Account, messages: number): Promise<void> {
  if (messages === 0) return;
  const counter = await counterOf(account, now());
  counter.count({ messages });
  await reportUsage(account);
}

/** The warning header above the soft daily limit. */
export function usageHeaders(account: Account, prefix: string): Readonly<Record<string, string>> {
  const counter = counters.get(account.id);
  if (counter === undefined || counter.dailyRequests <= counter.allowance.softPerDay) return {};
  const name = headerName(prefix, 'soft-limit').toLowerCase();
  return { [name]: `max_requests_per_day=${counter.allowance.softPerDay}; used=${counter.dailyRequests}` };
}
