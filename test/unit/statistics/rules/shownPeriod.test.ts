import { expect, it } from 'vitest';
import { shownPeriod } from '../../../../lambdas/statistics/rules/shownPeriod.ts';

it.each([
  ['2026-11-20T23:59:59Z', '2026-10-22', '2026-11-01', '2026-10-22'],
  ['2026-11-01T00:00:00Z', '2026-10-03', '2026-11-01', '2026-10-03'],
  ['2026-11-20T00:00:00Z', '2026-10-22', '2026-11-01', '2026-10-22'],
  ['2027-03-01T00:00:00Z', '2027-01-31', '2027-03-01', '2027-01-31'],
  // The month has more days than are shown.
  ['2026-10-31T12:00:00Z', '2026-10-02', '2026-10-01', '2026-10-01'],
])(
  'At %s the days since %s are shown, and the rows since then or since the month’s start are read',
  (time, oldest, month, first) => {
    const { days, ...rest } = shownPeriod(Date.parse(time));
    expect(rest).toEqual({ today: time.slice(0, 10), month, first });
    expect(days).toHaveLength(30);
    expect([days[0], days.at(-1)]).toEqual([oldest, time.slice(0, 10)]);
  },
);
