import { dayMs, dayOf } from '../../shared/clock.ts';

/** The number of days that statistics show, today included. */
export const shownDays = 30;

export interface ShownPeriod {
  /** The days that are shown, as `2026-11-20`, UTC, the oldest first. */
  readonly days: readonly string[];
  readonly today: string;
  /** The first day of this month. */
  readonly month: string;
  /** The first day that has to be read: the first one that is shown, or the month's where that is earlier. */
  readonly first: string;
}

/** @param time Unix milliseconds of a moment of the last day */
export function shownPeriod(time: number): ShownPeriod {
  const days = Array.from({ length: shownDays }, (_, index) => dayOf(time - (shownDays - 1 - index) * dayMs));
  const today = dayOf(time);
  const month = `${today.slice(0, 7)}-01`;
  const [oldest = today] = days;
  return { days, today, month, first: oldest < month ? oldest : month };
}
