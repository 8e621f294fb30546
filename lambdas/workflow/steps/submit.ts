import type { Account } from '../../account/account.ts';
import { now } from '../../shared/clock.ts';
import { eachOf } from '../../shared/lists.ts';
import type { Snapshot, RunStart, StepEntry, StepsRecord, RunKey } from '../rules/journal.ts';
import { stepDetailsOf, parseStep, type Step } from '../rules/step.ts';
import { checkCapacity, checkGroup, checkPlace, hasStepOrResult, recordsFor } from '../rules/placing.ts';
import { refusedSubmission } from '../rules/refusals.ts';
import { ownSettings } from '../rules/runSettings.ts';
import type { SubmissionMessage } from '../rules/workflowMessage.ts';
import { readJournal } from '../store/journals.ts';
import {
  changeRun,
  extendEntryBodies,
  storeEntry,
  extendRun,
  neededUntil,
  spareMs,
} from '../runs/changeRun.ts';
import { deliverEntries, followSteps, isStepsOf } from '../runs/follow.ts';
import { activeSnapshot, loadActiveRun, type Submitted } from './activeRun.ts';
import type { PreparedPart } from './prepare.ts';

/** Large bodies are stored separately, this many at a time. */
const storedAtOnce = 20;

/**
 * Submits one result, or all plans of a parallel group. The plans of a large group need several records, and
 * are delivered after the last one is written. If a process dies before that, another one writes the rest.
 *
 * @param parts the messages of one run
 * @returns an answer for each part
 * @throws HttpError 400 if the run has ended or is unknown, 412 if the steps can never be accepted
 */
export async function submitSteps(
  account: Account,
  message: SubmissionMessage,
  parts: readonly PreparedPart<SubmissionMessage>[],
): Promise<readonly Submitted[]> {
  // All parts name the same failure callback.
  const [first] = parts;
  const telling = first && { config: first.request.config, options: first.options };
  const { key, snapshot: found, start } = await loadActiveRun(account, message, telling);
  const steps = parts.map(({ request }) => parseStep(request.body));
  checkGroup(steps);
  const needed = Math.max(
    ...parts.map(({ options }) => neededUntil(account, { ...options, ...start.settings }, options.notBefore)),
  );
  const bodiesUntil = Math.max(found.keptUntil, needed + spareMs);
  const entries: StepEntry[] = [];
  await eachOf(parts, storedAtOnce, async (part, index) => {
    const step = steps[index];
    if (step === undefined) return;
    const { options, url, request } = part;
    const fields = {
      url,
      notBefore: options.notBefore,
      step: stepDetailsOf(step),
      forwarded: options.headers,
      settings: ownSettings(new Set(start.features), options),
    };
    entries[index] = await storeEntry(account, fields, request.body, bodiesUntil, now());
  });

  const records: StepsRecord[] = [];
  let snapshot = found;
  for (const some of recordsFor(entries)) {
    const changed = await changeRun(
      key,
      async (current) => {
        const active = activeSnapshot(current, message);
        // If only some steps are recorded, another submission recorded them, and this one is refused below.
        if (some.some(({ step }) => hasStepOrResult(active.steps, step.kind, step.stepId))) return undefined;
        for (const { step } of some) checkPlace(active, step);
        checkCapacity(active, some);
        const keptUntil = await extendRun(key, active, needed);
        const kept = await extendEntryBodies(account.id, some, bodiesUntil, keptUntil, now());
        return { record: { kind: 'steps', at: now(), entries: kept }, keptUntil };
      },
      records.length === 0 ? undefined : snapshot,
    );
    snapshot = activeSnapshot(changed.snapshot, message);
    if (changed.record?.kind === 'steps') records.push(changed.record);
  }
  const recorded = records.flatMap((record) => record.entries);
  if (recorded.length < entries.length) return submittedBefore(account, key, snapshot, start, steps);
  await deliverEntries({ key, snapshot, start }, account, recorded, false);
  return entries.map(({ messageId }) => ({ messageId, isDuplicate: false }));
}

/**
 * Finishes a submission whose process may have died before it delivered the steps.
 *
 * @throws HttpError 412 if only some of the steps were submitted
 */
async function submittedBefore(
  account: Account,
  key: RunKey,
  snapshot: Snapshot,
  start: RunStart,
  steps: readonly Step[],
): Promise<readonly Submitted[]> {
  const records = await recordsOf(key, snapshot, steps);
  const entries = records.flatMap((record) => record.entries);
  const found = steps.map(({ kind, stepId }) => {
    const entry = entries.find(({ step }) => step?.kind === kind && step.stepId === stepId);
    if (entry !== undefined) return entry.messageId;
    throw refusedSubmission(
      `The ${kind} of step ${stepId} comes too late: the run has others in its place, or its result.`,
    );
  });
  for (const record of records) await followSteps(account, { key, snapshot, start }, record, true);
  return found.map((messageId) => ({ messageId, isDuplicate: true }));
}

async function recordsOf(
  key: RunKey,
  { startSeq }: Snapshot,
  steps: readonly Step[],
): Promise<readonly StepsRecord[]> {
  const found: StepsRecord[] = [];
  let left = steps;
  for await (const { record } of readJournal(key, startSeq)) {
    if (record.kind !== 'steps') continue;
    const others = left.filter((step) => !isStepsOf(step)(record));
    if (others.length < left.length) found.push(record);
    left = others;
    if (left.length === 0) break;
  }
  return found;
}
