/**
 * The count that one process keeps of an account's use on a day, with what it last read of the other processes' counts. It decides
 * when to report, which is to add its count to the account's row of the day; `counter.ts`, which has the table, does it.
 */
import { secondMs } from '../../shared/clock.ts';
import { aheadOf, stepOf } from './steps.ts';
import { minus, noUsage, plus, type Usage } from '../usage.ts';

/** A process reports its requests this often in a second of full traffic, and learns by that its share of the requests. */
const callReportsPerSecond = 10;
/** The two kinds of requests, each with a limit in a second of its own: those with a token, and calls of webhooks. */
export type LimitedRequests = 'calls' | 'hooks';
/** Milliseconds after which a process has to read the counts of the others again: a limit may have been reached meanwhile. */
export const newsMs = 5 * secondMs;
/** The rate of an account's messages is measured over this time at least, so that one large request is no high rate. */
const leastMeasuredMs = secondMs / 4;

/** The limits that a count is held against. */
export interface CountedLimits {
  /** Messages a day above which no more are accepted. */
  readonly hardPerDay: number;
  /** Messages a month that the budget pays for. */
  readonly paidMessages: number;
  /** Requests of each kind. */
  readonly callsPerSecond: number;
}

/** A report that is on its way to the row of the day. */
export interface Report {
  /** The amount that is added to the row: what was not reported yet, and a part of a step in advance. */
  readonly added: Usage;
  /** The requests and messages that this process has counted since its last report. */
  readonly counted: Usage;
  /** The row as it was when the report was begun. */
  readonly before: Usage;
}

export class ProcessCount {
  /** The part of a step that is reported in advance; see `steps.ts`. */
  readonly #phase: number;
  /** Messages of the month's earlier days. */
  #earlierMessages = 0;
  /** The row of the day, as the table last told it. */
  #reported = noUsage;
  /** The part of its count that this process has not reported; below zero where it reported in advance. */
  #unreported = noUsage;
  /** The requests and messages that this process has counted since its last report. */
  #sinceReport = noUsage;
  /** This process's part of the account's messages, 0 to 1, between its last two reports. */
  #messageShare = 1;
  /** This process's part of the account's requests, by their kind. */
  #requestShares: Readonly<Record<LimitedRequests, number>> = { calls: 1, hooks: 1 };
  /** Unix milliseconds of this process's last report. */
  #reportedAt = 0;
  /** Unix milliseconds at which the table last told the row of the day. */
  #heardAt = 0;
  readonly #rate: MeasuredRate;

  /**
   * @param phase random, 0 up to but not including 1
   * @param perSecond messages that all processes counted in a second at the end of the day before, as this process knew it.
   * Without it, all processes of a busy account would report each of their first messages of a day, in the same second
   */
  constructor(phase: number, perSecond = 0) {
    this.#phase = phase;
    this.#rate = new MeasuredRate(perSecond);
  }

  /** Messages that all processes count in a second; 0 where that was measured too long ago. */
  perSecondAt(time: number): number {
    return this.hasNewsAt(time) ? this.#rate.perSecond : 0;
  }

  /** Messages that requests, schedules and retries made today. */
  get dailyRequests(): number {
    return this.#reported.requests + this.#unreported.requests;
  }

  /** All messages of this month, callbacks included. */
  get monthlyMessages(): number {
    return this.#earlierMessages + this.#reported.messages + this.#unreported.messages;
  }

  /** This process's part of the account's requests of a kind, 0 to 1. A part that was measured too long ago counts as 1. */
  shareAt(kind: LimitedRequests, time: number): number {
    return time - this.#reportedAt < newsMs ? this.#requestShares[kind] : 1;
  }

  hasNewsAt(time: number): boolean {
    return time - this.#heardAt < newsMs;
  }

  count(usage: Partial<Usage>): void {
    const counted = { ...noUsage, ...usage };
    this.#unreported = plus(this.#unreported, counted);
    this.#sinceReport = plus(this.#sinceReport, counted);
  }

  /** Takes the row of the day as the table told it. */
  hear(row: Usage, time: number): void {
    this.#reported = row;
    this.#heardAt = time;
    this.#rate.hear(row.messages, time);
  }

  /** Adds what was used on an earlier day of the month. */
  hearEarlier({ messages }: Usage): void {
    this.#earlierMessages += messages;
  }

  /** Tells whether a step is full. */
  isReportDue(limits: CountedLimits, time: number): boolean {
    const { requests, messages, calls, hooks } = this.#unreported;
    const mostUnreported = Math.max(callReportsPerSecond, limits.callsPerSecond) / callReportsPerSecond;
    if (calls >= mostUnreported || hooks >= mostUnreported) return true;
    const step = this.#step(limits, time);
    const full = step - aheadOf(step, this.#phase);
    // More than a step is reported in advance where messages were given back, or where the step has become shorter.
    const isTooMuchReported = requests <= -step;
    return requests >= full || messages >= full || isTooMuchReported;
  }

  /** Makes the report of all that was counted. */
  makeReport(limits: CountedLimits, time: number): Report {
    const counted = this.#sinceReport;
    const ahead = aheadOf(this.#step(limits, time), this.#phase);
    const added = plus(this.#unreported, {
      ...noUsage,
      requests: counted.requests > 0 ? ahead : 0,
      messages: counted.messages > 0 ? ahead : 0,
    });
    return { added, counted, before: this.#reported };
  }

  /**
   * Takes note that a report was added to the row.
   *
   * @param row the row after that
   */
  noteReported({ added, counted, before }: Report, row: Usage, time: number): void {
    this.#unreported = minus(this.#unreported, added);
    this.#sinceReport = minus(this.#sinceReport, counted);
    this.hear(row, time);

    const byOthers = minus(minus(row, before), added);
    this.#messageShare = shareOf(counted.messages, byOthers.messages) ?? this.#messageShare;
    const isRecent = time - this.#reportedAt < newsMs;
    const requestShare = (kind: LimitedRequests): number =>
      (isRecent ? shareOf(counted[kind], byOthers[kind]) : undefined) ?? 1;
    this.#requestShares = { calls: requestShare('calls'), hooks: requestShare('hooks') };
    this.#reportedAt = time;
  }

  /** The number of messages after which this process reports: less, the nearer the account is to a limit. */
  #step({ hardPerDay, paidMessages }: CountedLimits, time: number): number {
    const capacity = Math.min(hardPerDay - this.dailyRequests, paidMessages - this.monthlyMessages);
    // A rate that was measured too long ago counts as none: the steps stay short, and the row exact.
    return stepOf(this.#reported.requests, Math.max(0, capacity), this.#messageShare, this.perSecondAt(time));
  }
}

/** The rate at which a count grows, measured between the moments at which the count is read. */
class MeasuredRate {
  /** The count at the beginning of the present measurement; `at` in Unix milliseconds. */
  #from: { readonly count: number; readonly at: number } | undefined;
  #measured: number;
  #present = 0;

  /** @param perSecond a rate that was measured before, until this measures its own */
  constructor(perSecond: number) {
    this.#measured = perSecond;
  }

  /** Growth in a second. A measurement that is under way counts where it is higher already: traffic may have begun just now. */
  get perSecond(): number {
    return Math.max(this.#measured, this.#present);
  }

  hear(count: number, at: number): void {
    const from = this.#from;
    if (from === undefined) {
      this.#from = { count, at };
      return;
    }
    const lengthMs = at - from.at;
    this.#present = ((count - from.count) * secondMs) / Math.max(leastMeasuredMs, lengthMs);
    if (lengthMs < leastMeasuredMs) return;
    this.#measured = this.#present;
    this.#present = 0;
    this.#from = { count, at };
  }
}

/** @returns 0 to 1; undefined when this process had nothing to compare */
const shareOf = (own: number, others: number): number | undefined =>
  own <= 0 ? undefined : own / (own + Math.max(0, others));
