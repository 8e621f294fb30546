import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fires, nextFire, parseCron } from '../../../lambdas/schedule/cron.ts';
import { HttpError } from '../../../lambdas/error/httpError.ts';
import { sampleOf } from '../../support/sample.ts';

const parse = (text: string) => parseCron('Svc-Cron', text);
const expressionsOf = (text: string): readonly string[] => parse(text).schedulerExpressions;
const firesFrom = (text: string, after: string, count: number): string[] => {
  const times: string[] = [];
  for (const time of fires(parse(text), Date.parse(after))) {
    times.push(new Date(time).toISOString().slice(0, 16));
    if (times.length === count) break;
  }
  return times;
};

describe('a cron expression', () => {
  it.each([
    // Values, names, lists, ranges and steps.
    ['* * * * *', 'cron(* * * * ? *)'],
    ['0,30 9 * * *', 'cron(0,30 9 * * ? *)'],
    ['0 9-17 * * *', 'cron(0 9-17 * * ? *)'],
    ['0 9-17,12-20 * * *', 'cron(0 9-20 * * ? *)'],
    ['*/15 * * * *', 'cron(0/15 * * * ? *)'],
    ['5-40/15 * * * *', 'cron(5,20,35 * * * ? *)'],
    ['5,* * * * *', 'cron(* * * * ? *)'],
    ['0 0 1 jan,Jul *', 'cron(0 0 1 1,7 ? *)'],
    ['0 9 * * MON-FRI', 'cron(0 9 ? * 2-6 *)'],
    ['0 9 * * */2', 'cron(0 9 ? * 1,3,5,7 *)'],
    // Ranges that wrap around.
    ['0 9 * * FRI-MON', 'cron(0 9 ? * 1,2,6,7 *)'],
    ['0 9 * * FRI-TUE/2', 'cron(0 9 ? * 1,3,6 *)'],
    ['50-10/5 * * * *', 'cron(0,5,10,50,55 * * * ? *)'],
    // The words.
    ['@hourly', 'cron(0 * * * ? *)'],
    ['@weekly', 'cron(0 0 ? * 1 *)'],
    ['@ANNUALLY', 'cron(0 0 1 1 ? *)'],
    ['CRON_TZ=Europe/Berlin @daily', 'cron(0 0 * * ? *)'],
    // A date that does not exist in every month or year.
    ['0 0 29 2 *', 'cron(0 0 29 2 ? *)'],
    // Both day fields are restricted, but only one of them has an effect.
    ['0 0 31 2 MON', 'cron(0 0 ? 2 2 *)'],
    ['0 0 1-31 * MON', 'cron(0 0 * * ? *)'],
    ['0 0 */1 * MON', 'cron(0 0 ? * 2 *)'],
  ])('%s is one expression, %s', (text, expression) => {
    expect(expressionsOf(text)).toEqual([expression]);
  });

  it.each([
    ['0 0 1 * MON', 'cron(0 0 1 * ? *)', 'cron(0 0 ? * 2 *)'],
    ['0 0 13 * FRI', 'cron(0 0 13 * ? *)', 'cron(0 0 ? * 6 *)'],
    ['*/5 9-17 1,15 JAN SAT-SUN', 'cron(0/5 9-17 1,15 1 ? *)', 'cron(0/5 9-17 ? 1 1,7 *)'],
    ['0 0 */2 * MON', 'cron(0 0 1/2 * ? *)', 'cron(0 0 ? * 2 *)'],
    ['0 0 1 * */2', 'cron(0 0 1 * ? *)', 'cron(0 0 ? * 1,3,5,7 *)'],
  ])('%s restricts both day fields, and fires if either matches: %s, %s', (text, ...expressions) => {
    expect(expressionsOf(text)).toEqual(expressions);
  });

  it('keeps its text, and is in UTC if it names no zone', () => {
    expect(parse('  0 9 * * *\n')).toMatchObject({ text: '0 9 * * *', timezone: 'UTC' });
  });

  it.each([
    ['CRON_TZ=Europe/Berlin 0 9 * * *', 'Europe/Berlin'],
    ['CRON_TZ=america/new_york  0 9 * * *', 'America/New_York'],
    ['CRON_TZ=America/Argentina/Ushuaia 0 9 * * *', 'America/Argentina/Ushuaia'],
    ['CRON_TZ=Etc/GMT+5 0 9 * * *', 'Etc/GMT+5'],
  ])('%j is in the zone %s', (text, timezone) => {
    expect(parse(text).timezone).toBe(timezone);
  });

  it('with the longest lists fits into the 256 characters of an expression', () => {
    const list = (from: number, to: number, skip: number): string =>
      Array.from({ length: to - from + 1 }, (_, index) => from + index)
        .filter((_, index) => index % 3 !== skip)
        .join(',');
    const text = `${list(0, 59, 0)} ${list(0, 23, 0)} ${list(1, 31, 0)} ${list(1, 12, 0)} *`;
    const [expression = ''] = expressionsOf(text);
    expect(expression.length).toBeLessThanOrEqual(256);
    expect(expression).toMatch(/^cron\(1,2,4,5,/);
    const everySecondRun = '0-10,12-30,32-59 0-10,12-23 1-7,9-20,22-31 1-5,7-12 *';
    const [ranges = ''] = expressionsOf(everySecondRun);
    expect(ranges).toBe(`cron(${everySecondRun.replace(' *', '')} ? *)`);
  });
});

describe('a wrong cron expression', () => {
  it.each([
    ['', 'there is no expression. Allowed are five fields (minute, hour, day of month, month, day of week;'],
    ['0 * * * * *', 'the number of its fields is 6. Allowed are five fields'],
    ['constructor', 'the number of its fields is 1'],
    ['@reboot', 'the word "@reboot" is unknown. Allowed are five fields'],
    ['@every 5m', 'the word "@every 5m" is unknown'],
    ['@', 'or one of @hourly, @daily, @midnight, @weekly, @monthly, @yearly, @annually, and CRON_TZ=<zone>'],
    ['x'.repeat(501), 'it has 501 characters. Allowed are 500.'],

    [
      '60 * * * *',
      'in the minute field, "60" is out of range. Allowed are 0 to 59, *, ranges (a-b), lists (a,b)',
    ],
    ['1-2-3 * * * *', 'in the minute field, "1-2-3" cannot be read'],
    ['/5 * * * *', 'in the minute field, "/5" cannot be read'],
    ['*/0 * * * *', 'in the minute field, the step of "*/0" is not 1 to 60'],
    ['*/61 * * * *', 'in the minute field, the step of "*/61" is not 1 to 60'],
    ['1,,2 * * * *', 'in the minute field, an entry is empty'],
    ['MON * * * *', 'in the minute field, "MON" is no value'],
    ['0 24 * * *', 'in the hour field, "24" is out of range. Allowed are 0 to 23, *'],
    ['0 100 * * *', 'in the hour field, "100" is no value'],
    ['0 0 0 * *', 'in the day of month field, "0" is out of range. Allowed are 1 to 31, *'],
    ['0 0 L * *', 'in the day of month field, "L" is not supported'],
    ['0 0 ? * MON', 'in the day of month field, "?" is not supported'],
    ['0 0 * 13 *', 'in the month field, "13" is out of range. Allowed are 1 to 12 or JAN to DEC, *'],
    ['0 0 * JAN-FOO *', 'in the month field, "FOO" is no value'],
    [
      '0 0 * * 8',
      'in the day of week field, "8" is out of range. Allowed are 0 to 7 (0 and 7 are Sunday) or SUN',
    ],
    ['0 0 * * 5L', 'in the day of week field, "5L" is not supported'],
    ['0 0 * * +MON', 'in the day of week field, "+MON" cannot be read'],
    ['0 0 * * */8', 'in the day of week field, the step of "*/8" is not 1 to 7'],

    [
      '0 0 30 2 *',
      'the day of month "30" never comes in the month "2". Allowed in the day of month field is a day',
    ],

    [
      'CRON_TZ=Mars/Olympus 0 9 * * *',
      'the zone "Mars/Olympus" is unknown. Allowed is a name of the IANA time zone',
    ],
    ['CRON_TZ= 0 9 * * *', 'the zone "" is unknown'],
    ['CRON_TZ=+02:00 0 9 * * *', 'the zone "+02:00" is unknown'],
    ['CRON_TZ=IST 0 9 * * *', 'the zone "IST" is unknown'],
    ['cron_tz=Europe/Berlin 0 9 * * *', 'the number of its fields is 6'],
  ])('%j is refused: %s', (text, says) => {
    try {
      parse(text);
      expect.unreachable();
    } catch (error) {
      expect(error).toBeInstanceOf(HttpError);
      expect(error).toHaveProperty('status', 400);
      expect(error).toHaveProperty('message', expect.stringMatching(/^Svc-Cron is ".*": .*\. Allowed .*\.$/));
      expect(error).toHaveProperty('message', expect.stringContaining(says));
    }
  });

  it('is refused with the same error for any text', () => {
    const pieces = fc.constantFrom(
      ...'0159*/-,? \tLW#@+x'.split(''),
      'MON',
      'feb',
      ' * * * ',
      'CRON_TZ=',
      'UTC ',
    );
    const texts = fc.oneof(
      fc.string(),
      fc.array(pieces, { maxLength: 40 }).map((list) => list.join('')),
    );
    fc.assert(
      fc.property(texts, (text) => {
        try {
          expect(parse(text).schedulerExpressions.length).toBeGreaterThan(0);
        } catch (error) {
          expect(error).toBeInstanceOf(HttpError);
        }
      }),
      { numRuns: sampleOf(2_000) },
    );
  });
});

describe('the next fire', () => {
  it.each([
    ['* * * * *', '2027-01-01T00:00:00Z', '2027-01-01T00:01'],
    ['* * * * *', '2026-12-31T23:59:59.999Z', '2027-01-01T00:00'],
    ['0 0 29 2 *', '2027-01-01T00:00:00Z', '2028-02-29T00:00'],
    ['0 0 29 2 *', '2096-03-01T00:00:00Z', '2104-02-29T00:00'],
    ['0 0 31 2 MON', '2027-02-22T00:00:00Z', '2028-02-07T00:00'],
    ['CRON_TZ=Asia/Kolkata 0 0 * * *', '2027-01-01T00:00:00Z', '2027-01-01T18:30'],
    ['CRON_TZ=Pacific/Kiritimati 0 0 1 1 *', '2026-06-01T00:00:00Z', '2026-12-31T10:00'],
    ['CRON_TZ=America/New_York 0 9 * * *', '2027-01-01T00:00:00Z', '2027-01-01T14:00'],
    ['CRON_TZ=America/New_York 0 9 * * *', '2027-07-01T00:00:00Z', '2027-07-01T13:00'],
  ])('of %j after %s is at %s', (text, after, at) => {
    expect(nextFire(parse(text), Date.parse(after))).toBe(Date.parse(`${at}Z`));
  });

  it('on the 13th or on a Friday is one fire if both match', () => {
    expect(firesFrom('0 0 13 * FRI', '2027-08-01T00:00:00Z', 4)).toEqual([
      '2027-08-06T00:00',
      '2027-08-13T00:00',
      '2027-08-20T00:00',
      '2027-08-27T00:00',
    ]);
  });

  it.each([
    ['0 0 1,31 * *', '2027-02-27T00:00:00Z', ['2027-03-01T00:00', '2027-03-31T00:00', '2027-04-01T00:00']],
    ['0 0 2,30 2,3 *', '2027-02-27T00:00:00Z', ['2027-03-02T00:00', '2027-03-30T00:00', '2028-02-02T00:00']],
    ['0 0 31 * MON', '2027-02-23T00:00:00Z', ['2027-03-01T00:00', '2027-03-08T00:00', '2027-03-15T00:00']],
    ['59 23 */3 * *', '2028-02-28T12:00:00Z', ['2028-02-28T23:59', '2028-03-01T23:59', '2028-03-04T23:59']],
  ])('of %j goes from the end of February to the first days of March', (text, after, at) => {
    expect(firesFrom(text, after, 3)).toEqual(at);
  });

  it.each([
    ['later, before that fire', '2027-01-01T08:59:59.999Z', '2027-01-01T09:00'],
    ['at that fire', '2027-01-01T09:00:00Z', '2027-01-02T09:00'],
    ['earlier, after the clock stepped back', '2026-12-31T08:00:00Z', '2026-12-31T09:00'],
  ])('is right when it is asked for again %s', (_when, after, at) => {
    const cron = parse('0 9 * * *');
    expect(nextFire(cron, Date.parse('2027-01-01T00:00:00Z'))).toBe(Date.parse('2027-01-01T09:00Z'));
    expect(nextFire(parse(' 0 9 * * * '), Date.parse(after))).toBe(Date.parse(`${at}Z`));
  });

  it('does not exist after the calendar’s end', () => {
    expect(nextFire(parse('0 0 1 1 *'), Date.UTC(3000, 5))).toBeUndefined();
  });
});

describe('when the clocks change', () => {
  // Berlin: 28 March 2027, 02:00 becomes 03:00 (01:00 UTC); 31 October 2027, 03:00 becomes 02:00 (01:00 UTC).
  it('a fire in the missing hour is skipped', () => {
    expect(firesFrom('CRON_TZ=Europe/Berlin 30 2 * * *', '2027-03-26T12:00:00Z', 3)).toEqual([
      '2027-03-27T01:30',
      '2027-03-29T00:30',
      '2027-03-30T00:30',
    ]);
  });

  it('fires around the missing hour do not move', () => {
    expect(firesFrom('CRON_TZ=Europe/Berlin */30 * * * *', '2027-03-28T00:00:00Z', 4)).toEqual([
      '2027-03-28T00:30',
      '2027-03-28T01:00',
      '2027-03-28T01:30',
      '2027-03-28T02:00',
    ]);
  });

  it('a fire in the repeated hour happens once, in its first pass', () => {
    expect(firesFrom('CRON_TZ=Europe/Berlin 30 2 * * *', '2027-10-29T12:00:00Z', 3)).toEqual([
      '2027-10-30T00:30',
      '2027-10-31T00:30',
      '2027-11-01T01:30',
    ]);
  });

  it('many fires in the repeated hour happen once each, too', () => {
    expect(firesFrom('CRON_TZ=Europe/Berlin */30 * * * *', '2027-10-30T23:30:00Z', 4)).toEqual([
      '2027-10-31T00:00',
      '2027-10-31T00:30',
      '2027-10-31T02:00',
      '2027-10-31T02:30',
    ]);
  });

  it('the next fire as seen from the second pass is after it', () => {
    expect(firesFrom('CRON_TZ=Europe/Berlin * * * * *', '2027-10-31T01:10:00Z', 1)).toEqual([
      '2027-10-31T02:00',
    ]);
  });

  // Lord Howe: 4 April 2027, 02:00 becomes 01:30 (15:00 UTC on the 3rd); 3 October 2027, 02:00 becomes 02:30.
  it('a zone that changes by half an hour repeats and skips half an hour', () => {
    expect(firesFrom('CRON_TZ=Australia/Lord_Howe */15 1,2 * * *', '2027-04-03T13:59:00Z', 5)).toEqual([
      '2027-04-03T14:00',
      '2027-04-03T14:15',
      '2027-04-03T14:30',
      '2027-04-03T14:45',
      '2027-04-03T15:30',
    ]);
    expect(firesFrom('CRON_TZ=Australia/Lord_Howe 15,45 2 * * *', '2027-10-02T00:00:00Z', 2)).toEqual([
      '2027-10-02T15:45',
      '2027-10-03T15:15',
    ]);
  });

  // Santiago, 4 September 2027 at 24:00: 00:00 becomes 01:00 on the 5th.
  it('a day whose midnight does not exist has no fire at midnight', () => {
    expect(firesFrom('CRON_TZ=America/Santiago 0 0 * * *', '2027-09-03T12:00:00Z', 3)).toEqual([
      '2027-09-04T04:00',
      '2027-09-06T03:00',
      '2027-09-07T03:00',
    ]);
  });
});
