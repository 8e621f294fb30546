/** The places of steps in their run: which may come next. */
import { mostEntries } from '../../shared/bounds.ts';
import type { Snapshot, ListedEntry } from './journal.ts';
import { refusedSubmission } from './refusals.ts';
import { hasStep, lastStep } from './stepSet.ts';
import type { Step, StepIdentity } from './step.ts';

/** Bytes of the bodies in a run's list: a worker has the whole list in its memory, and sends it in one request. */
const mostListBytes = 32 * 1_024 * 1_024;

/** Bytes of the entries of one record: DynamoDB takes rows of 400 KB, and a row has more than them. */
const mostRecordBytes = 360 * 1_024;

/**
 * Checks that plans are the whole of one group: the endpoint submits them in one request, in order.
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
  { steps }: Pick<Snapshot, 'steps'>,
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

/** Bytes of bodies, as they are kept, that a run still has room for. */
export const roomIn = ({ bodyBytes }: Pick<Snapshot, 'bodyBytes'>): number =>
  Math.max(0, mostListBytes - bodyBytes);

/** The sentence that says why a text has no room in a run. */
export const sayNoRoom = (what: string, bytes: number, head: Pick<Snapshot, 'bodyBytes'>): string =>
  `${what} has ${bytes} bytes as JSON, but the run has room for ${roomIn(head)}: its steps may have ${mostListBytes} bytes together.`;

/** @throws HttpError 412 where the list would be too long */
export function checkRoom(
  { bodyBytes, entries }: Pick<Snapshot, 'bodyBytes' | 'entries'>,
  added: readonly Pick<ListedEntry, 'bodyBytes'>[],
): void {
  const bytes = added.reduce((sum, entry) => sum + entry.bodyBytes, bodyBytes);
  if (bytes > mostListBytes) {
    throw refusedSubmission(`The steps of the run would have ${bytes} bytes; allowed are ${mostListBytes}.`);
  }
  if (entries + added.length > mostEntries) {
    throw refusedSubmission(`The run would have more than ${mostEntries} entries.`);
  }
}

/** Bytes of an entry in its record; its JSON is longer than its attributes. */
export function entryBytes({ body, ...rest }: ListedEntry): number {
  return Buffer.byteLength(JSON.stringify(rest)) + (body.at === 'here' ? body.bytes.length : 0);
}

/** @throws HttpError 412 where entries would be too large for one record */
export function checkRecord(entries: readonly ListedEntry[]): void {
  const bytes = entries.reduce((sum, entry) => sum + entryBytes(entry), 0);
  if (bytes <= mostRecordBytes) return;
  throw refusedSubmission(
    `The ${entries.length} steps of the parallel group have ${bytes} bytes, with their names and headers; allowed are ${mostRecordBytes}.`,
  );
}
