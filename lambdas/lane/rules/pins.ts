/** The changes that the owner of a flow-control key makes to its lane; messages do not change pinned limits. */
import { withLimits, type Lane, type Limits } from '../lane.ts';

/** Limits to pin: a parallelism, a rate with its period, or both. */
export type Pins = Pick<Limits, 'parallelism'> &
  (
    | { readonly rate: number; readonly periodMs: number }
    | { readonly rate?: undefined; readonly periodMs?: undefined }
  );

/** Sets limits and pins them; limits that are not given stay as they are, pinned or not. */
export function pinned(lane: Lane, { parallelism, rate, periodMs }: Pins): Lane {
  const after = withLimits(lane, {
    parallelism: parallelism ?? lane.parallelism,
    ...(rate === undefined ? { rate: lane.rate, periodMs: lane.periodMs } : { rate, periodMs }),
  });
  return {
    ...after,
    isPinnedParallelism: lane.isPinnedParallelism || parallelism !== undefined,
    isPinnedRate: lane.isPinnedRate || rate !== undefined,
  };
}

/** Removes pins. The limits stay until a message brings others. */
export const unpinned = (
  lane: Lane,
  { parallelism, rate }: { readonly parallelism: boolean; readonly rate: boolean },
): Lane => ({
  ...lane,
  isPinnedParallelism: lane.isPinnedParallelism && !parallelism,
  isPinnedRate: lane.isPinnedRate && !rate,
});

/** Forgets the starts that count against the rate: as many may start at once as if nothing had started before. */
export const forgetStarts = (lane: Lane): Lane => ({ ...lane, starts: [] });
