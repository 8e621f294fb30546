/**
 * Does the work that follows a record of a run: updates the list of runs and delivers entries. A repeated
 * submission repeats it, because the first process may have died. The messages are stored without a body,
 * which is made at the delivery.
 */
import { type Account, limitsOf } from '../../account/account.ts';
import { chunksOf, eachOf } from '../../shared/lists.ts';
import type {
  Snapshot,
  JournalRecord,
  ListedEntry,
  RunStart,
  StartRecord,
  StepsRecord,
  RunKey,
} from '../rules/journal.ts';
import type { Step } from '../rules/step.ts';
import { readJournal } from '../store/journals.ts';
import { listRun, type ListedRun } from '../store/runList.ts';
import { now, secondMs } from '../../shared/clock.ts';
import { expiryOf, type Message } from '../../message/message.ts';
import { attemptJob, type RunStartJob } from '../../job/job.ts';
import type { StoredBody } from '../../message/message.ts';
import { storedMessages } from '../../message/list.ts';
import { putMessages } from '../../message/messages.ts';
import { sendAll } from '../../job/send.ts';
import { ensureKeys } from '../../lane/ensureKeys.ts';

export interface OpenRun {
  readonly key: RunKey;
  readonly snapshot: Pick<Snapshot, 'createdAt' | 'startSeq'>;
  readonly start: RunStart;
}

/** The body of a message that delivers the list is made at the delivery. */
export const emptyBody: StoredBody = { at: 'here', bytes: new Uint8Array(), deflated: false };

/** Makes the message that delivers the list up to an entry. */
export function listMessage(
  { key, snapshot, start }: OpenRun,
  account: Account,
  entry: Pick<ListedEntry, 'messageId' | 'url' | 'createdAt' | 'notBefore' | 'settings'>,
): Message {
  const { accountId, runId } = key;
  const { createdAt, startSeq } = snapshot;
  const settings = { ...start.settings, ...entry.settings };
  const { messageId, notBefore } = entry;
  return {
    ...settings,
    url: entry.url,
    method: 'POST',
    // Made at the delivery, like the body.
    headers: [],
    scheduleId: start.scheduleId,
    messageId,
    accountId,
    prefix: start.prefix,
    createdAt: entry.createdAt,
    notBefore,
    callerIp: start.callerIp,
    workflow: { role: 'list', runId, createdAt, startSeq },
    expiresAt: expiryOf({ ...settings, notBefore }, limitsOf(account)),
  };
}

/**
 * Stores and sends the messages that deliver entries.
 *
 * @param isAgain as in {@link sendMessages}
 * @throws if it must be retried
 */
export const deliverEntries = (
  run: OpenRun,
  account: Account,
  entries: readonly ListedEntry[],
  isAgain: boolean,
): Promise<void> =>
  sendLists(
    entries.map((entry) => listMessage(run, account, entry)),
    isAgain,
  );

export const sendLists = (
  messages: readonly Message[],
  isAgain: boolean,
  beside?: () => Promise<void>,
): Promise<void> =>
  sendMessages(
    messages.map((message) => ({ message, stored: emptyBody })),
    isAgain,
    beside,
  );

interface StoredMessage {
  readonly message: Message;
  readonly stored: StoredBody;
}

/** At most this many, because a job must not arrive long before its message is stored. */
const sentTogether = 100;

/**
 * Sends the first attempts of messages, and then stores the messages. A process that repeats this skips
 * stored messages, because they were sent: so there are never two attempts at once.
 *
 * @param isAgain whether a process may have done this before and died
 * @param beside other work that is finished before the messages are stored, so that a stored message shows
 * that it is done
 * @throws if it must be retried
 */
export async function sendMessages(
  messages: readonly StoredMessage[],
  isAgain: boolean,
  beside?: () => Promise<void>,
): Promise<void> {
  const stored = isAgain ? await storedMessages(messages.map(({ message }) => message)) : new Set<string>();
  const left = messages.filter(({ message }) => !stored.has(message.messageId));
  for (const { message } of left) await ensureKeys(message);
  const [first = [], ...others] = chunksOf(left, sentTogether);
  await sendSome(first, isAgain, beside);
  for (const some of others) await sendSome(some, isAgain);
}

async function sendSome(
  messages: readonly StoredMessage[],
  isAgain: boolean,
  beside?: () => Promise<void>,
): Promise<void> {
  // A worker waits for a message that is not stored yet only if its job is new.
  const madeAt = isAgain ? now() : undefined;
  const outcomes = await Promise.allSettled([
    beside?.(),
    sendAll(messages, ({ message }) => ({
      job: { ...attemptJob(message, 0), madeAt },
      dueAt: message.notBefore,
    })),
  ]);
  // Thrown only now, so that neither continues in the background after the answer.
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
  await putMessages(messages);
}

export const listedRun = (
  key: RunKey,
  { createdAt, startSeq, state }: Pick<Snapshot, 'createdAt' | 'startSeq' | 'state'>,
  { url, callerIp, settings: { labels, flowControl } }: RunStart,
): ListedRun => ({
  ...key,
  createdAt,
  startSeq,
  url,
  labels,
  callerIp,
  flowControlKey: flowControl?.key,
  state,
});

export interface Begun {
  readonly key: RunKey;
  readonly snapshot: Snapshot;
  readonly record: StartRecord;
  /** The payload; or the steps at which a failed run is resumed. */
  readonly entries: readonly ListedEntry[];
}

const listedAtOnce = 10;

/**
 * Lists and delivers runs. The messages are stored last, and show that the run was delivered.
 *
 * @param isAgain whether this may have been done before: see `sendMessages`
 */
export async function followStarts(
  account: Account,
  begun: readonly Begun[],
  isAgain: boolean,
): Promise<void> {
  const messages = begun.flatMap(({ key, snapshot, record: { start }, entries }) =>
    entries.map((entry) => listMessage({ key, snapshot, start }, account, entry)),
  );
  await sendLists(messages, isAgain, () =>
    eachOf(begun, listedAtOnce, ({ key, snapshot, record: { start } }) =>
      listRun(listedRun(key, snapshot, start), snapshot.keptUntil),
    ),
  );
}

export const followStart = (
  account: Account,
  key: RunKey,
  { snapshot, record }: { readonly snapshot: Snapshot; readonly record: StartRecord },
  isAgain: boolean,
): Promise<void> => followStarts(account, [{ key, snapshot, record, entries: [record.entry] }], isAgain);

/**
 * Delivers the entries of steps, except copies, which another run has delivered.
 *
 * @param isAgain whether this may have been done before: see `sendMessages`
 */
export const followSteps = (
  account: Account,
  run: OpenRun,
  record: StepsRecord,
  isAgain: boolean,
): Promise<void> => deliverEntries(run, account, record.isCopy === true ? [] : record.entries, isAgain);

export const isStepsOf =
  ({ kind, stepId }: Pick<Step, 'kind' | 'stepId'>) =>
  (record: JournalRecord): record is StepsRecord =>
    record.kind === 'steps' &&
    record.entries.some(({ step }) => step?.kind === kind && step.stepId === stepId);

export async function searchRecord<R extends JournalRecord>(
  key: RunKey,
  snapshot: Snapshot,
  isIt: (record: JournalRecord) => record is R,
): Promise<R | undefined> {
  for await (const { record } of readJournal(key, snapshot.startSeq)) if (isIt(record)) return record;
  return undefined;
}

/** Like {@link searchRecord}. @throws if there is no such record */
export async function findRecord<R extends JournalRecord>(
  key: RunKey,
  snapshot: Snapshot,
  isIt: (record: JournalRecord) => record is R,
): Promise<R> {
  const record = await searchRecord(key, snapshot, isIt);
  if (record === undefined) throw new Error(`A record of the run ${key.runId} is not there.`);
  return record;
}

/**
 * The delay of the job that checks a start. By then the API request is over (29 s), and an attempt of a
 * message that was not stored has been dropped (15 s, `delivery/deliver.ts`).
 */
export const checkAfterMs = 45 * secondMs;

/**
 * Sends jobs that check starts, before the starts are recorded. If the process dies, the jobs finish its
 * work.
 *
 * @throws if a job could not be sent; its start must not be recorded then
 */
export async function sendStartChecks(starts: readonly Omit<RunStartJob, 'kind'>[]): Promise<void> {
  const dueAt = now() + checkAfterMs;
  await sendAll(starts, (start) => ({ job: { kind: 'runStart', ...start }, dueAt }));
}

/** @throws if the record does not have the result */
export function resultIn({ entries }: StepsRecord, stepId: number): ListedEntry {
  const entry = entries.find(({ step }) => step?.kind === 'result' && step.stepId === stepId);
  if (entry === undefined) throw new Error(`The result of step ${stepId} is not in its record.`);
  return entry;
}

/** @throws if there is no such record */
export const findResult = (key: RunKey, snapshot: Snapshot, stepId: number): Promise<StepsRecord> =>
  findRecord(key, snapshot, isStepsOf({ kind: 'result', stepId }));
