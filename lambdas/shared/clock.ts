/** The one clock of the service: Unix time in milliseconds. */
export const now = (): number => Date.now();

export const secondMs = 1_000;
export const minuteMs = 60 * secondMs;
export const hourMs = 60 * minuteMs;
export const dayMs = 24 * hourMs;

/** The clocks of two processes differ by less than this. */
export const clockMarginMs = 5 * secondMs;

/** The day of a moment in UTC, as `2026-11-20`. */
export const dayOf = (time: number): string => new Date(time).toISOString().slice(0, 10);

/** The hour of a day at a moment, UTC: 0 to 23; 23 where the day is over. */
export const hourOf = (day: string, time: number): number =>
  Math.min(23, Math.floor((time - Date.parse(day)) / hourMs));

/** Unix milliseconds at which the next day begins in UTC. */
export const nextDay = (time: number): number => (Math.floor(time / dayMs) + 1) * dayMs;

/** Unix milliseconds at which the next month begins in UTC. */
export const nextMonth = (time: number): number => {
  const date = new Date(time);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1);
};

/** Converts Unix milliseconds to the seconds in which rows have their time to live. */
export const epochSeconds = (timeMs: number): number => Math.ceil(timeMs / secondMs);
