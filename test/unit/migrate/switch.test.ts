import { describe, expect, it } from 'vitest';
import { fires, parseCron } from '../../../lambdas/schedule/cron.ts';
import { quietInMs } from '../../../migrate/switch.ts';

const minuteMs = 60_000;
const at = (time: string): number => Date.parse(`2026-03-10T${time}Z`);
const quietIn = (cron: string, time: string) => quietInMs(parseCron('cron', cron), at(time));

describe('the time at which a schedule is switched', () => {
  it('is now if no fire is near', () => {
    expect(quietIn('0 9 * * *', '12:00:00')).toBe(0);
    expect(quietIn('0 0 29 2 *', '12:00:00')).toBe(0);
    expect(quietIn('CRON_TZ=Europe/Berlin 0 9 * * *', '09:00:00')).toBe(0);
  });

  it('is two minutes after a near fire', () => {
    expect(quietIn('0 9 * * *', '08:58:01')).toBe(239_000);
    expect(quietIn('0 9 * * *', '09:00:00')).toBe(120_000);
    expect(quietIn('0 9 * * *', '09:01:59')).toBe(1_000);
    expect(quietIn('CRON_TZ=Europe/Berlin 0 9 * * *', '08:00:00')).toBe(120_000);
  });

  it('is at least two minutes away from any fire', () => {
    for (const text of ['*/5 * * * *', '*/6 * * * *', '0,5,20 * * * *', '59 * * * *']) {
      const cron = parseCron('cron', text);
      for (let now = at('10:00:00'); now < at('11:00:00'); now += 17_000) {
        const moment = now + (quietInMs(cron, now) ?? NaN);
        for (const fire of fires(cron, now - 10 * minuteMs)) {
          expect(Math.abs(fire - moment)).toBeGreaterThanOrEqual(2 * minuteMs);
          if (fire > moment) break;
        }
      }
    }
  });

  it('does not exist for a schedule that fires every few minutes', () => {
    for (const cron of ['* * * * *', '*/2 * * * *', '*/3 * * * *']) {
      expect(quietIn(cron, '12:00:30')).toBeUndefined();
    }
  });
});
