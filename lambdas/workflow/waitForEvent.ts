import type { Account } from '../account/account.ts';
import { now } from '../shared/clock.ts';
import { withCharges } from '../usage/charge.ts';
import type { Answer, published } from '../wire/answers.ts';
import { checkCapacityForWait, isWaiting, oldestEvent } from './rules/events.ts';
import type { RunKey, RunStart, Snapshot, WaitRecord } from './rules/journal.ts';
import { checkCapacity, checkPlace, hasStep, hasStepOrResult } from './rules/placing.ts';
import { changeRun, extendRun, neededUntil, type Decision } from './runs/changeRun.ts';
import { findResult, followSteps, resultIn } from './runs/follow.ts';
import { activeSnapshot, loadActiveRun } from './steps/activeRun.ts';
import { readJournal } from './store/journals.ts';
import { draftWait, readSubmission } from './waits/draftWait.ts';
import { beginWait, followEnds, loadEvent, resultOf, type PlacedWait } from './waits/endWait.ts';
import { prepareWait, type WaitRequest } from './waits/prepareWait.ts';
import { granter, type GrantMessages } from './waits/wakeWaits.ts';

/**
 * Begins a wait, or ends it at once if its event has already arrived. Can be repeated.
 *
 * @throws HttpError 400 if the run has ended or is unknown, 412 if the wait can never be accepted
 * @throws RunBusy
 */
export async function wait(account: Account, request: WaitRequest): Promise<Answer<typeof published>> {
  const message = readSubmission(request.canonical);
  const prepared = await prepareWait(account, request);
  const telling = { config: request.canonical.config, options: prepared.options };
  const { key, start } = await loadActiveRun(account, message, telling);
  const drafted = draftWait(account, request.eventId, start, prepared);

  const { snapshot, record } = await withCharges(account, 1, (charges) => {
    const grant = granter(charges);
    return changeRun(key, (current) =>
      decide(account, key, activeSnapshot(current, message), start, drafted, grant),
    );
  });
  const active = activeSnapshot(snapshot, message);
  switch (record?.kind) {
    case 'wait':
      await beginWait(key, { seq: active.seq, wait: record }, active.keptUntil);
      return { messageId: record.messageId };
    case 'steps':
      await followSteps(account, { key, snapshot: active, start }, record, false);
      return { messageId: resultIn(record, drafted.step.stepId).messageId };
    default:
      return { messageId: await begunBefore(account, key, active, start, drafted), deduplicated: true };
  }
}

async function decide(
  account: Account,
  key: RunKey,
  snapshot: Snapshot,
  start: RunStart,
  drafted: WaitRecord,
  grant: GrantMessages,
): Promise<Decision | undefined> {
  const { step, eventId } = drafted;
  if (hasStepOrResult(snapshot.steps, 'wait', step.stepId)) {
    grant(0);
    return undefined;
  }
  checkPlace(snapshot, step);
  const stored = oldestEvent(snapshot, eventId, step.stepType);
  if (stored === undefined) {
    grant(0);
    checkCapacityForWait(snapshot);
    // Checks that the result of a timeout fits. An event that does not fit is refused when it arrives.
    checkCapacity(snapshot, [{ bodyBytes: 0 }]);
    const used = { ...start.settings, ...drafted.settings };
    const keptUntil = await extendRun(key, snapshot, neededUntil(account, used, drafted.deadline));
    return { record: drafted, keptUntil };
  }
  grant(1);
  const event = await loadEvent(key, stored.seq);
  const { entry, keptUntil } = await resultOf(account, key, snapshot, start, drafted, event);
  checkCapacity(snapshot, [entry]);
  return { record: { kind: 'steps', at: now(), entries: [entry], eventSeq: stored.seq }, keptUntil };
}

/**
 * Continues a wait that an earlier request began and may not have finished.
 *
 * @returns the id that the first request got
 */
async function begunBefore(
  account: Account,
  key: RunKey,
  snapshot: Snapshot,
  start: RunStart,
  { step }: WaitRecord,
): Promise<string> {
  if (!hasStep(snapshot.steps, 'wait', step.stepId)) {
    // The event had already arrived.
    const result = await findResult(key, snapshot, step.stepId);
    await followSteps(account, { key, snapshot, start }, result, true);
    return resultIn(result, step.stepId).messageId;
  }
  const place = await findWait(key, snapshot, step.stepId);
  if (isWaiting(snapshot, place.seq)) await beginWait(key, place, snapshot.keptUntil);
  else {
    const record = await findResult(key, snapshot, step.stepId);
    await followEnds(account, [{ key, snapshot, record, places: [place] }], true);
  }
  return place.wait.messageId;
}

async function findWait(key: RunKey, snapshot: Snapshot, stepId: number): Promise<PlacedWait> {
  for await (const { record, snapshot: after } of readJournal(key, snapshot.startSeq)) {
    if (record.kind === 'wait' && record.step.stepId === stepId) return { seq: after.seq, wait: record };
  }
  throw new Error(`The wait of step ${stepId} of the run ${key.runId} is not there.`);
}
