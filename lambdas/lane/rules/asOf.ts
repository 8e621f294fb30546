/**
 * Corrects a lane after the clock has stepped back. Times in the future count as now. Otherwise the lane
 * would wait for as long as the clock was wrong.
 */
import { circuitAsOf } from '../../circuit/circuit.ts';
import { isAhead } from '../../shared/clock.ts';
import { processLeaseMs, processPrefix, type Lane, type Lease } from '../lane.ts';
import { longestStartWaitMs } from './arrival.ts';

export function asOf(lane: Lane, now: number): Lane {
  const { circuit, deletedAt = 0, limitsMadeAt } = lane;
  const isLong = ([holder, { until = 0 }]: readonly [string, Lease]): boolean =>
    holder.startsWith(processPrefix) && isAhead(until, now + processLeaseMs);
  const isAny = {
    start: lane.starts.some(({ at }) => isAhead(at, now + longestStartWaitMs)),
    lease: [...lane.leases].some(isLong),
    circuit: circuit !== undefined && isAhead(circuit.openedAt ?? circuit.failedAt, now),
    deletion: isAhead(deletedAt, now),
    // Only keys: an account's limits have a version instead of a time.
    limits: lane.kind === 'key' && isAhead(limitsMadeAt, now),
  };
  if (!Object.values(isAny).includes(true)) return lane;
  const until = now + processLeaseMs;
  return {
    ...lane,
    ...(isAny.start && {
      starts: [{ at: now, count: lane.starts.reduce((sum, { count }) => sum + count, 0) }],
    }),
    leases: new Map([...lane.leases].map((one) => (isLong(one) ? [one[0], { ...one[1], until }] : one))),
    ...(circuit && isAny.circuit && { circuit: circuitAsOf(circuit, now) }),
    // Messages that were published after the deletion do not belong to the deleted queue.
    ...(isAny.deletion && { deletedAt: undefined }),
    ...(isAny.limits && { limitsMadeAt: 0 }),
  };
}
