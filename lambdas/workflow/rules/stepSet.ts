/**
 * Sets of steps, by what is recorded of them. A run carries them along with each of its records, so that a submission is judged
 * by the last record alone, however many came before. Steps follow each other, so a set is a few ranges of numbers.
 */

/** The marks that are recorded of a step, each once only: see `onceKey`. */
export const stepMarks = ['plan', 'result', 'call', 'wait', 'invoke'] as const;
export type StepMark = (typeof stepMarks)[number];

/** Ranges such as `1-5,8`; empty for no step. */
export type StepSet = string;
export type StepSets = Readonly<Partial<Record<StepMark, StepSet>>>;

type Range = readonly [first: number, last: number];

const rangesOf = (set: StepSet): readonly Range[] =>
  set === ''
    ? []
    : set.split(',').map((text): Range => {
        const [first = '', last = first] = text.split('-');
        return [Number(first), Number(last)];
      });

const format = (ranges: readonly Range[]): StepSet =>
  ranges.map(([first, last]) => (first === last ? String(first) : `${first}-${last}`)).join(',');

export const hasStep = (sets: StepSets, mark: StepMark, stepId: number): boolean =>
  rangesOf(sets[mark] ?? '').some(([first, last]) => first <= stepId && stepId <= last);

/** Adds a step to one of the sets. */
function added(sets: StepSets, mark: StepMark, stepId: number): StepSets {
  if (hasStep(sets, mark, stepId)) return sets;
  const all = [...rangesOf(sets[mark] ?? ''), [stepId, stepId] as const].toSorted(
    ([one], [other]) => one - other,
  );
  const joined: Range[] = [];
  for (const [first, last] of all) {
    const before = joined.at(-1);
    if (before !== undefined && before[1] + 1 === first) joined[joined.length - 1] = [before[0], last];
    else joined.push([first, last]);
  }
  return { ...sets, [mark]: format(joined) };
}

const without = (set: StepSet, stepId: number): StepSet =>
  format(
    rangesOf(set).flatMap(([first, last]): Range[] => {
      if (stepId < first || last < stepId) return [[first, last]];
      const below: Range[] = first < stepId ? [[first, stepId - 1]] : [];
      return stepId < last ? [...below, [stepId + 1, last]] : below;
    }),
  );

/** The marks that a step's result makes superfluous. Not its wait: whoever repeats one asks whether it began as one. */
const endedByResult = ['plan', 'call', 'invoke'] as const satisfies readonly StepMark[];

/**
 * Notes what is recorded of a step. Its result takes the place of what was noted before: the steps that have one follow each
 * other without a gap, so that the sets of a run stay small however long it is.
 */
export function withStep(sets: StepSets, mark: StepMark, stepId: number): StepSets {
  const all = added(sets, mark, stepId);
  if (mark !== 'result') return all;
  let left = all;
  for (const ended of endedByResult) {
    if (hasStep(left, ended, stepId)) left = { ...left, [ended]: without(left[ended] ?? '', stepId) };
  }
  return left;
}

/** The highest step of a set; 0 where it is empty. */
export const lastStep = (sets: StepSets, mark: StepMark): number =>
  rangesOf(sets[mark] ?? '').at(-1)?.[1] ?? 0;
