/** When a pump must check a lane because no other change would start its waiting attempts. */
import { isOpen } from '../../circuit/circuit.ts';
import { type Lane, freeSlots, hasCapacity, hasDeletedLines, isLineEmpty, mostLeases } from '../lane.ts';
import { freeStarts, nextFreeStart } from './rate.ts';

const deletionPauseMs = 100;

/** The delay from one pump that cancels messages to the next: their function times out after 60 s. */
const cancellationMs = 70_000;

/**
 * When a pump must check a lane's waiting attempts: when the rate allows a start, when a lease ends whose process may have
 * died, when an open circuit accepts a probe, or when a hold ends.
 *
 * @returns Unix milliseconds; undefined if no pump is needed
 */
export function nextCheckAt(lane: Lane, now: number): number | undefined {
  const checkAt = nextCheckOfLine(lane, now);
  if (!hasDeletedLines(lane)) return checkAt;
  // The messages of a deleted queue are cancelled even if the queue was created again.
  return Math.min(
    checkAt ?? Infinity,
    Math.max(now + deletionPauseMs, Math.min(now, lane.pumpAt) + cancellationMs),
  );
}

function nextCheckOfLine(lane: Lane, now: number): number | undefined {
  if (isLineEmpty(lane)) return undefined;
  if (lane.isPaused) return lane.hold?.until;
  // One write grants a limited number of slots, so some may still be free.
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
