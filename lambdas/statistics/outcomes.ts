/**
 * The counts of outcomes. No input or output here: `countOutcomes.ts` reads the log and stores the counts.
 */
import { dayMs, dayOf, hourMs, minuteMs } from '../shared/clock.ts';
import type { LoggedEnd } from './store/log.ts';
import { shownDays } from './rules/shownPeriod.ts';

export const outcomes = ['delivered', 'failed', 'cancelled'] as const;
type MessageOutcome = (typeof outcomes)[number];
export type PerOutcome = Readonly<Record<MessageOutcome, number>>;

export const noOutcomes: PerOutcome = { delivered: 0, failed: 0, cancelled: 0 };

/**
 * The outcome of a message, from a record. A retry, or an attempt after the message was cancelled, is not an
 * outcome.
 */
export function messageOutcomeOf({ state }: LoggedEnd): MessageOutcome | undefined {
  if (state === undefined) return 'cancelled';
  if (state === 'DELIVERED') return 'delivered';
  return state === 'FAILED' ? 'failed' : undefined;
}

/**
 * Removes zeros if the period is not completely counted, because they are unknown. @param end Unix
 * milliseconds
 */
export function knownOutcomes(
  counts = noOutcomes,
  end: number,
  countedUntil = Infinity,
): Partial<PerOutcome> {
  const known = (count: number): number | undefined => (count > 0 || end <= countedUntil ? count : undefined);
  const { delivered, failed, cancelled } = counts;
  return { delivered: known(delivered), failed: known(failed), cancelled: known(cancelled) };
}

/** Hours for which hourly counts are kept. Daily counts are kept for all days that are shown. */
const keptHours = 48;

/** The length of a step. Counts by step are kept for the last hour. */
export const stepMs = 5 * minuteMs;
const keptSteps = hourMs / stepMs;

export interface OutcomeCounts {
  readonly steps: ReadonlyMap<number, PerOutcome>;
  /** By the beginning of the hour. */
  readonly hours: ReadonlyMap<number, PerOutcome>;
  readonly days: ReadonlyMap<string, PerOutcome>;
  /** Failed attempts with a retry, of yesterday and today, by day. */
  readonly retries: ReadonlyMap<string, number>;
}

export const noCounts: OutcomeCounts = {
  steps: new Map(),
  hours: new Map(),
  days: new Map(),
  retries: new Map(),
};

const hourStart = (time: number): number => Math.floor(time / hourMs) * hourMs;

/** The kept hours, oldest first. */
export const hoursAt = (time: number): readonly number[] =>
  Array.from({ length: keptHours }, (_, index) => hourStart(time) - (keptHours - 1 - index) * hourMs);

const stepStart = (time: number): number => Math.floor(time / stepMs) * stepMs;

/** The steps of the last hour, oldest first. */
export const stepsAt = (time: number): readonly number[] =>
  Array.from({ length: keptSteps }, (_, index) => stepStart(time) - (keptSteps - 1 - index) * stepMs);

/** Records from before this time are not counted. */
export const countedFrom = (time: number): number => (Math.floor(time / dayMs) - (shownDays - 1)) * dayMs;

function sumBy<Key>(all: readonly ReadonlyMap<Key, PerOutcome>[]): ReadonlyMap<Key, PerOutcome> {
  const sums = new Map<Key, PerOutcome>();
  for (const counts of all) {
    for (const [key, more] of counts) {
      const sum = sums.get(key) ?? noOutcomes;
      sums.set(key, {
        delivered: sum.delivered + more.delivered,
        failed: sum.failed + more.failed,
        cancelled: sum.cancelled + more.cancelled,
      });
    }
  }
  return sums;
}

export const sumOf = (all: readonly OutcomeCounts[]): OutcomeCounts => ({
  steps: sumBy(all.map(({ steps }) => steps)),
  hours: sumBy(all.map(({ hours }) => hours)),
  days: sumBy(all.map(({ days }) => days)),
  retries: all.reduce((sums, { retries }) => {
    for (const [day, more] of retries) sums.set(day, (sums.get(day) ?? 0) + more);
    return sums;
  }, new Map<string, number>()),
});

export function countsOf(records: readonly LoggedEnd[]): OutcomeCounts {
  const steps = new Map<number, PerOutcome>();
  const retries = new Map<string, number>();
  for (const record of records) {
    if (record.state === 'RETRY') {
      const day = dayOf(record.recordedAt);
      retries.set(day, (retries.get(day) ?? 0) + 1);
    }
    const outcome = messageOutcomeOf(record);
    if (outcome === undefined) continue;
    const step = stepStart(record.recordedAt);
    const count = steps.get(step) ?? noOutcomes;
    steps.set(step, { ...count, [outcome]: count[outcome] + 1 });
  }
  return {
    steps,
    hours: sumBy([...steps].map(([step, count]) => new Map([[hourStart(step), count]]))),
    days: sumBy([...steps].map(([step, count]) => new Map([[dayOf(step), count]]))),
    retries,
  };
}

/** Omits the steps, hours and days that are no longer kept. */
export function withoutPast({ steps, hours, days, retries }: OutcomeCounts, time: number): OutcomeCounts {
  const [oldestStep = 0] = stepsAt(time);
  const [oldestHour = 0] = hoursAt(time);
  const oldestDay = dayOf(countedFrom(time));
  return {
    steps: new Map([...steps].filter(([step]) => step >= oldestStep)),
    hours: new Map([...hours].filter(([hour]) => hour >= oldestHour)),
    days: new Map([...days].filter(([day]) => day >= oldestDay)),
    retries: new Map([...retries].filter(([day]) => day >= dayOf(time - dayMs))),
  };
}
