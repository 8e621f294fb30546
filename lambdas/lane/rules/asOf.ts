/**
 * A lane whose clock has stepped back. A moment that seems to be in the future counts as now: a lane waits for its periods and
 * leases, not for as long as the clock was wrong.
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
    // An account's limits have a version instead.
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
    // Messages published since are not among those of the deletion.
    ...(isAny.deletion && { deletedAt: undefined }),
    ...(isAny.limits && { limitsMadeAt: 0 }),
  };
}
