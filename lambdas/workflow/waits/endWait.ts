/**
 * The end of a wait, with its event or without. Its result is a record in the run's journal like any other step's, and whoever
 * writes it first ends the wait. What follows is done again by the look at the wait that is sent before: see `lookAtWait.ts`.
 */
import type { Account } from '../../account/account.ts';
import { now, secondMs } from '../../shared/clock.ts';
import { newId } from '../../shared/ids.ts';
import type { Snapshot, ListedEntry, RunStart, StepsRecord, WaitRecord } from '../rules/journal.ts';
import type { Message } from '../../message/message.ts';
import { waitResult } from '../waiting.ts';
import type { WaitTimeoutJob } from '../../job/job.ts';
import { loadRecord, type RecordKey, type RunKey } from '../store/journals.ts';
import { removeWaiters, type Waiter } from '../store/waiters.ts';
import { isFarFrom, sendAll, sendJob, withdrawFarWait } from '../../job/send.ts';
import { storeEntryBody } from '../runs/entryBodies.ts';
import { settingsOfRun } from '../runs/settings.ts';
import { extendRun, neededUntil } from '../runs/extendRun.ts';
import { listMessage, sendLists, type OpenRun } from '../runs/runMessages.ts';

/** A wait as its end needs it. */
export type WaitFacts = Pick<
  WaitRecord,
  'step' | 'eventId' | 'url' | 'timeoutUrl' | 'forwarded' | 'timeoutForwarded' | 'settings'
>;

/** A wait, and its place in the run's journal. */
export interface Place {
  readonly seq: number;
  readonly wait: WaitRecord;
}

/** The result of a wait, before it is recorded. */
export interface WaitResult {
  readonly entry: ListedEntry;
  /** Unix milliseconds until which all records of the run are kept for it. */
  readonly keptUntil: number;
}

/**
 * Makes the result of a wait, and stores its body. Each process makes its own under an id of its own: of two that end one wait,
 * one is recorded, and the other's body is not where the first one's is.
 *
 * @param event the bytes of the notification; undefined when the time ran out
 */
export async function resultOf(
  account: Account,
  key: RunKey,
  head: Snapshot,
  start: RunStart,
  wait: WaitFacts,
  event: Uint8Array | undefined,
): Promise<WaitResult> {
  const { step, eventId, settings } = wait;
  const time = now();
  const keptUntil = await extendRun(
    key,
    head,
    neededUntil(account, { ...start.settings, ...settings }, time),
  );
  const messageId = newId('msg', time, account.shards);
  const body = waitResult(step, eventId, event);
  const isTimeout = event === undefined;
  const entry: ListedEntry = {
    messageId,
    url: isTimeout ? wait.timeoutUrl : wait.url,
    createdAt: time,
    notBefore: time,
    body: await storeEntryBody({ accountId: key.accountId, messageId, expiresAt: keptUntil }, body, time),
    bodyBytes: body.length,
    step: { kind: 'result', ...step, waitEventId: eventId, waitTimeout: isTimeout ? true : undefined },
    forwarded: isTimeout ? wait.timeoutForwarded : wait.forwarded,
    settings,
  };
  return { entry, keptUntil };
}

/** Reads the record of a wait. @throws when it is not there */
export async function loadWait(key: RunKey, seq: number): Promise<WaitRecord> {
  const record = await loadRecord(key, seq);
  if (record?.kind !== 'wait') throw new Error(`Record ${seq} of the run ${key.runId} is no wait.`);
  return record;
}

export const waiterOf = (key: RunKey, seq: number, { eventId, at }: WaitRecord): Waiter => ({
  ...key,
  eventId,
  seq,
  at,
});

const workOf = ({ accountId, runId }: RunKey, seq: number, dueAt: number): WaitTimeoutJob => ({
  kind: 'waitTimeout',
  accountId,
  runId,
  seq,
  dueAt,
});

/** Has a wait end at its deadline. */
export const sendTimeout = (key: RunKey, seq: number, { deadline }: WaitRecord): Promise<void> =>
  sendJob(workOf(key, seq, deadline), deadline);

/** The request that wakes waits is over by then: a function behind the API ends after 28 s. */
const lookAfterMs = 30 * secondMs;

/**
 * Has somebody look at waits that this process is about to end. To be called before their ends are recorded: from then on the
 * results are delivered, whoever dies.
 */
export async function sendLooks(places: readonly RecordKey[]): Promise<void> {
  const dueAt = now() + lookAfterMs;
  await sendAll(places, (place) => ({ job: workOf(place, place.seq, dueAt), dueAt }));
}

/** Takes back the end of a wait that is over. Scheduler has room for a million: those that ended early must not fill it. */
export async function withdrawTimeout(key: RunKey, { seq, wait }: Place): Promise<void> {
  const { at, deadline } = wait;
  const isKept = isFarFrom(at, deadline) && isFarFrom(now(), deadline);
  if (isKept) await withdrawFarWait(workOf(key, seq, deadline));
}

/** Waits of one run that have ended, with the record that ended them. */
export interface Ended {
  readonly key: RunKey;
  readonly head: Snapshot;
  readonly record: StepsRecord;
  readonly places: readonly Place[];
}

/**
 * Does what follows the ends of waits: their results are delivered, and then they wait no more. To be done again without harm
 * for as long as the messages' rows are there, which keep a message from being delivered twice; where they have expired, nothing
 * is delivered.
 *
 * @param isAgain whether this may have been done before: see `sendMessages`
 */
export async function followEnds(account: Account, all: readonly Ended[], isAgain: boolean): Promise<void> {
  const messages: Message[] = [];
  for (const { key, head, record } of all) {
    const run: OpenRun = { key, head, start: await settingsOfRun(key, head) };
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
