import { dayMs } from '../shared/clock.ts';

/**
 * The clocks of a zone. A wall time is a number, too: the Unix milliseconds at which the clocks of UTC show the same.
 */
export interface WallClock {
  readonly wallAt: (time: number) => number;
  /** The first time at which the clocks show `wall`; undefined where they skip it. */
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

/** The names of three letters in the time zone database. Others, such as IST, are ambiguous. */
const shortNames = new Set('CET EET EST GMT HST MET MST PRC ROC ROK UCT UTC WET'.split(' '));

/**
 * Finds a zone in the IANA time zone database, and gives its name in the database's spelling; for an alias, this may be the
 * name of the zone it stands for. EventBridge Scheduler knows the names of this database, and no offsets.
 *
 * @returns undefined for a name that is not in the database
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
