import { dayMs } from '../shared/clock.ts';
import { recentlyUsed } from '../shared/recentlyUsed.ts';

/**
 * The local time of a zone. A wall time is given as the Unix milliseconds at which clocks in UTC would show
 * it.
 */
export interface WallClock {
  readonly wallAt: (time: number) => number;
  /** The first time at which clocks show `wall`; undefined if they skip it. */
  readonly firstTimeOf: (wall: number) => number | undefined;
}

const clocks = new Map<string, WallClock>();

/** @param timezone returned by {@link zoneName} */
export const wallClock = (timezone: string): WallClock =>
  recentlyUsed(clocks, timezone, () => clockOf(timezone));

function clockOf(timezone: string): WallClock {
  const format = new Intl.DateTimeFormat('en-US', { timeZone: timezone, timeZoneName: 'longOffset' });
  const offsetMs = (time: number): number => {
    const [, sign = '+', hours = '0', minutes = '0', seconds = '0'] =
      /GMT([+-])(\d\d):(\d\d)(?::(\d\d))?/.exec(format.format(time)) ?? [];
    return Number(`${sign}1`) * ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1000;
  };
  return {
    wallAt: (time) => time + offsetMs(time),
    firstTimeOf: (wall) => {
      // Offsets are less than a day. So these are the offsets before and after a clock change near this wall
      // time.
      const before = offsetMs(wall - dayMs);
      const after = offsetMs(wall + dayMs);
      if (before === after) return wall - before;
      const times = [wall - before, wall - after].filter((time) => time + offsetMs(time) === wall);
      return times.length === 0 ? undefined : Math.min(...times);
    },
  };
}

/** The short names in the time zone database. Others, such as IST, are ambiguous. */
const shortNames = new Set('CET EET EST GMT HST MET MST PRC ROC ROK UCT UTC WET'.split(' '));

/**
 * Finds a zone in the IANA time zone database, and returns its spelling there. For an alias, may return the
 * name to which it refers. EventBridge Scheduler knows these names, but not offsets.
 *
 * @returns undefined for an unknown name
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
