/**
 * Which steps of a run are recorded, and which may come next. Each record has the sets of recorded steps, so
 * the last record is enough to check a submission. The numbers of steps are consecutive, so a set consists of
 * a few ranges.
 */
import type { StoredBody } from '../../message/message.ts';
import { mostEntries } from '../../shared/bounds.ts';
import { weighedChunksOf } from '../../shared/lists.ts';
import { refusedSubmission } from './refusals.ts';
import type { Step, StepIdentity } from './step.ts';

/**
 * The kinds of records that a step can have, one of each. If an endpoint submits a step again, it gets the id
 * of the first submission. A call, wait or invoke has one record for its beginning and one for its result. A
 * wait's event and its timeout compete for the result.
 */
export const stepMarks = ['plan', 'result', 'call', 'wait', 'invoke'] as const;
export type StepMark = (typeof stepMarks)[number];

/** Ranges such as `1-5,8`; empty for no step. */
type StepSet = string;
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

/** Whether a step was already submitted or begun, or has its result. */
export const hasStepOrResult = (sets: StepSets, mark: StepMark, stepId: number): boolean =>
  hasStep(sets, mark, stepId) || hasStep(sets, 'result', stepId);

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

/**
 * The marks that are removed when a step has its result. A wait's mark stays, to recognize repeated requests.
 */
const endedByResult = ['plan', 'call', 'invoke'] as const satisfies readonly StepMark[];

/** Adds a mark. A result replaces earlier marks of its step, so that the sets of a long run stay small. */
export function withStep(sets: StepSets, mark: StepMark, stepId: number): StepSets {
  const all = added(sets, mark, stepId);
  if (mark !== 'result') return all;
  let left = all;
  for (const ended of endedByResult) {
    if (hasStep(left, ended, stepId)) left = { ...left, [ended]: without(left[ended] ?? '', stepId) };
  }
  return left;
}

export const lastStep = (sets: StepSets, mark: StepMark): number =>
  rangesOf(sets[mark] ?? '').at(-1)?.[1] ?? 0;

/** The longest list of a run. A worker has it in memory and sends it in one request. */
const mostListBytes = 32 * 1_024 * 1_024;

/** The longest entry. DynamoDB rows have at most 400 KB. */
const mostEntryBytes = 360 * 1_024;
/**
 * The size of records with several entries. Each read of the last snapshot reads (and pays for) the last
 * record, so they are smaller than an entry may be.
 */
const mostRecordBytes = mostEntryBytes / 6;

/**
 * Checks that the plans of a group are complete and in order, as clients submit them.
 *
 * @throws HttpError 412
 */
export function checkGroup(steps: readonly Step[]): void {
  const [first, ...others] = steps;
  if (first === undefined || (first.kind === 'result' && others.length === 0)) return;
  for (const [index, { kind, stepId, concurrent }] of steps.entries()) {
    if (kind === 'plan' && concurrent === steps.length && stepId === first.stepId + index) continue;
    throw refusedSubmission(
      `The ${steps.length} steps of a parallel group are submitted together and in order; item ${index} is the ${kind} of step ${stepId}, one of ${concurrent}.`,
    );
  }
}

/**
 * Checks that a step may come now.
 *
 * @throws HttpError 412
 */
export function checkPlace(
  { steps }: { readonly steps: StepSets },
  { kind, stepId, concurrent }: StepIdentity & Partial<Pick<Step, 'kind'>>,
): void {
  if (concurrent > 1 && kind !== 'plan') {
    if (hasStep(steps, 'plan', stepId)) return;
    throw refusedSubmission(`Step ${stepId} is one of ${concurrent} at once, but it was never planned.`);
  }
  const next = lastStep(steps, 'result') + 1;
  const isNext = kind === 'plan' ? stepId >= next && stepId < next + concurrent : stepId === next;
  if (isNext) return;
  throw refusedSubmission(`The step has the stepId ${stepId}; the next step of the run is ${next}.`);
}

interface HasBytes {
  readonly bodyBytes: number;
}

/** The bytes of bodies for which a run has room. */
export const capacityOf = ({ bodyBytes }: HasBytes): number => Math.max(0, mostListBytes - bodyBytes);

export const sayNoCapacity = (what: string, bytes: number, run: HasBytes): string =>
  `${what} has ${bytes} bytes as JSON, but the run has room for ${capacityOf(run)}: its steps may have ${mostListBytes} bytes together.`;

/** @throws HttpError 412 if the list would be too long */
export function checkCapacity(
  { bodyBytes, entries }: HasBytes & { readonly entries: number },
  added: readonly HasBytes[],
): void {
  const bytes = added.reduce((sum, entry) => sum + entry.bodyBytes, bodyBytes);
  if (bytes > mostListBytes) {
    throw refusedSubmission(`The steps of the run would have ${bytes} bytes; allowed are ${mostListBytes}.`);
  }
  if (entries + added.length > mostEntries) {
    throw refusedSubmission(`The run would have more than ${mostEntries} entries.`);
  }
}

interface HasBody {
  readonly body: StoredBody;
}

/** The size of an entry. Measured as JSON, which is longer than the stored attributes. */
export function entryBytes({ body, ...rest }: HasBody): number {
  return Buffer.byteLength(JSON.stringify(rest)) + (body.at === 'here' ? body.bytes.length : 0);
}

/** @throws HttpError 412 if an entry is too large for a record */
export function recordsFor<E extends HasBody>(entries: readonly E[]): readonly (readonly E[])[] {
  const sizes = new Map(entries.map((entry) => [entry, entryBytes(entry)]));
  const largest = Math.max(...sizes.values());
  if (largest > mostEntryBytes) {
    throw refusedSubmission(
      `A step has ${largest} bytes, with its name and headers; allowed are ${mostEntryBytes}.`,
    );
  }
  return weighedChunksOf(entries, mostRecordBytes, (entry) => sizes.get(entry) ?? largest);
}
