/** Sends back parked jobs and undelivered fires of a stage. */
import * as z from 'zod/mini';
import type { Queues } from './queues.ts';

const counts = z.object({ sent: z.number(), left: z.number(), since: z.number() });
export const parkedJobs = z.object({ parked: counts, fires: counts });
export type ParkedJobs = z.infer<typeof parkedJobs>;

const longestMs = 600_000;

export async function redrive(): Promise<ParkedJobs> {
  // The module reads its settings when it is loaded, so they must be set first.
  const { redriveAll } = await import('../../lambdas/recovery/redrive.ts');
  return redriveAll(Date.now() + longestMs);
}

/** When the stage starts, work that an earlier process gave up is tried again. */
export async function redriveAtStart(queues: Queues): Promise<void> {
  const isParked = ['parked', 'undeliveredFires'].some((name) => queues.depths(name).visible > 0);
  if (isParked) await redrive();
}
