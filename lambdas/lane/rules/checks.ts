/** When a pump has to check a lane, because no change would start its waiting attempts. */
import { isOpen } from '../../circuit/circuit.ts';
import { type Lane, freeSlots, hasCapacity, hasDeletedLines, isLineEmpty, mostLeases } from '../lane.ts';
import { freeStarts, nextFreeStart } from './rate.ts';

/** From a queue's deletion to the cancellation of its messages. */
const deletionPauseMs = 100;

/** The pause before another cancelling pump: its function times out after 60 s. */
const cancellationMs = 70_000;

/**
 * Finds when a pump has to check a lane's waiting attempts, if nothing else happens: when the rate allows a start, when a lease
 * ends whose process may have died, or when an open circuit takes a probe.
 *
 * @returns Unix milliseconds; undefined if no pump is needed
 */
export function nextCheckAt(lane: Lane, now: number): number | undefined {
  const checkAt = nextCheckOfLine(lane, now);
  if (!hasDeletedLines(lane)) return checkAt;
  // The deleted queue's messages are cancelled even if it was made again.
  return Math.min(checkAt ?? Infinity, Math.max(now + deletionPauseMs, lane.pumpAt + cancellationMs));
}

function nextCheckOfLine(lane: Lane, now: number): number | undefined {
  if (lane.isPaused || isLineEmpty(lane)) return undefined;
  // One write does not grant all the free slots.
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
