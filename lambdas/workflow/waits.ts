/** Waits for events: a step that ends with its event, or at its deadline without it. */
import type { Answer, published } from '../wire/answers.ts';
import type { Account } from '../account/account.ts';
import { now } from '../shared/clock.ts';
import { newId } from '../shared/ids.ts';
import { redactHeaders } from '../message/redaction.ts';
import type { Redaction } from '../options/redaction.ts';
import type { Header } from '../shared/headers.ts';
import type { CanonicalRequest } from '../request/dialect.ts';
import { badRequest } from '../error/httpError.ts';
import { refusedSubmission } from './rules/refusals.ts';
import { readWorkflowMessage, type SubmissionMessage } from './rules/workflowMessage.ts';
import { brandless } from './rules/brands.ts';
import { checkRoomForWait, isWaiting, oldestEvent } from './rules/events.ts';
import type { Snapshot, JournalRecord, RunStart, StepsRecord, WaitRecord } from './rules/journal.ts';
import { checkPlace, checkRoom } from './rules/placing.ts';
import { ownSettings } from './rules/runSettings.ts';
import { hasStep } from './rules/stepSet.ts';
import { settings } from '../aws/settings.ts';
import { loadBody } from '../message/bodies.ts';
import { loadSnapshot, loadRecord, readJournal, type RunKey } from './store/journals.ts';
import { putWaiter } from './store/waiters.ts';
import { withCharges } from '../usage/charge.ts';
import { changeRun, type Decision } from './runs/changeRun.ts';
import { followEnds, resultOf, sendTimeout, waiterOf, type Place } from './waits/endWait.ts';
import { settingsOfRun } from './runs/settings.ts';
import { findRecord, followSteps } from './runs/follow.ts';
import { extendRun, neededUntil } from './runs/extendRun.ts';
import { recordOfEnd } from './waits/checkWait.ts';
import { oneMessage, type OneMessage } from './waits/oneMessage.ts';
import { prepareWait, type PreparedWait, type WaitRequest } from './waits/prepareWait.ts';
import { activeSnapshot, isStepsOf } from './steps/submit.ts';

/**
 * Reads the step that a wait belongs to from the headers of its request.
 *
 * @throws HttpError 400 for a request without the headers of a submission, 412 for one that starts a run
 */
export function readSubmission(request: CanonicalRequest): SubmissionMessage {
  const message = readWorkflowMessage(request, settings.headerPrefixes);
  if (message === undefined) {
    throw badRequest(
      'workflow_request_invalid',
      'Workflow-Init is missing; only the endpoint of a run waits for an event.',
    );
  }
  if (message.kind !== 'submission') throw refusedSubmission('A wait is a step of a run, and starts none.');
  return message;
}

/**
 * Begins a wait; or, where its event has come before, ends it at once. Of the same step it does so once.
 *
 * @throws HttpError 400 where the run has ended or is not known, 412 for what it can never accept
 * @throws RunBusy
 */
export async function wait(account: Account, request: WaitRequest): Promise<Answer<typeof published>> {
  const { message, eventId } = request;
  const key: RunKey = { accountId: account.id, runId: message.runId };
  // Before the request is looked at: what comes too late is told so, whatever it is.
  const start = await settingsOfRun(key, activeSnapshot(await loadSnapshot(key), message));
  const prepared = await prepareWait(account, request);
  const drafted = draft(account, eventId, start, prepared);

  const { head, record } = await withCharges(account, 1, (charges) => {
    const made = oneMessage(charges);
    return changeRun(key, (current) =>
      decide(account, key, activeSnapshot(current, message), start, drafted, made),
    );
  });
  const active = activeSnapshot(head, message);
  switch (record?.kind) {
    case 'wait':
      await followWait(key, active, { seq: active.seq, wait: record });
      return { messageId: record.messageId };
    case 'steps':
      await followSteps(account, { key, head: active, start }, record, false);
      return { messageId: idOf(record) };
    default:
      return { messageId: await begunBefore(account, key, active, start, drafted), deduplicated: true };
  }
}

/** Makes the record of a wait. Its time runs from here, however many write to the run at once. */
function draft(account: Account, eventId: string, start: RunStart, prepared: PreparedWait): WaitRecord {
  const { step, url, timeout, timeoutMs, timeoutUrl, timeoutForwarded, options } = prepared;
  const own = ownSettings(new Set(start.features), options);
  const { redaction } = own ?? start.settings;
  const at = now();
  return {
    kind: 'wait',
    at,
    step,
    messageId: newId('msg', at, account.shards),
    eventId,
    url,
    timeout,
    deadline: at + timeoutMs,
    timeoutUrl,
    forwarded: options.headers,
    timeoutForwarded,
    headers: redactForwarded(prepared.headers, redaction),
    timeoutHeaders: redactForwarded(prepared.timeoutHeaders, redaction),
    settings: own,
  };
}

/** Redacts the headers that are forwarded; all others are the client's. They are kept to be shown, and for nothing else. */
const redactForwarded = (headers: readonly Header[], redaction: Redaction | undefined): readonly Header[] =>
  redaction === undefined
    ? headers
    : headers.flatMap(([name, value]): readonly Header[] => {
        const inner = /^forward-(.*)$/.exec(brandless(name, settings.headerPrefixes) ?? '')?.[1];
        if (inner === undefined) return [[name, value]];
        return redactHeaders([[inner, value]], redaction).map(([, shown]): Header => [name, shown]);
      });

async function decide(
  account: Account,
  key: RunKey,
  head: Snapshot,
  start: RunStart,
  drafted: WaitRecord,
  message: OneMessage,
): Promise<Decision<undefined>> {
  const { step, eventId } = drafted;
  if (hasStep(head.steps, 'wait', step.stepId) || hasStep(head.steps, 'result', step.stepId)) {
    message.drop();
    return { result: undefined };
  }
  checkPlace(head, step);
  const stored = oldestEvent(head, eventId, step.stepType);
  if (stored === undefined) {
    message.drop();
    checkRoomForWait(head);
    // For its time-out; an event that would be too much is refused when it comes.
    checkRoom(head, [{ bodyBytes: 0 }]);
    const used = { ...start.settings, ...drafted.settings };
    const keptUntil = await extendRun(key, head, neededUntil(account, used, drafted.deadline));
    return { record: drafted, keptUntil, result: undefined };
  }
  message.admit();
  const event = await loadEvent(key, stored.seq);
  const { entry, keptUntil } = await resultOf(account, key, head, start, drafted, event);
  checkRoom(head, [entry]);
  const record: JournalRecord = { kind: 'steps', at: now(), entries: [entry], eventSeq: stored.seq };
  return { record, keptUntil, result: undefined };
}

async function loadEvent(key: RunKey, seq: number): Promise<Uint8Array> {
  const record = await loadRecord(key, seq);
  if (record?.kind !== 'event') throw new Error(`Record ${seq} of the run ${key.runId} is no event.`);
  return loadBody(record.messageId, record.body);
}

/** Lets a wait be found by its event, and end at its deadline. */
async function followWait(key: RunKey, { keptUntil }: Snapshot, { seq, wait: begun }: Place): Promise<void> {
  await putWaiter(waiterOf(key, seq, begun), keptUntil);
  await sendTimeout(key, seq, begun);
}

const idOf = ({ entries: [entry] }: StepsRecord): string => {
  if (entry === undefined) throw new Error('A record of steps has none.');
  return entry.messageId;
};

/**
 * Goes on from a wait that was begun before: whoever began it, or ended it, may have died before the rest was done.
 *
 * @returns the id that was answered the first time
 */
async function begunBefore(
  account: Account,
  key: RunKey,
  head: Snapshot,
  start: RunStart,
  { step }: WaitRecord,
): Promise<string> {
  if (!hasStep(head.steps, 'wait', step.stepId)) {
    // Its event had come before.
    const result = await findRecord(key, head, isStepsOf({ kind: 'result', stepId: step.stepId }));
    await followSteps(account, { key, head, start }, result, true);
    return idOf(result);
  }
  const place = await findWait(key, head, step.stepId);
  if (isWaiting(head, place.seq)) await followWait(key, head, place);
  else {
    const record = await recordOfEnd(key, head, place.wait);
    await followEnds(account, [{ key, head, record, places: [place] }], true);
  }
  return place.wait.messageId;
}

async function findWait(key: RunKey, head: Snapshot, stepId: number): Promise<Place> {
  for await (const { record, head: after } of readJournal(key, head.startSeq)) {
    if (record.kind === 'wait' && record.step.stepId === stepId) return { seq: after.seq, wait: record };
  }
  throw new Error(`The wait of step ${stepId} of the run ${key.runId} is not there.`);
}
