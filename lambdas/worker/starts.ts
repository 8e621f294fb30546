/**
 * Counts how often a job has killed its worker. A worker does a suspect job alone, and first records a start.
 * The start is removed when the job ends, even with an error. So each start that remains is a death.
 */
import { now } from '../shared/clock.ts';
import { forgetStarts, noteStart, removeStarts } from './store/starts.ts';

/** The states of a start, in order: recorded, ended, removed. */
export interface Start {
  /**
   * Records the start. Resolves to the number of recorded starts, including this one. Each of the others was
   * a death.
   */
  readonly note: () => Promise<number>;
  /** Marks of starts that have ended but may still be recorded. The job's next delivery must remove them. */
  readonly ended: () => readonly string[];
  readonly remove: () => Promise<void>;
  /** Removes all starts of the job, including deaths. */
  readonly forget: () => Promise<void>;
}

/**
 * @param job a unique name
 * @param mark different for each start
 * @param endedBefore marks of earlier starts that ended but could not be removed
 */
export function startOf(job: string, mark: string, endedBefore: readonly string[]): Start {
  let ended = endedBefore;
  const remove = async (): Promise<void> => {
    if (ended.length === 0) return;
    await removeStarts(job, ended, now());
    ended = [];
  };
  return {
    note: async () => {
      await remove();
      ended = [mark];
      return noteStart(job, mark, now());
    },
    ended: () => ended,
    remove,
    forget: () => forgetStarts(job, now()),
  };
}
