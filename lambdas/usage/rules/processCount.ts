/**
 * A process's count of an account's usage on a day, and the last known counts of the other processes. It
 * decides when `counter.ts` reports.
 */
import { isRecent, secondMs } from '../../shared/clock.ts';
import { aheadOf, stepOf } from './steps.ts';
import { minus, noUsage, plus, type Usage } from '../usage.ts';

/**
 * Reports per second of a process whose requests are at the limit. They show each process its share of the
 * requests.
 */
const callReportsPerSecond = 10;
/** Authenticated requests, and webhook calls. Each has a separate limit per second. */
export type LimitedRequests = 'calls' | 'hooks';
/**
 * After this time a process reads the other processes' counts again, because a limit may have been reached.
 */
export const newsMs = 5 * secondMs;
/** The shortest time over which a message rate is measured, so that one large request is not a high rate. */
const leastMeasuredMs = secondMs / 4;

export interface CountedLimits {
  readonly hardPerDay: number;
  readonly paidMessages: number;
  /** The limit for requests of either kind. */
  readonly callsPerSecond: number;
}

interface Report {
  /** The amount added to the row: the unreported count, and a part of a step in advance. */
  readonly added: Usage;
  /** The count of this process since its last report. */
  readonly counted: Usage;
  /** The row before the report. */
  readonly before: Usage;
}

export class ProcessCount {
  /** The part of a step that is reported in advance; see `aheadOf` in `steps.ts`. */
  readonly #phase: number;
  /** Messages on the earlier days of the month. */
  #earlierMessages = 0;
  /** The row of the day, as last read. */
  #reported = noUsage;
  /** This process's unreported count; negative if it reported in advance. */
  #unreported = noUsage;
  #sinceReport = noUsage;
  /** This process's part of the account's messages between its last two reports, 0 to 1. */
  #messageShare = 1;
  #requestShares: Readonly<Record<LimitedRequests, number>> = { calls: 1, hooks: 1 };
  #reportedAt = 0;
  /** Unix milliseconds at which the row of the day was last read. */
  #heardAt = 0;
  readonly #rate: MeasuredRate;

  /**
   * @param phase random, 0 up to but not including 1
   * @param perSecond messages that all processes counted in a second at the end of the previous day, if known. Without it, all
   * processes of a busy account would report each of their first messages of a day in the same second
   */
  constructor(phase: number, perSecond = 0) {
    this.#phase = phase;
    this.#rate = new MeasuredRate(perSecond);
  }

  /** The messages per second of all processes; 0 if the measurement is too old. */
  perSecondAt(time: number): number {
    return this.hasNewsAt(time) ? this.#rate.perSecond : 0;
  }

  get dailyRequests(): number {
    return this.#reported.requests + this.#unreported.requests;
  }

  get monthlyMessages(): number {
    return this.#earlierMessages + this.#reported.messages + this.#unreported.messages;
  }

  /** This process's share of the requests of a kind; 1 if the measurement is too old. */
  shareAt(kind: LimitedRequests, time: number): number {
    return isRecent(this.#reportedAt, newsMs, time) ? this.#requestShares[kind] : 1;
  }

  hasNewsAt(time: number): boolean {
    return isRecent(this.#heardAt, newsMs, time);
  }

  count(usage: Partial<Usage>): void {
    const counted = { ...noUsage, ...usage };
    this.#unreported = plus(this.#unreported, counted);
    this.#sinceReport = plus(this.#sinceReport, counted);
  }

  hear(row: Usage, time: number): void {
    this.#reported = row;
    this.#heardAt = time;
    this.#rate.hear(row.messages, time);
  }

  hearEarlier({ messages }: Usage): void {
    this.#earlierMessages += messages;
  }

  isReportDue(limits: CountedLimits, time: number): boolean {
    const { requests, messages, calls, hooks } = this.#unreported;
    const mostUnreported = Math.max(callReportsPerSecond, limits.callsPerSecond) / callReportsPerSecond;
    if (calls >= mostUnreported || hooks >= mostUnreported) return true;
    const step = this.#step(limits, time);
    const full = step - aheadOf(step, this.#phase);
    // Messages were given back, or the step has become shorter, so that too much is reported.
    const isTooMuchReported = requests <= -step;
    return requests >= full || messages >= full || isTooMuchReported;
  }

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

  /** @param row the row after the report */
  noteReported({ added, counted, before }: Report, row: Usage, time: number): void {
    this.#unreported = minus(this.#unreported, added);
    this.#sinceReport = minus(this.#sinceReport, counted);
    this.hear(row, time);

    const byOthers = minus(minus(row, before), added);
    this.#messageShare = shareOf(counted.messages, byOthers.messages) ?? this.#messageShare;
    const isNews = isRecent(this.#reportedAt, newsMs, time);
    const requestShare = (kind: LimitedRequests): number =>
      (isNews ? shareOf(counted[kind], byOthers[kind]) : undefined) ?? 1;
    this.#requestShares = { calls: requestShare('calls'), hooks: requestShare('hooks') };
    this.#reportedAt = time;
  }

  /** The number of messages after which this process reports. It is smaller near a limit. */
  #step({ hardPerDay, paidMessages }: CountedLimits, time: number): number {
    const capacity = Math.min(hardPerDay - this.dailyRequests, paidMessages - this.monthlyMessages);
    // If the rate was measured long ago, it counts as 0. Then steps are short and the row is exact.
    return stepOf(this.#reported.requests, Math.max(0, capacity), this.#messageShare, this.perSecondAt(time));
  }
}

class MeasuredRate {
  /** The start of the current measurement; `at`. */
  #from: { readonly count: number; readonly at: number } | undefined;
  #measured: number;
  #present = 0;

  /** @param perSecond an earlier rate, used until a new one is measured */
  constructor(perSecond: number) {
    this.#measured = perSecond;
  }

  /**
   * Growth per second. If the current measurement is already higher, it counts, because traffic may have just
   * begun.
   */
  get perSecond(): number {
    return Math.max(this.#measured, this.#present);
  }

  hear(count: number, at: number): void {
    const from = this.#from;
    if (from === undefined || at < from.at) {
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

/** @returns 0 to 1; undefined if there is nothing to compare */
const shareOf = (own: number, others: number): number | undefined =>
  own <= 0 ? undefined : own / (own + Math.max(0, others));
