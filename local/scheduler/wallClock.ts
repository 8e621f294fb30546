/** Wall times: the times that clocks in a zone show. A wall time is written as if it were UTC, in epoch milliseconds. */

const formats = new Map<string, Intl.DateTimeFormat>();

/** @throws RangeError when the zone does not exist */
function formatOf(zone: string): Intl.DateTimeFormat {
  const known = formats.get(zone);
  if (known !== undefined) return known;
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: zone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
  formats.set(zone, format);
  return format;
}

/** Whether a name is in the IANA time zone database. Bare offsets, such as `+01:00`, are not. */
export function isTimeZone(zone: string): boolean {
  if (!/^[A-Za-z]/.test(zone)) return false;
  try {
    formatOf(zone);
    return true;
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}

const dayMs = 86_400_000;

/** The lead of the zone's clocks over UTC at a moment, in milliseconds. */
function offsetAt(zone: string, moment: number): number {
  if (zone === 'UTC') return 0;
  const seconds = Math.floor(moment / 1000) * 1000;
  const parts = new Map<string, number>();
  for (const { type, value } of formatOf(zone).formatToParts(seconds)) parts.set(type, Number(value));
  const part = (type: string): number => parts.get(type) ?? 0;
  const wall = Date.UTC(
    part('year'),
    part('month') - 1,
    part('day'),
    part('hour'),
    part('minute'),
    part('second'),
  );
  return wall - seconds;
}

/** The wall time that clocks show at a moment. */
export function wallTimeAt(zone: string, moment: number): number {
  return moment + offsetAt(zone, moment);
}

/** The first moment at which clocks show a wall time; undefined when they skip it as they are put forward. */
export function momentOf(zone: string, wall: number): number | undefined {
  const offsets = new Set([offsetAt(zone, wall - dayMs), offsetAt(zone, wall + dayMs)]);
  const moments = [...offsets].map((offset) => wall - offset);
  return moments.filter((moment) => wallTimeAt(zone, moment) === wall).sort((a, b) => a - b)[0];
}

/** Like `momentOf`, but a wall time that clocks skip is moved by as much as they are put forward. */
export function momentAtOrAfter(zone: string, wall: number): number {
  return momentOf(zone, wall) ?? wall - offsetAt(zone, wall - dayMs);
}
