/** Checks of lanes: the moments at which a pump has to come, because no change of the lane would let the waiting attempts go on. */
import { isOpen } from '../../circuit/circuit.ts';
import { type Lane, freeSlots, hasCapacity, hasDeletedLines, isLineEmpty, mostLeases } from '../lane.ts';
import { freeStarts, nextFreeStart } from './rate.ts';

/** The time from the deletion of a queue to the cancelling of its messages. */
const deletionPauseMs = 100;

/** No other pump is sent for this long after one that cancels them: its function ends after 60 s. */
const cancellationMs = 70_000;

/**
 * Finds when a pump has to check a lane in which attempts wait, though nothing happens to it: when its rate allows a start
 * again, when a lease ends whose process may have died, or when an open circuit takes a probe.
 *
 * @returns Unix milliseconds; undefined where no pump has to come
 */
export function nextCheckAt(lane: Lane, now: number): number | undefined {
  const checkAt = nextCheckOfLine(lane, now);
  if (!hasDeletedLines(lane)) return checkAt;
  // The messages of a deleted queue are to be cancelled, also where the queue has been made again.
  return Math.min(checkAt ?? Infinity, Math.max(now + deletionPauseMs, lane.pumpAt + cancellationMs));
}

function nextCheckOfLine(lane: Lane, now: number): number | undefined {
  if (lane.isPaused || isLineEmpty(lane)) return undefined;
  // One write does not grant slots to all for whom there is capacity.
  if (hasCapacity(lane, now)) return now;
  const { circuit } = lane;
  if (circuit !== undefined && isOpen(circuit) && circuit.openUntil > now) return circuit.openUntil;
  const checks: number[] = [];
  if (freeStarts(lane, now) === 0) checks.push(nextFreeStart(lane, now));
  if (freeSlots(lane, now) === 0 || lane.leases.size >= mostLeases) {
    const ends = [...lane.leases.values()].flatMap(({ until }) => until ?? []);
    if (ends.length > 0) checks.push(Math.min(...ends));
  }
  return checks.length === 0 ? undefined : Math.max(...checks);
}
