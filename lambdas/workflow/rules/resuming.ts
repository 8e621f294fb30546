/** The entries with which a failed run goes on. */
import type { Step } from './step.ts';

/** The ways in which a failed run is run again: with the steps that it has, or from its payload on. */
export const rerunKinds = ['resume', 'restart'] as const;
export type RerunKind = (typeof rerunKinds)[number];

interface EntryOfList {
  /** Undefined for the initial payload. */
  readonly step?: Pick<Step, 'kind' | 'stepId'> | undefined;
}

/**
 * Picks what is delivered when a failed run is resumed: the branches of its last parallel group that have no result, each of
 * which goes on by itself; where there are none, the last entry.
 *
 * @param entries all of the list, in order
 */
export function goingOnFrom<E extends EntryOfList>(entries: readonly E[]): readonly E[] {
  const done = new Set(entries.flatMap(({ step }) => (step?.kind === 'result' ? [step.stepId] : [])));
  // A group is over before anything follows it, so that all branches without a result belong to the last one.
  const open = entries.filter(({ step }) => step?.kind === 'plan' && !done.has(step.stepId));
  return open.length > 0 ? open : entries.slice(-1);
}
