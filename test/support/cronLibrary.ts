import { CronPattern } from 'croner';
import type { CronFields } from '../../lambdas/domain/schedule/cronFields.ts';

/**
 * Reads five fields with a cron library.
 *
 * @throws for a range that wraps around and for a start with a step, which the library does not read
 */
export function readByLibrary(text: string): CronFields {
  const pattern = new CronPattern(text, undefined, { mode: '5-part' });
  const valuesOf = (flags: readonly number[], min: number): readonly number[] =>
    flags.flatMap((flag, index) => (flag > 0 ? [index + min] : []));
  return {
    minutes: valuesOf(pattern.minute, 0),
    hours: valuesOf(pattern.hour, 0),
    dates: pattern.starDOM ? undefined : valuesOf(pattern.day, 1),
    months: valuesOf(pattern.month, 1),
    weekdays: pattern.starDOW ? undefined : valuesOf(pattern.dayOfWeek, 0),
  };
}
