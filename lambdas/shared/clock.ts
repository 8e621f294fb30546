/** The service's only clock: Unix milliseconds. */
export const now = (): number => Date.now();

export const secondMs = 1_000;
export const minuteMs = 60 * secondMs;
export const hourMs = 60 * minuteMs;
export const dayMs = 24 * hourMs;

/** The most that two processes' clocks differ. */
export const clockMarginMs = 5 * secondMs;

/** Whether a moment of the past seems to be in the future: the clock, or that of another process, has stepped back since. */
export const isAhead = (at: number, time: number): boolean => at > time + clockMarginMs;

/**
 * Whether a moment of the past is less than this long ago. One that is ahead is not: a rule may hold for its time, but not for
 * as long as the clock was wrong.
 */
export const isRecent = (at: number, lengthMs: number, time: number): boolean =>
  !isAhead(at, time) && time - at < lengthMs;

/** The UTC day, as `2026-11-20`. */
export const dayOf = (time: number): string => new Date(time).toISOString().slice(0, 10);

/** The UTC hour of a day, 0 to 23; 23 after the day. */
export const hourOf = (day: string, time: number): number =>
  Math.min(23, Math.floor((time - Date.parse(day)) / hourMs));

/** When the next UTC day begins, Unix milliseconds. */
export const nextDay = (time: number): number => (Math.floor(time / dayMs) + 1) * dayMs;

/** When the next UTC month begins, Unix milliseconds. */
export const nextMonth = (time: number): number => {
  const date = new Date(time);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1);
};

/** Converts Unix milliseconds to seconds for a time to live. */
export const epochSeconds = (timeMs: number): number => Math.ceil(timeMs / secondMs);
