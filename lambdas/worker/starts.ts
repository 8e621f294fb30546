/**
 * Counts the deaths of workers. A worker does a suspect job alone, so that nothing else dies with it, and notes the start before
 * it reads anything else. A start whose job ends, be it in an error, is removed; starts that stay are deaths.
 */
import { now } from '../shared/clock.ts';
import { mostDeaths } from '../aws/resources.ts';
import { noteStart, removeStarts } from './store/starts.ts';

/** The states of a start, in their order: noted, ended, removed. */
export interface Start {
  /** Notes the start. Resolves to whether the job has killed so many workers that it must not be done again. */
  readonly note: () => Promise<boolean>;
  /** Marks of starts that have ended and may still be noted: the next delivery of the job has to remove them. */
  readonly ended: () => readonly string[];
  /** Removes the start after its job has ended. */
  readonly remove: () => Promise<void>;
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
      return (await noteStart(job, mark, now())) > mostDeaths;
    },
    ended: () => ended,
    remove,
  };
}
