/**
 * Counts the deaths of workers. A worker does a suspect job alone, so that nothing else dies with it, and notes the start before
 * it reads anything else. A start whose job ends, be it in an error, is removed; starts that stay are deaths.
 */
import { now } from '../shared/clock.ts';
import { forgetStarts, noteStart, removeStarts } from './store/starts.ts';

/** The states of a start, in their order: noted, ended, removed. */
export interface Start {
  /** Notes the start. Resolves to how many starts are noted, this one included: each before it was a death. */
  readonly note: () => Promise<number>;
  /** Marks of starts that have ended and may still be noted: the next delivery of the job has to remove them. */
  readonly ended: () => readonly string[];
  /** Removes the start after its job has ended. */
  readonly remove: () => Promise<void>;
  /** Removes all starts of the job, deaths too: it begins anew when it is sent again. */
  readonly forget: () => Promise<void>;
}

/**
 * @param job the name of the job, which no other job has
 * @param mark different for each start
 * @param endedBefore marks of earlier starts that could not be removed when they ended
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
