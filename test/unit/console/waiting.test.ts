import { describe, expect, it } from 'vitest';
import {
  waitingByDay,
  waitingByHour,
  type Flow,
  type Flows,
} from '../../../console/src/screens/overview/waiting.ts';

const hourMs = 3_600_000;
const flow = (accepted: number, delivered = 0, failed = 0, cancelled = 0): Flow => ({
  accepted,
  delivered,
  failed,
  cancelled,
});
const day = (name: string, ...counts: Parameters<typeof flow>) => ({ day: name, ...flow(...counts) });
const hoursFrom = (beginning: string, flows: readonly Flow[]): Flows['hours'] =>
  flows.map((one, index) => ({ hour: Date.parse(beginning) + index * hourMs, ...one }));

describe('the waiting messages at the end of each day', () => {
  it('are those that were accepted and have not ended', () => {
    const days = [day('2026-11-20', 10, 4), day('2026-11-21', 5, 3, 2, 1), day('2026-11-22', 0, 4)];
    expect(waitingByDay({ days, hours: [] })).toEqual([6, 5, 1]);
  });

  it('are never fewer than zero', () => {
    const days = [day('2026-11-21', 3, 4), day('2026-11-22', 2, 1)];
    expect(waitingByDay({ days, hours: [] })).toEqual([0, 1]);
  });
});

describe('the waiting messages at the end of each hour', () => {
  it('include those that waited before the first hour, even in the middle of a day', () => {
    // 10 of the first day’s 12 were accepted before the shown hours.
    const days = [day('2026-11-20', 12, 1), day('2026-11-21', 4, 5)];
    const hours = hoursFrom('2026-11-20T22:00:00Z', [flow(2), flow(0, 1), flow(4, 1), flow(0, 4)]);
    expect(waitingByHour({ days, hours })).toEqual([12, 11, 14, 10]);
    expect(waitingByDay({ days, hours })).toEqual([11, 10]);
  });

  it('are undefined if nothing is known', () => {
    expect(waitingByHour({ days: [], hours: [] })).toEqual([]);
    expect(
      waitingByHour({ days: [], hours: hoursFrom('2026-11-20T22:00:00Z', [flow(0, 1), flow(1)]) }),
    ).toEqual([0, 1]);
  });
});
