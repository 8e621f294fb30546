/** How many attempts waited in a lane at most, in each of the last hours. */
import { hourMs } from '../../shared/clock.ts';
import { waitingIn, type Lane } from '../lane.ts';

/** Hours that are kept, the current one included. */
export const depthHours = 24;

/** The most that waited, by hours since the epoch. Hours in which nothing waited are left out. */
type Depths = ReadonlyMap<number, number>;

const hourOf = (time: number): number => Math.floor(time / hourMs);

const digits = 36;

/**
 * Reads depths as a lane's row has them: the last hour, and the depths from it back, as in `a98h:5,,1f`. The row is written at each
 * change and billed by the kilobyte, so it has no more than that.
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

/**
 * Notes how many wait before and after a write of a lane. Between two writes their number stays the same.
 *
 * @param text as the row has it; undefined for a lane in which nothing waited
 * @param time Unix milliseconds
 */
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
  // Where some wait, the last hour that was noted is that of the last write.
  const lastWrite = Math.max(...depths.keys(), oldest);
  for (let at = depths.size === 0 ? hour : lastWrite; at <= hour; at += 1) note(at, before);
  note(hour, after);
  return format(new Map([...depths].filter(([at]) => at >= oldest)));
}

/** Notes the depth in the row of a queue or a key that is about to be written. */
export function withDepth(before: Lane, after: Lane, time: number): Lane {
  if (after === before || (after.kind !== 'queue' && after.kind !== 'key')) return after;
  const waiting = { before: waitingIn(before), after: waitingIn(after) };
  const depths = noteDepth(before.depths, waiting, time);
  return depths === after.depths ? after : { ...after, depths };
}

/** The depth of an hour. */
export interface Depth {
  /** Unix milliseconds at which the hour begins. */
  readonly from: number;
  readonly depth: number;
}

/** Shows the depths of a lane's last hours, the oldest first. */
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
