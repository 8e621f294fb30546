/** Looks at lanes: the moments at which a pump has to come, because no change of the lane would admit those who wait. */
import { isOpen } from '../../circuit/circuit.ts';
import { minuteMs } from '../../shared/clock.ts';
import { type Lane, freeSlots, hasRoom, mostLeases } from '../lane.ts';
import { isEmpty } from './line.ts';
import { freeStarts, nextFreeStart } from './rate.ts';

/** The cancelling of a deleted queue's messages begins so long after its deletion. */
const deletionPauseMs = 100;

/** A pump that cancels them is left to its work for so long: its function ends after 60 s. */
const cancellationMs = 70_000;

/**
 * The row of a deleted queue stays for so long, although nothing is left to cancel. A queue that is made anew counts its
 * versions and pages on from there: else a process that is slow could write the old ones over those of the new queue.
 */
const removalPauseMs = 5 * minuteMs;

/** When the row of a deleted queue may be removed, Unix milliseconds. */
export const removableAt = ({ updatedAt }: Lane): number => updatedAt + removalPauseMs;

/**
 * When a lane in which somebody waits has to be looked at, though nothing happens to it: when its rate has room again, or
 * when a lease ends whose process may have died, or when an open circuit takes a probe. Unix milliseconds; undefined where
 * that never has to be.
 */
export function nextLook(lane: Lane, now: number): number | undefined {
  const look = lookAtLine(lane, now);
  if (!lane.isDeleted && lane.deletedLines.length === 0) return look;
  // The messages of a deleted queue are to be cancelled, also where the queue has been made anew; then its row is removed.
  const nextStep = lane.deletedLines.length > 0 ? now + deletionPauseMs : removableAt(lane);
  return Math.min(look ?? Infinity, Math.max(now, nextStep, lane.pumpAt + cancellationMs));
}

function lookAtLine(lane: Lane, now: number): number | undefined {
  if (lane.isPaused || isEmpty(lane.line)) return undefined;
  // Not all were admitted at once for whom there is room.
  if (hasRoom(lane, now)) return now;
  const { circuit } = lane;
  if (circuit !== undefined && isOpen(circuit) && circuit.openUntil > now) return circuit.openUntil;
  const looks: number[] = [];
  if (freeStarts(lane, now) === 0) looks.push(nextFreeStart(lane, now));
  if (freeSlots(lane, now) === 0 || lane.leases.size >= mostLeases) {
    const ends = [...lane.leases.values()].flatMap(({ until }) => until ?? []);
    if (ends.length > 0) looks.push(Math.min(...ends));
  }
  return looks.length === 0 ? undefined : Math.max(...looks);
}
