import type { Account } from '../../account/account.ts';
import { now, secondMs } from '../../shared/clock.ts';
import type { Snapshot, ListedEntry, RunStart, StepsRecord, WaitRecord, RunKey } from '../rules/journal.ts';
import type { Message } from '../../message/message.ts';
import { loadBody } from '../../message/bodies.ts';
import { waitResult } from '../requestedWait.ts';
import type { WaitTimeoutJob } from '../../job/job.ts';
import { loadRecord, type RecordKey } from '../store/journals.ts';
import { putWaiter, removeWaiters, type Waiter } from '../store/waiters.ts';
import { isFarFrom, sendAll, sendJob, withdrawFarWait } from '../../job/send.ts';
import { storeEntry, settingsOfRun, extendRun, neededUntil } from '../runs/changeRun.ts';
import { listMessage, sendLists, type OpenRun } from '../runs/follow.ts';

type WaitSettings = Pick<
  WaitRecord,
  'step' | 'eventId' | 'url' | 'timeoutUrl' | 'forwarded' | 'timeoutForwarded' | 'settings'
>;

export interface PlacedWait {
  readonly seq: number;
  readonly wait: WaitRecord;
}

export interface WaitResult {
  readonly entry: ListedEntry;
  /** Until when all records of the run are kept. */
  readonly keptUntil: number;
}

/**
 * Makes the result of a wait, and stores its body under a new id. So two processes that end one wait do not
 * overwrite each other's body.
 *
 * @param event the bytes of the notification; undefined after a timeout
 */
export async function resultOf(
  account: Account,
  key: RunKey,
  snapshot: Snapshot,
  start: RunStart,
  wait: WaitSettings,
  event: Uint8Array | undefined,
): Promise<WaitResult> {
  const { step, eventId, settings } = wait;
  const time = now();
  const keptUntil = await extendRun(
    key,
    snapshot,
    neededUntil(account, { ...start.settings, ...settings }, time),
  );
  const isTimeout = event === undefined;
  const fields = {
    url: isTimeout ? wait.timeoutUrl : wait.url,
    step: {
      kind: 'result' as const,
      ...step,
      waitEventId: eventId,
      waitTimeout: isTimeout ? true : undefined,
    },
    forwarded: isTimeout ? wait.timeoutForwarded : wait.forwarded,
    settings,
  };
  const entry = await storeEntry(account, fields, waitResult(step, eventId, event), keptUntil, time);
  return { entry, keptUntil };
}

/** @throws if there is no such record */
export async function loadWait(key: RunKey, seq: number): Promise<WaitRecord> {
  const record = await loadRecord(key, seq);
  if (record?.kind !== 'wait') throw new Error(`Record ${seq} of the run ${key.runId} is no wait.`);
  return record;
}

/**
 * Reads a stored event.
 *
 * @throws if there is no such record
 */
export async function loadEvent(key: RunKey, seq: number): Promise<Uint8Array> {
  const record = await loadRecord(key, seq);
  if (record?.kind !== 'event') throw new Error(`Record ${seq} of the run ${key.runId} is no event.`);
  return loadBody(record.messageId, record.body);
}

export const waiterOf = (key: RunKey, seq: number, { eventId, at }: WaitRecord): Waiter => ({
  ...key,
  eventId,
  seq,
  at,
});

const jobOf = ({ accountId, runId }: RunKey, seq: number, dueAt: number): WaitTimeoutJob => ({
  kind: 'waitTimeout',
  accountId,
  runId,
  seq,
  dueAt,
});

/**
 * Adds a wait to those of its event, and schedules its timeout.
 *
 * @param keptUntil until when the records of the run are kept
 */
export async function beginWait(key: RunKey, { seq, wait }: PlacedWait, keptUntil: number): Promise<void> {
  await putWaiter(waiterOf(key, seq, wait), keptUntil);
  await sendJob(jobOf(key, seq, wait.deadline), wait.deadline);
}

/**
 * The delay of a check. By then the request that ended the waits is over: an API function times out after 28
 * s.
 */
const checkAfterMs = 30 * secondMs;

/**
 * Sends jobs that check waits, before the waits are ended. If this process dies, the jobs deliver the
 * results.
 */
export async function sendChecks(places: readonly RecordKey[]): Promise<void> {
  const dueAt = now() + checkAfterMs;
  await sendAll(places, (place) => ({ job: jobOf(place, place.seq, dueAt), dueAt }));
}

/** Cancels the timeout of a finished wait, because Scheduler holds only a million schedules. */
export async function withdrawTimeout(key: RunKey, { seq, wait }: PlacedWait): Promise<void> {
  const { at, deadline } = wait;
  const isKept = isFarFrom(at, deadline) && isFarFrom(now(), deadline);
  if (isKept) await withdrawFarWait(jobOf(key, seq, deadline));
}

/** Waits of one run that have ended, with the record that ended them. */
export interface Ended {
  readonly key: RunKey;
  readonly snapshot: Snapshot;
  readonly record: StepsRecord;
  readonly places: readonly PlacedWait[];
}

/**
 * Delivers the results of ended waits, and then removes the waits from those of their event. Can be repeated.
 *
 * @param isAgain whether this may have been done before: see `sendMessages`
 */
export async function followEnds(account: Account, all: readonly Ended[], isAgain: boolean): Promise<void> {
  const messages: Message[] = [];
  for (const { key, snapshot, record } of all) {
    const run: OpenRun = { key, snapshot, start: await settingsOfRun(key, snapshot) };
    messages.push(...record.entries.map((entry) => listMessage(run, account, entry)));
  }
  await sendLists(
    messages.filter(({ expiresAt }) => expiresAt > now()),
    isAgain,
  );
  await removeWaiters(
    all.flatMap(({ key, places }) => places.map(({ seq, wait }) => waiterOf(key, seq, wait))),
  );
}
