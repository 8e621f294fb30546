/** Wall times: what clocks in a time zone show, written as if it were UTC, in epoch milliseconds. */

const formats = new Map<string, Intl.DateTimeFormat>();

/** @throws RangeError if the zone does not exist */
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

/** The zone's offset from UTC at a moment, in milliseconds. */
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

export function wallTimeAt(zone: string, moment: number): number {
  return moment + offsetAt(zone, moment);
}

/** The first moment at which clocks show a wall time; undefined if a clock change skips it. */
export function momentOf(zone: string, wall: number): number | undefined {
  const offsets = new Set([offsetAt(zone, wall - dayMs), offsetAt(zone, wall + dayMs)]);
  const moments = [...offsets].map((offset) => wall - offset);
  return moments.filter((moment) => wallTimeAt(zone, moment) === wall).sort((a, b) => a - b)[0];
}

/** Like `momentOf`, but a skipped wall time is moved forward by as much as the clocks. */
export function momentAtOrAfter(zone: string, wall: number): number {
  return momentOf(zone, wall) ?? wall - offsetAt(zone, wall - dayMs);
}
