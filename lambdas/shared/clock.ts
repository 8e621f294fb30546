/** The service's only clock. All times are, unless their comment gives another unit. */
export const now = (): number => Date.now();

export const secondMs = 1_000;
export const minuteMs = 60 * secondMs;
export const hourMs = 60 * minuteMs;
export const dayMs = 24 * hourMs;

/** The most that two processes' clocks differ. */
export const clockMarginMs = 5 * secondMs;

/** Whether a past moment seems to be in the future, because a clock has stepped back since. */
export const isAhead = (at: number, time: number): boolean => at > time + clockMarginMs;

/**
 * Whether a past moment is less than this long ago. False if it seems to be in the future. Otherwise, after
 * the clock has stepped back, a rule for recent moments would apply for too long.
 */
export const isRecent = (at: number, lengthMs: number, time: number): boolean =>
  !isAhead(at, time) && time - at < lengthMs;

/** The UTC day, as `2026-11-20`. */
export const dayOf = (time: number): string => new Date(time).toISOString().slice(0, 10);

/** The UTC hour of a day, 0 to 23. After the day, 23. */
export const hourOf = (day: string, time: number): number =>
  Math.min(23, Math.floor((time - Date.parse(day)) / hourMs));

export const nextDay = (time: number): number => (Math.floor(time / dayMs) + 1) * dayMs;

/** When the next UTC month begins. */
export const nextMonth = (time: number): number => {
  const date = new Date(time);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1);
};

/** Converts Unix milliseconds to Unix seconds, rounded up, for a time to live. */
export const epochSeconds = (timeMs: number): number => Math.ceil(timeMs / secondMs);
