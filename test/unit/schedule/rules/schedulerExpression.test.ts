/** Compares the library’s fires with EventBridge Scheduler’s, by a second implementation of its documented rules. */
import { CronPattern } from 'croner';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { fires, nextFire, parseCron, type Cron } from '../../../../lambdas/schedule/cron.ts';
import { sampleOf } from '../../../support/sample.ts';

const minuteMs = 60_000;
const halfHourMs = 30 * minuteMs;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
/** 400 days with a 29 February and two or three clock changes in every zone that has any. */
const start = Date.UTC(2027, 1, 1, 12, 34);
const end = start + 400 * dayMs;

const zones = ['UTC', 'Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'Asia/Kolkata'] as const;
type Zone = (typeof zones)[number];

// --- Scheduler according to its guide. Shares no code with the translation.

interface SchedulerCron {
  readonly minutesOfDay: readonly number[];
  readonly onDay: (date: number, month: number, weekday: number) => boolean;
}

/** Parses `cron(minutes hours day-of-month month day-of-week year)`. Any other form is an error of the translation. */
function readScheduler(expression: string): SchedulerCron {
  const [, minutes = '', hours = '', date = '', month = '', weekday = ''] =
    /^cron\((\S+) (\S+) (\S+) (\S+) (\S+) \*\)$/.exec(expression) ?? [];
  // "You can't use * in both the Day-of-month and Day-of-week fields. If you use it in one, you must use ? in the other."
  const oneDayField = (date === '?') !== (weekday === '?');
  if (expression.length > 256 || !oneDayField || weekday.includes('/')) {
    throw new Error(`${expression} is no expression of Scheduler`);
  }
  const dates = date === '?' ? undefined : readField(date, 1, 31);
  const weekdays = weekday === '?' ? undefined : readField(weekday, 1, 7);
  const months = readField(month, 1, 12);
  const ofHour = [...readField(minutes, 0, 59)].sort((a, b) => a - b);
  const ofDay = [...readField(hours, 0, 23)].sort((a, b) => a - b);
  return {
    minutesOfDay: ofDay.flatMap((hour) => ofHour.map((minute) => hour * 60 + minute)),
    onDay: (onDate, inMonth, onWeekday) =>
      months.has(inMonth) && (dates?.has(onDate) ?? true) && (weekdays?.has(onWeekday) ?? true),
  };
}

function readField(text: string, min: number, max: number): ReadonlySet<number> {
  const all = new Set<number>();
  for (const entry of text.split(',')) {
    const [, from = '', to, step] = /^(\*|\d+)(?:-(\d+)|\/(\d+))?$/.exec(entry) ?? [];
    const first = from === '*' ? min : Number(from);
    let last = first;
    if (from === '*' || step !== undefined) last = max;
    if (to !== undefined) last = Number(to);
    if (from === '' || !(min <= first && first <= last && last <= max)) {
      throw new Error(`${entry} of ${text} is no entry of a field of Scheduler`);
    }
    for (let value = first; value <= last; value += Number(step ?? 1)) all.add(value);
  }
  return all;
}

interface Stretch {
  readonly fromWall: number;
  readonly toWall: number;
  readonly offset: number;
}

/**
 * Returns the times on a zone’s wall clocks, each once and in order. A missing time is in no stretch, a repeated one in that of
 * its first pass.
 */
function stretchesOf(timeZone: Zone): readonly Stretch[] {
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' });
  const offsetAt = (time: number): number => Date.parse(`${format.format(time).replace(' ', 'T')}Z`) - time;
  // Clocks change at full half hours of UTC in all of these zones.
  const bounds = [start + minuteMs];
  for (let time = start - (start % halfHourMs) + halfHourMs; time < end; time += halfHourMs) {
    if (offsetAt(time) !== offsetAt(time - minuteMs)) bounds.push(time);
  }
  let seen = -Infinity;
  return bounds.map((from, index) => {
    const offset = offsetAt(from);
    const fromWall = Math.max(from + offset, seen);
    seen = Math.max(seen, (bounds[index + 1] ?? end) + offset);
    return { fromWall, toWall: seen, offset };
  });
}

interface Day {
  readonly wall: number;
  readonly date: number;
  readonly month: number;
  readonly weekday: number;
}

const days: readonly Day[] = Array.from({ length: 404 }, (_, index) => {
  const day = new Date((Math.floor(start / dayMs) - 1 + index) * dayMs);
  return {
    wall: day.getTime(),
    date: day.getUTCDate(),
    month: day.getUTCMonth() + 1,
    weekday: day.getUTCDay() + 1,
  };
});
const stretches = new Map(zones.map((zone) => [zone, stretchesOf(zone)]));

/** Returns the fires after `from` and before `to`. A minute in both expressions is one fire. */
function schedulerFires(
  expressions: readonly string[],
  zone: Zone,
  from: number,
  to: number,
): readonly number[] {
  const crons = expressions.map(readScheduler);
  const walls = days
    .filter((day) => day.wall > from - 2 * dayMs && day.wall < to + dayMs)
    .flatMap((day) => {
      const minutes = minutesOn(day, crons);
      return minutes.map((minute) => day.wall + minute * minuteMs);
    });
  const times: number[] = [];
  for (const { fromWall, toWall, offset } of stretches.get(zone) ?? []) {
    for (const wall of walls) {
      const time = wall - offset;
      if (wall >= fromWall && wall < toWall && time > from && time < to) times.push(time);
    }
  }
  return times;
}

function countFires(expressions: readonly string[]): number {
  const crons = expressions.map(readScheduler);
  return days.reduce((count, day) => count + minutesOn(day, crons).length, 0);
}

function minutesOn(day: Day, crons: readonly SchedulerCron[]): readonly number[] {
  const today = crons.filter((cron) => cron.onDay(day.date, day.month, day.weekday));
  const [only] = today;
  return today.length === 1 && only !== undefined ? only.minutesOfDay : union(today);
}

const union = (crons: readonly SchedulerCron[]): readonly number[] =>
  [...new Set(crons.flatMap((cron) => cron.minutesOfDay))].sort((a, b) => a - b);

// --- Expressions of every supported form.

interface FieldForm {
  readonly min: number;
  readonly max: number;
  readonly names: readonly string[];
}

const minute: FieldForm = { min: 0, max: 59, names: [] };
const hour: FieldForm = { min: 0, max: 23, names: [] };
const date: FieldForm = { min: 1, max: 31, names: [] };
const month: FieldForm = {
  min: 1,
  max: 12,
  names: 'Jan feb MAR Apr may JUN Jul aug SEP Oct nov DEC'.split(' '),
};
const weekday: FieldForm = { min: 0, max: 7, names: 'Sun mon TUE Wed thu FRI Sat'.split(' ') };

function valuesOf({ min, max, names }: FieldForm): fc.Arbitrary<string> {
  const numbers = fc.integer({ min, max }).map(String);
  const padded = numbers.map((value) => value.padStart(2, '0'));
  const arbitraries = [
    { weight: 4, arbitrary: numbers },
    { weight: 1, arbitrary: padded },
  ];
  if (names.length > 0) arbitraries.push({ weight: 3, arbitrary: fc.constantFrom(...names) });
  return fc.oneof(...arbitraries);
}

function entriesOf(form: FieldForm, dense: number): fc.Arbitrary<string> {
  const value = valuesOf(form);
  const step = fc.integer({ min: 1, max: Math.min(form.max, 30) });
  const range = fc.tuple(value, value).map(([from, to]) => `${from}-${to}`);
  return fc.oneof(
    { weight: 6, arbitrary: value },
    { weight: dense, arbitrary: range },
    { weight: dense, arbitrary: fc.tuple(range, step).map(([from, by]) => `${from}/${by}`) },
    { weight: dense, arbitrary: fc.tuple(fc.constant('*'), step).map(([all, by]) => `${all}/${by}`) },
    { weight: dense, arbitrary: fc.tuple(value, step).map(([from, by]) => `${from}/${by}`) },
  );
}

function fieldsOf(form: FieldForm, dense: number, stars: number): fc.Arbitrary<string> {
  const entry = entriesOf(form, dense);
  return fc.oneof(
    { weight: stars, arbitrary: fc.constant('*') },
    { weight: 6, arbitrary: entry },
    { weight: 3, arbitrary: fc.array(entry, { minLength: 2, maxLength: 4 }).map((list) => list.join(',')) },
    { weight: dense > 0 ? 1 : 0, arbitrary: entry.map((also) => `*,${also}`) },
  );
}

/** Times and days are seldom both dense, because every fire is checked. */
const crons = fc.oneof(
  fc.tuple(
    fieldsOf(minute, 0, 0),
    fieldsOf(hour, 0, 0),
    fieldsOf(date, 2, 4),
    fieldsOf(month, 2, 3),
    fieldsOf(weekday, 2, 4),
  ),
  fc.tuple(
    fieldsOf(minute, 2, 1),
    fieldsOf(hour, 2, 1),
    fieldsOf(date, 2, 4),
    fieldsOf(month, 2, 3),
    fieldsOf(weekday, 2, 4),
  ),
);

// --- Scheduler against the library.

function libraryFires(cron: Cron, from: number, to: number): readonly number[] {
  const times: number[] = [];
  for (const time of fires(cron, from)) {
    if (time >= to) break;
    times.push(time);
  }
  return times;
}

/** Expects that the library reads the text, if it can, like its parsed pattern. */
function expectSameReading(text: string, cron: Cron): void {
  let given: CronPattern;
  try {
    given = new CronPattern(text, undefined, { mode: '5-part' });
  } catch {
    return; // A range that wraps around, or a start with a step.
  }
  if (/(sun|0|7)-sun/i.test(text)) return; // The library reads a range from Sunday to Sunday as the whole week.
  const read = new CronPattern(cron.pattern, undefined, { mode: '5-part' });
  for (const part of ['minute', 'hour', 'day', 'month', 'dayOfWeek'] as const) {
    expect(read[part], `${part} of ${text}`).toEqual(given[part]);
  }
}

function parse(text: string, zone: Zone): Cron {
  return parseCron('Svc-Cron', `CRON_TZ=${zone} ${text}`);
}

/** Compares like `toEqual`, which is slow for long lists. */
function expectSame(times: readonly number[], expected: readonly number[], text: string): void {
  if (times.length === expected.length && times.every((time, index) => time === expected[index])) return;
  expect(times, text).toEqual(expected);
}

function expectSameFires(cron: Cron, zone: Zone): void {
  const expected = schedulerFires(cron.schedulerExpressions, zone, start, end);
  expectSame(libraryFires(cron, start, end), expected, cron.text);
  if (expected[0] !== undefined) expect(nextFire(cron, start)).toBe(expected[0]);
}

/**
 * Checks every day by its first time, and every time on some day and around each clock change. All days have the same times.
 */
function expectSameManyFires(cron: Cron, zone: Zone, someTime: number): void {
  const crons = cron.schedulerExpressions.map(readScheduler);
  const [{ minutesOfDay } = { minutesOfDay: [] }, ...others] = crons;
  expect(others.every((other) => other.minutesOfDay.join() === minutesOfDay.join())).toBe(true);

  const [, , ...dayFields] = cron.text.split(' ').slice(1);
  const first = minutesOfDay[0] ?? NaN;
  const onceADay = parse(`${first % 60} ${Math.floor(first / 60)} ${dayFields.join(' ')}`, zone);
  const once = onceADay.schedulerExpressions.map(readScheduler);
  const named = (day: Day, by: readonly SchedulerCron[]): boolean => minutesOn(day, by).length > 0;
  expect(days.filter((day) => named(day, once) !== named(day, crons))).toEqual([]);
  expectSameFires(onceADay, zone);

  const changes = (stretches.get(zone) ?? []).slice(1).map(({ fromWall, offset }) => fromWall - offset);
  const windows = [
    [someTime, someTime + dayMs] as const,
    ...changes.map((change) => [change - 3 * hourMs, change + 3 * hourMs] as const),
  ];
  for (const [from, to] of windows) {
    const expected = schedulerFires(cron.schedulerExpressions, zone, from, to);
    expectSame(libraryFires(cron, from, to), expected, cron.text);
  }
}

const expressions = sampleOf(5_100);

it(`for ${expressions} expressions Scheduler fires at the library’s minutes, over 400 days`, () => {
  const seen = { translated: 0, two: 0, whole: 0, never: 0 };
  const someTimes = fc.integer({ min: start, max: end - dayMs });
  fc.assert(
    fc.property(crons, fc.constantFrom(...zones), someTimes, (fields, zone, someTime) => {
      const text = fields.join(' ');
      let cron: Cron;
      try {
        cron = parse(text, zone);
      } catch (error) {
        expect(error).toHaveProperty('message', expect.stringContaining('never comes'));
        seen.never += 1;
        return;
      }
      seen.translated += 1;
      if (cron.schedulerExpressions.length === 2) seen.two += 1;
      expectSameReading(text, cron);
      if (countFires(cron.schedulerExpressions) > 300) {
        expectSameManyFires(cron, zone, someTime);
      } else {
        seen.whole += 1;
        expectSameFires(cron, zone);
      }
    }),
    { seed: 4, numRuns: expressions },
  );
  expect(seen.translated).toBeGreaterThanOrEqual(0.98 * expressions);
  expect(seen.two).toBeGreaterThan(0.2 * expressions);
  expect(seen.whole).toBeGreaterThan(0.4 * expressions);
});
