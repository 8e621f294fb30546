import { dayMs, dayOf } from '../../shared/clock.ts';

/** Including today. */
export const shownDays = 30;

export interface ShownPeriod {
  /** Days in UTC, such as `2026-11-20`, oldest first. */
  readonly days: readonly string[];
  readonly today: string;
  readonly month: string;
  /** The first day to read: the first day that is shown, or the first of the month if that is earlier. */
  readonly first: string;
}

/** @param time on the last day */
export function shownPeriod(time: number): ShownPeriod {
  const days = Array.from({ length: shownDays }, (_, index) => dayOf(time - (shownDays - 1 - index) * dayMs));
  const today = dayOf(time);
  const month = `${today.slice(0, 7)}-01`;
  const [oldest = today] = days;
  return { days, today, month, first: oldest < month ? oldest : month };
}
