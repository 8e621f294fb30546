import { minuteMs } from '../../shared/clock.ts';
import { wallClock } from '../../value/wallClock.ts';
import type { QuietHours } from '../alarm.ts';

const minutesOfHour = 60;
const minutesOfDay = 24 * minutesOfHour;

/** Reads a text such as `22:00`. */
function minuteOf(text: string): number {
  const [hours = 0, minutes = 0] = text.split(':').map(Number);
  return hours * minutesOfHour + minutes;
}

export function isQuiet(hours: QuietHours | undefined, time: number): boolean {
  if (hours === undefined) return false;
  const minute = Math.floor(wallClock(hours.timezone).wallAt(time) / minuteMs) % minutesOfDay;
  const [from, to] = [minuteOf(hours.from), minuteOf(hours.to)];
  return from < to ? minute >= from && minute < to : minute >= from || minute < to;
}
