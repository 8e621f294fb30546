/** `test/differential/README.md` says which database is right if answers differ. */
import fc, { type Arbitrary } from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { tables } from '../../../../lambdas/aws/resources.ts';
import { knownFault } from '../../../differential/answers.ts';
import {
  startDynoxide,
  startEngine,
  startMoto,
  toJson,
  type Engine,
  type OtherDatabase,
} from '../../../differential/databases.ts';
import { calls } from '../../../differential/generate.ts';
import { steps } from '../../../differential/generatePages.ts';
import type { Step } from '../../../differential/generateRows.ts';
import { largeRows } from '../../../differential/largeRows.ts';
import { answersOfStep } from '../../../differential/walk.ts';
import { limitForInstallsMs } from '../../../support/limits.ts';

let dynoxide: OtherDatabase;
let moto: OtherDatabase | undefined;
beforeAll(async () => {
  [dynoxide, moto] = await Promise.all([startDynoxide(), startMoto()]);
}, limitForInstallsMs);
afterAll(() => Promise.all([dynoxide.stop(), moto?.stop()]));

const reads = new Set(['GetItem', 'BatchGetItem', 'Query', 'Scan']);
const isRead = (step: Step): boolean => reads.has(step.operation) && !('between' in step);

const counts = { calls: 0, asDynoxide: 0, asMoto: 0 };

/** Makes the calls of a sequence on all databases, until their written rows differ. */
async function compareAll(
  engine: Engine,
  sequence: readonly Step[],
  seen: (answer: string, step: Step) => string,
): Promise<void> {
  for (const step of sequence) {
    if (await makesRow(engine, step)) continue;
    const [ours, theirs, others] = await Promise.all([
      answersOfStep(engine, step),
      answersOfStep(dynoxide, step),
      moto && answersOfStep(moto, step),
    ]);
    for (const [at, our] of ours.entries())
      compare(step, seen(our, step), seen(theirs[at] ?? '', step), others?.[at]);
    if (isRead(step)) continue;
    // Rows differ after a write that only some made, or a batch that some made in part.
    const isMade = ours.every(isAnswer);
    const isPart = step.operation === 'BatchWriteItem' && !isMade;
    if (isPart || ours.join() !== theirs.join() || others?.every(isAnswer) === !isMade) return;
  }
}

const isAnswer = (answer: string): boolean => /^[[{]/.test(answer);

/** Whether a call only removes from a missing row, which creates a row in the other databases. */
async function makesRow(engine: Engine, step: Step): Promise<boolean> {
  const { input, operation } = 'between' in step && step.between !== undefined ? step.between : step;
  const { UpdateExpression, TableName, Key } = input;
  if (operation !== 'UpdateItem' || typeof UpdateExpression !== 'string') return false;
  if (/\b(SET|ADD)\b/.test(UpdateExpression)) return false;
  const [answer] = await answersOfStep(engine, { operation: 'GetItem', input: { TableName, Key } });
  return answer === '{}';
}

/** @throws Error if an answer differs from dynoxide’s, except by a known fault */
function compare(step: Step, ours: string, theirs: string, others: string | undefined): void {
  counts.calls += 1;
  if (ours === theirs) counts.asDynoxide += 1;
  if (ours === others) counts.asMoto += 1;
  if (ours === theirs || knownFault(ours, theirs, others) !== undefined) return;
  throw new Error(toJson({ step, ours, dynoxide: theirs, moto: others }));
}

const tablesIn = (sequence: readonly Step[]): readonly string[] => {
  const text = toJson(sequence);
  return Object.keys(tables).filter((name) => text.includes(`"${name}"`));
};

const failures: unknown[] = [];

/** SVC_SEED=<number> generates other calls. */
const seed = Number(process.env['SVC_SEED'] ?? 1);

async function onEmptyTables(
  sequence: readonly Step[],
  seen: (answer: string, step: Step) => string = (answer) => answer,
): Promise<void> {
  const engine = startEngine((error) => failures.push(error));
  try {
    await compareAll(engine, sequence, seen);
  } finally {
    await engine.close();
    const used = tablesIn(sequence);
    await Promise.all([dynoxide.clear(used), moto?.clear(used)]);
  }
}

async function areAnsweredAlike(sequences: Arbitrary<readonly Step[]>, numRuns: number): Promise<void> {
  await fc.assert(
    fc.asyncProperty(sequences, (sequence) => onEmptyTables(sequence)),
    { numRuns, seed },
  );
  expect(failures).toEqual([]);
  expect(counts.asDynoxide).toBeGreaterThan(counts.calls * 0.8);
  if (moto !== undefined) expect(counts.asMoto).toBeGreaterThan(counts.calls * 0.4);
  Object.assign(counts, { calls: 0, asDynoxide: 0, asMoto: 0 });
}

test('generated expressions get the same answers as from another database', () =>
  areAnsweredAlike(calls, 150));

test('generated calls of tables and indexes get the same answers as from another database', () =>
  areAnsweredAlike(steps, 200));

/** Returns all pages’ rows. The other databases’ pages end before the row that reaches 1 MB, which dynoxide counts twice. */
const rowsIn = (answer: string, step: Step): string =>
  'isWalk' in step ? [...new Set(answer.match(/"id\W+S\W+\w+/g))].toSorted().join() : answer;

test('large rows, and many of them, get the same answers as from another database', async () => {
  for (const sequence of largeRows) await onEmptyTables(sequence, rowsIn);
  expect(failures).toEqual([]);
});
