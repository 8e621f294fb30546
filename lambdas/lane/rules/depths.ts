/** The depth of a lane: the most attempts that waited in it, by hour. */
import { hourMs } from '../../shared/clock.ts';
import { waitingIn, type Lane } from '../lane.ts';

export const depthHours = 24;

type Depths = ReadonlyMap<number, number>;

const hourOf = (time: number): number => Math.floor(time / hourMs);

const digits = 36;

/**
 * Parses a row's depths: the last hour, its depth and the earlier ones, such as `a98h:5,,1f`. The format is
 * short because writes are billed by the kilobyte.
 */
function parse(text = ''): Depths {
  const [last = '', depths] = text.split(':');
  if (depths === undefined) return new Map();
  return new Map(
    depths
      .split(',')
      .flatMap((depth, back) =>
        depth === '' ? [] : [[parseInt(last, digits) - back, parseInt(depth, digits)] as const],
      ),
  );
}

function format(depths: Depths): string | undefined {
  if (depths.size === 0) return undefined;
  const [last, first] = [Math.max(...depths.keys()), Math.min(...depths.keys())];
  const texts = Array.from(
    { length: last - first + 1 },
    (_, back) => depths.get(last - back)?.toString(digits) ?? '',
  );
  return `${last.toString(digits)}:${texts.join(',')}`;
}

/** @param text from the row; undefined if nothing waited */
export function noteDepth(
  text: string | undefined,
  { before, after }: { readonly before: number; readonly after: number },
  time: number,
): string | undefined {
  if (text === undefined && before === 0 && after === 0) return undefined;
  const depths = new Map(parse(text));
  const hour = hourOf(time);
  const note = (at: number, depth: number): void => {
    if (depth > 0) depths.set(at, Math.max(depth, depths.get(at) ?? 0));
  };
  const oldest = hour - depthHours + 1;
  // Nothing has changed since the last write. So if attempts wait, they waited in each hour since.
  const lastWrite = Math.max(...depths.keys(), oldest);
  for (let at = depths.size === 0 ? hour : lastWrite; at <= hour; at += 1) note(at, before);
  note(hour, after);
  return format(new Map([...depths].filter(([at]) => at >= oldest)));
}

export function withDepth(before: Lane, after: Lane, time: number): Lane {
  if (after === before || (after.kind !== 'queue' && after.kind !== 'key')) return after;
  const waiting = { before: waitingIn(before), after: waitingIn(after) };
  const depths = noteDepth(before.depths, waiting, time);
  return depths === after.depths ? after : { ...after, depths };
}

export interface Depth {
  /** The beginning of the hour. */
  readonly from: number;
  readonly depth: number;
}

/** The depths of a lane's last hours, oldest first. */
export const depthsOf = (lane: Lane, time: number): readonly Depth[] =>
  depthsAt(lane.depths, waitingIn(lane), time);

export function depthsAt(text: string | undefined, waiting: number, time: number): readonly Depth[] {
  const depths = parse(noteDepth(text, { before: waiting, after: waiting }, time));
  const first = hourOf(time) - depthHours + 1;
  return Array.from({ length: depthHours }, (_, index) => ({
    from: (first + index) * hourMs,
    depth: depths.get(first + index) ?? 0,
  }));
}
