import { withLease, type Lane } from '../lane.ts';

/**
 * Extends the lease of an attempt that is still being made. One that was given back stays away, and one that ends with its message
 * stays as it is.
 *
 * @param until Unix milliseconds
 */
export function renewed(lane: Lane, holder: string, until: number): Lane {
  const lease = lane.leases.get(holder);
  if (lease?.until === undefined || lease.until >= until) return lane;
  return withLease(lane, holder, { ...lease, until });
}
