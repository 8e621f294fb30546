import type { Step } from './step.ts';

/** How a failed run is run again: after its finished steps, or from its payload. */
export const rerunKinds = ['resume', 'restart'] as const;
export type RerunKind = (typeof rerunKinds)[number];

interface EntryOfList {
  readonly step?: Pick<Step, 'kind' | 'stepId'> | undefined;
}

/**
 * Selects the entries to deliver when a failed run is resumed: the branches of its last parallel group that
 * have no result, or else the last entry.
 *
 * @param entries the whole list, in order
 */
export function goingOnFrom<E extends EntryOfList>(entries: readonly E[]): readonly E[] {
  const done = new Set(entries.flatMap(({ step }) => (step?.kind === 'result' ? [step.stepId] : [])));
  // A group finishes before the next step begins, so all open branches are in the last group.
  const open = entries.filter(({ step }) => step?.kind === 'plan' && !done.has(step.stepId));
  return open.length > 0 ? open : entries.slice(-1);
}
