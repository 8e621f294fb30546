/**
 * Renews the leases of an attempt that may take longer than they last. So its slots are not lost while it is made, and no lane waits
 * for hours when its worker has died.
 */
import { minuteMs } from '../../shared/clock.ts';
import { accountLane, circuitLane, keyLane, queueLane, type LaneKey } from '../lane.ts';
import { keepUntil } from '../rules/arrival.ts';
import { endOfAttempt, formatEntry, outlastsLease, queueEntry } from '../rules/entry.ts';
import type { DueAttempt } from './dueAttempt.ts';
import type { Lanes } from './lanes.ts';

/** Two renewals may fail: a lease lasts for a quarter of an hour. */
export const renewEveryMs = 4 * minuteMs;

export interface RenewalParts {
  readonly lanes: Lanes;
  readonly now: () => number;
  /** Logs a lease that could not be renewed: the next renewal comes before it ends. */
  readonly report: (key: LaneKey, error: unknown) => void;
}

/** The lanes in which an attempt may have a lease, each with the holder of that. Slots of a process are renewed with the process. */
function leasesOf(attempt: DueAttempt): readonly (readonly [LaneKey, string])[] {
  const { accountId, queueName, flowControl, circuit } = attempt;
  const entry = formatEntry(attempt);
  const found: [LaneKey, string][] = [[accountLane(accountId), entry]];
  if (circuit !== undefined) found.push([circuitLane(accountId, circuit.host), entry]);
  if (flowControl !== undefined) found.push([keyLane(accountId, flowControl.key), entry]);
  // A message keeps its slot of a queue until it is over. Where it was cancelled meanwhile, the slot ends with this attempt.
  if (queueName !== undefined) found.push([queueLane(accountId, queueName), queueEntry(attempt)]);
  return found;
}

/**
 * Begins to renew the leases of an attempt; an attempt that they outlast costs nothing.
 *
 * @returns a function that ends it, to be called before the leases are given back
 */
export function renewWhileMade(attempt: DueAttempt, { lanes, now, report }: RenewalParts): () => void {
  if (!outlastsLease(attempt.timeoutMs)) return () => undefined;
  const leases = leasesOf(attempt);
  const endsAt = now() + attempt.timeoutMs;
  const renew = (): void => {
    const until = endOfAttempt(endsAt - now(), now());
    for (const [key, holder] of leases) {
      lanes
        .update(key, (lane) => keepUntil(lane, holder, until))
        .catch((error: unknown) => {
          report(key, error);
        });
    }
  };
  const timer = setInterval(renew, renewEveryMs).unref();
  return () => {
    clearInterval(timer);
  };
}
