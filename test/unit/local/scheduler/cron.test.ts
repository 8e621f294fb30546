import { expect, test } from 'vitest';
import { wallClock } from '../../../../lambdas/value/wallClock.ts';
import { ExpressionError, nextCronTime, parseCron } from '../../../../local/scheduler/cron.ts';

/** Returns the next times of an expression, as ISO texts without seconds. */
function nextTimes(fields: string, after: string, zone = 'UTC', count = 3): string[] {
  const cron = parseCron(fields);
  const times: string[] = [];
  let last: number | undefined = Date.parse(after);
  while (times.length < count) {
    last = nextCronTime(cron, wallClock(zone), last);
    if (last === undefined) break;
    times.push(new Date(last).toISOString().slice(0, 16));
  }
  return times;
}

test.each([
  ['* * * * ? *', ['2027-01-01T00:01', '2027-01-01T00:02', '2027-01-01T00:03']],
  ['0/45 12 ? * * *', ['2027-01-01T12:00', '2027-01-01T12:45', '2027-01-02T12:00']],
  ['0/20 8-9 * * ? *', ['2027-01-01T08:00', '2027-01-01T08:20', '2027-01-01T08:40']],
  ['15-16,59 6 1 * ? *', ['2027-01-01T06:15', '2027-01-01T06:16', '2027-01-01T06:59']],
  ['0 0 31 * ? *', ['2027-01-31T00:00', '2027-03-31T00:00', '2027-05-31T00:00']],
  ['0 0 29 2 ? *', ['2028-02-29T00:00', '2032-02-29T00:00', '2036-02-29T00:00']],
  ['0 0 ? * 1 *', ['2027-01-03T00:00', '2027-01-10T00:00', '2027-01-17T00:00']],
  ['0 0 ? * 2-6 *', ['2027-01-04T00:00', '2027-01-05T00:00', '2027-01-06T00:00']],
  ['0 0 30 2 ? *', []],
])('cron(%s) fires at %j', (fields, times) => {
  expect(nextTimes(fields, '2027-01-01T00:00:00Z')).toEqual(times);
});

test('a wall time that clocks skip does not fire', () => {
  // In Berlin 02:00 becomes 03:00 on the 28th of March 2027.
  expect(nextTimes('30 2 * * ? *', '2027-03-26T12:00:00Z', 'Europe/Berlin')).toEqual([
    '2027-03-27T01:30',
    '2027-03-29T00:30',
    '2027-03-30T00:30',
  ]);
});

test('a wall time that clocks show twice fires only the first time', () => {
  // In Berlin 03:00 becomes 02:00 on the 31st of October 2027.
  expect(nextTimes('30 2 * * ? *', '2027-10-30T12:00:00Z', 'Europe/Berlin', 2)).toEqual([
    '2027-10-31T00:30',
    '2027-11-01T01:30',
  ]);
  expect(nextTimes('0/30 * * * ? *', '2027-10-30T23:45:00Z', 'Europe/Berlin', 4)).toEqual([
    '2027-10-31T00:00',
    '2027-10-31T00:30',
    '2027-10-31T02:00',
    '2027-10-31T02:30',
  ]);
});

test.each([
  ['* * * * *', 'has 6 fields, this one has 5'],
  ['* * * * * *', 'exactly one of'],
  ['0 0 1 * 2 *', 'exactly one of'],
  ['60 * * * ? *', 'minutes field takes values from 0 to 59'],
  ['* 24 * * ? *', 'hours field'],
  ['* * LW * ? *', 'day-of-month field'],
  ['* * * 13 ? *', 'month field'],
  ['* * ? * 0 *', 'day-of-week field'],
  ['* * ? * 8 *', 'day-of-week field'],
  ['* * * * ? 2027', 'year field'],
  ['* * ? * 2/2 *', 'day-of-week field'],
  ['15-20/5 * * * ? *', 'minutes field'],
  ['*,5 * * * ? *', 'minutes field'],
  ['/5 * * * ? *', 'minutes field'],
  ['0/0 * * * ? *', 'minutes field'],
  ['0/60 * * * ? *', 'minutes field'],
  ['5-1 * * * ? *', 'minutes field'],
  ['1-2-3 * * * ? *', 'minutes field'],
  ['1, * * * ? *', 'minutes field'],
])('cron(%s) is refused: %s', (fields, reason) => {
  expect(() => parseCron(fields)).toThrow(ExpressionError);
  expect(() => parseCron(fields)).toThrow(reason);
});
