/** Renews the leases of a long attempt. Leases are short, so that a dead worker's slots become free. */
import { minuteMs } from '../../shared/clock.ts';
import { accountLane, keyLane, queueLane, type LaneKey } from '../lane.ts';
import { keepUntil } from '../rules/arrival.ts';
import { endOfAttempt, formatEntry, outlastsLease, queueEntry } from '../rules/entry.ts';
import { holdingLanesOf, type DueAttempt } from './dueAttempt.ts';
import type { Lanes } from './changeLanes.ts';

/** Two renewals in a row may fail: a lease lasts a quarter of an hour. */
const renewEveryMs = 4 * minuteMs;

export interface RenewalParts {
  readonly lanes: Lanes;
  readonly now: () => number;
  /** Logs that a renewal failed. The next one comes before the lease ends. */
  readonly report: (key: LaneKey, error: unknown) => void;
}

/** The lanes and holders of an attempt's leases. Process leases are renewed separately. */
function leasesOf(attempt: DueAttempt): readonly (readonly [LaneKey, string])[] {
  const { accountId, queueName, flowControl } = attempt;
  const entry = formatEntry(attempt);
  const found: [LaneKey, string][] = [[accountLane(accountId), entry]];
  for (const [key] of holdingLanesOf(attempt)) found.push([key, entry]);
  if (flowControl !== undefined) found.push([keyLane(accountId, flowControl.key), entry]);
  // A message keeps its slot of the queue until it is over. If the message is cancelled, the slot ends with
  // this attempt.
  if (queueName !== undefined) found.push([queueLane(accountId, queueName), queueEntry(attempt)]);
  return found;
}

/**
 * Does nothing for a short attempt.
 *
 * @returns a function that stops the renewals, to be called before the slots are released
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
