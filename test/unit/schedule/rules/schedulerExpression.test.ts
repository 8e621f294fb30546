/** Compares the library’s fires with EventBridge Scheduler’s, by a second implementation of its documented rules. */
import { CronPattern } from 'croner';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { fires, nextFire, parseCron, type Cron } from '../../../../lambdas/schedule/cron.ts';
import { sampleOf } from '../../../support/sample.ts';

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;
/** 400 days with a 29 February, in UTC. The changes of clocks are in `cron.test.ts`. */
const start = Date.UTC(2027, 1, 1, 12, 34);
const end = start + 400 * dayMs;

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

interface Day {
  readonly time: number;
  readonly date: number;
  readonly month: number;
  readonly weekday: number;
}

const days: readonly Day[] = Array.from({ length: 404 }, (_, index) => {
  const day = new Date((Math.floor(start / dayMs) - 1 + index) * dayMs);
  return {
    time: day.getTime(),
    date: day.getUTCDate(),
    month: day.getUTCMonth() + 1,
    weekday: day.getUTCDay() + 1,
  };
});

/** Returns the fires after `from` and before `to`. A minute in both expressions is one fire. */
function schedulerFires(expressions: readonly string[], from: number, to: number): readonly number[] {
  const crons = expressions.map(readScheduler);
  return days
    .flatMap((day) => minutesOn(day, crons).map((minute) => day.time + minute * minuteMs))
    .filter((time) => time > from && time < to);
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

const parse = (text: string): Cron => parseCron('Svc-Cron', text);

/** Compares like `toEqual`, which is slow for long lists. */
function expectSame(times: readonly number[], expected: readonly number[], text: string): void {
  if (times.length === expected.length && times.every((time, index) => time === expected[index])) return;
  expect(times, text).toEqual(expected);
}

function expectSameFires(cron: Cron, from: number, to: number): void {
  const expected = schedulerFires(cron.schedulerExpressions, from, to);
  expectSame(libraryFires(cron, from, to), expected, cron.text);
  if (expected[0] !== undefined) expect(nextFire(cron, from)).toBe(expected[0]);
}

const expressions = sampleOf(2_000);

it(`for ${expressions} expressions Scheduler fires at the library’s minutes, over two days or 400`, () => {
  const seen = { translated: 0, two: 0, whole: 0, never: 0 };
  const someTimes = fc.integer({ min: start, max: end - 2 * dayMs });
  fc.assert(
    fc.property(crons, someTimes, (fields, someTime) => {
      const text = fields.join(' ');
      let cron: Cron;
      try {
        cron = parse(text);
      } catch (error) {
        expect(error).toHaveProperty('message', expect.stringContaining('never comes'));
        seen.never += 1;
        return;
      }
      seen.translated += 1;
      if (cron.schedulerExpressions.length === 2) seen.two += 1;
      expectSameReading(text, cron);
      // Frequent fires are compared on two days. Rare ones have the same forms of days.
      const isFrequent = countFires(cron.schedulerExpressions) > 300;
      if (!isFrequent) seen.whole += 1;
      expectSameFires(cron, isFrequent ? someTime : start, isFrequent ? someTime + 2 * dayMs : end);
    }),
    { seed: 4, numRuns: expressions },
  );
  expect(seen.translated).toBeGreaterThanOrEqual(0.98 * expressions);
  expect(seen.two).toBeGreaterThan(0.2 * expressions);
  expect(seen.whole).toBeGreaterThan(0.4 * expressions);
});
