import { withLimits, type Lane, type Limits } from '../lane.ts';

/** Pinned limits: a parallelism, a rate with its period, or both. */
export type Pins = Pick<Limits, 'parallelism'> &
  (
    | { readonly rate: number; readonly periodMs: number }
    | { readonly rate?: undefined; readonly periodMs?: undefined }
  );

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

/** Unpins limits. They stay until a message sets others. */
export const unpinned = (
  lane: Lane,
  { parallelism, rate }: { readonly parallelism: boolean; readonly rate: boolean },
): Lane => ({
  ...lane,
  isPinnedParallelism: lane.isPinnedParallelism && !parallelism,
  isPinnedRate: lane.isPinnedRate && !rate,
});

export const forgetStarts = (lane: Lane): Lane => ({ ...lane, starts: [] });
