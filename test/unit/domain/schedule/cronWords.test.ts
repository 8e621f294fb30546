import { expect, it } from 'vitest';
import { inWords } from '../../../../lambdas/domain/schedule/cronWords.ts';
import { parseCron } from '../../../../lambdas/domain/schedule/cron.ts';

it.each([
  ['* * * * *', 'Every minute.'],
  ['*/15 * * * *', 'Every 15 minutes.'],
  ['*/7 * * * *', 'At minutes 0, 7, 14, 21, 28, 35, 42, 49 and 56 of every hour.'],
  ['5/15 * * * *', 'At minutes 5, 20, 35 and 50 of every hour.'],
  ['@hourly', 'Every hour.'],
  ['20 * * * *', 'Every hour, at minute 20.'],
  ['0 */2 * * *', 'Every 2 hours, every day.'],
  ['30 9 * * *', 'At 09:30, every day.'],
  ['0,30 9 * * *', 'At 09:00 and 09:30, every day.'],
  ['0 9-17 * * *', 'Every hour from 09:00 to 17:00, every day.'],
  ['*/10 9-17 * * MON-FRI', 'Every 10 minutes, from 09:00 to 17:59, on Monday to Friday.'],
  ['* 8-9,14 * * *', 'Every minute, from 08:00 to 09:59 and 14:00 to 14:59, every day.'],
  ['0 9 * * FRI-MON', 'At 09:00, on Friday to Monday.'],
  ['0 9 * * SAT-SUN,WED', 'At 09:00, on Wednesday, Saturday and Sunday.'],
  ['0 9 * * SUN-MON', 'At 09:00, on Sunday and Monday.'],
  ['0 9 * DEC,JAN,MAR-MAY *', 'At 09:00, every day, in March to May, December and January.'],
  ['0 22-2 * * *', 'At 00:00, 01:00, 02:00, 22:00 and 23:00, every day.'],
  ['0 9 * * 0', 'At 09:00, on Sunday.'],
  ['0 0 1 * *', 'At 00:00, on day 1 of the month.'],
  ['0 0 1-7,15 * *', 'At 00:00, on days 1 to 7 and 15 of the month.'],
  ['0 9 13 * FRI', 'At 09:00, on day 13 of the month and also on Friday.'],
  ['0 9 1 NOV-FEB *', 'At 09:00, on day 1 of the month, in November to February.'],
  ['@yearly', 'At 00:00, on day 1 of the month, in January.'],
  ['0 0 * 6-8 *', 'At 00:00, every day, in June to August.'],
])('%s is said as "%s"', (text, words) => {
  expect(inWords(parseCron('Svc-Cron', text).fields)).toBe(words);
});
