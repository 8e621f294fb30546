import { dayMs } from '../clock.ts';

/** A zone's clocks on the wall. Wall time is in milliseconds too: those at which UTC's clocks show the same. */
export interface WallClock {
  readonly wallAt: (time: number) => number;
  /** The first time at which the clocks show `wall`; none where they skip it. */
  readonly firstTimeOf: (wall: number) => number | undefined;
}

/** @param timezone as {@link zoneName} gives it */
export function wallClock(timezone: string): WallClock {
  const format = new Intl.DateTimeFormat('en-US', { timeZone: timezone, timeZoneName: 'longOffset' });
  const offsetMs = (time: number): number => {
    const [, sign = '+', hours = '0', minutes = '0', seconds = '0'] =
      /GMT([+-])(\d\d):(\d\d)(?::(\d\d))?/.exec(format.format(time)) ?? [];
    return Number(`${sign}1`) * ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1000;
  };
  return {
    wallAt: (time) => time + offsetMs(time),
    firstTimeOf: (wall) => {
      // No zone is a day away from UTC: these are the offsets before and after a change near this wall time.
      const before = offsetMs(wall - dayMs);
      const after = offsetMs(wall + dayMs);
      if (before === after) return wall - before;
      const times = [wall - before, wall - after].filter((time) => time + offsetMs(time) === wall);
      return times.length === 0 ? undefined : Math.min(...times);
    },
  };
}

/** Those of the time zone database. Any other three letters are ambiguous (IST) and no zone's name. */
const shortNames = new Set('CET EET EST GMT HST MET MST PRC ROC ROK UCT UTC WET'.split(' '));

/**
 * The name under which the IANA time zone database knows a zone: in its spelling, and perhaps that of the zone for
 * which the given name is an alias. EventBridge Scheduler knows the names of this database and no offsets.
 */
export function zoneName(name: string): string | undefined {
  if (!/^[a-z]/i.test(name) || (name.length === 3 && !shortNames.has(name.toUpperCase()))) return undefined;
  try {
    return new Intl.DateTimeFormat('en-US', { timeZone: name }).resolvedOptions().timeZone;
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}
