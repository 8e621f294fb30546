/**
 * Lists runs and delivers their entries, as their records ask for: after a record is written, and again when the same is submitted
 * again, because the process that wrote the record may have died before this. The messages that deliver entries have no body of
 * their own: it is made of the journal as they are delivered.
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
import { isDeliverable } from '../../destination/destination.ts';
import { expiryOf, type Message } from '../../message/message.ts';
import { attemptJob, type RunStartJob } from '../../job/job.ts';
import type { StoredBody } from '../../message/bodies.ts';
import { storedMessages } from '../../message/list.ts';
import { putMessages } from '../../message/messages.ts';
import { sendAll } from '../../job/send.ts';
import { ensureKeys } from '../../lane/ensureKeys.ts';

/** A run as its messages need it. */
export interface OpenRun {
  readonly key: RunKey;
  readonly snapshot: Pick<Snapshot, 'createdAt' | 'startSeq'>;
  readonly start: RunStart;
}

/** The stored body of a message that delivers the list. */
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
    // Earlier releases took invokes with malformed URLs: their results go to the URL that the run was started with.
    url: isDeliverable(entry.url) ? entry.url : start.url,
    method: 'POST',
    // The headers are made as the message is delivered, as its body is.
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
 * @param isAgain as {@link sendMessages} takes it
 * @throws when that has to be done again
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

/** Stores and sends messages that deliver entries of any runs, as {@link sendMessages} does. */
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

/** Messages that are sent and stored together: the jobs of more would come long before their messages are stored. */
const sentTogether = 100;

/**
 * Sends the first attempts of messages of runs, and then stores the messages. A message whose row is there has been sent, so a
 * process that does this again skips it, and no attempt is made beside one that is in flight.
 *
 * @param isAgain whether this may have been done before, by a process that died while it did
 * @param beside is done before the messages are stored, so that their rows tell that it is done, too
 * @throws when that has to be done again
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
  // A worker waits for the row of a message that is new, or whose job is.
  const madeAt = isAgain ? now() : undefined;
  const outcomes = await Promise.allSettled([
    beside?.(),
    sendAll(messages, ({ message }) => ({
      job: { ...attemptJob(message, 0), madeAt },
      dueAt: message.notBefore,
    })),
  ]);
  // Both acts have ended here, so neither goes on after the answer.
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
  await putMessages(messages);
}

/** Makes what the list shows of a run. */
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

/** A run that has been started. */
export interface Begun {
  readonly key: RunKey;
  readonly snapshot: Snapshot;
  readonly record: StartRecord;
  /** The entries that are delivered first: the payload, or the steps that a failed run goes on with. */
  readonly entries: readonly ListedEntry[];
}

/** Runs that are put into the list at once. */
const listedAtOnce = 10;

/**
 * Puts runs that have been started into the list, and delivers their first entries. The rows of these messages are written last:
 * a run whose rows are there is started.
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

/** Puts a run that has been started into the list, and delivers its payload, as {@link followStarts} does. */
export const followStart = (
  account: Account,
  key: RunKey,
  { snapshot, record }: { readonly snapshot: Snapshot; readonly record: StartRecord },
  isAgain: boolean,
): Promise<void> => followStarts(account, [{ key, snapshot, record, entries: [record.entry] }], isAgain);

/**
 * Delivers steps that have been recorded; a copy of another run's steps was delivered there.
 *
 * @param isAgain whether this may have been done before: see `sendMessages`
 */
export const followSteps = (
  account: Account,
  run: OpenRun,
  record: StepsRecord,
  isAgain: boolean,
): Promise<void> => deliverEntries(run, account, record.isCopy === true ? [] : record.entries, isAgain);

/** Tells whether a record has a result or a plan of a step. */
export const isStepsOf =
  ({ kind, stepId }: Pick<Step, 'kind' | 'stepId'>) =>
  (record: JournalRecord): record is StepsRecord =>
    record.kind === 'steps' &&
    record.entries.some(({ step }) => step?.kind === kind && step.stepId === stepId);

/** Searches a record of the newest run of an id; undefined where there is none. Only repeated submissions cost this. */
export async function searchRecord<R extends JournalRecord>(
  key: RunKey,
  snapshot: Snapshot,
  isIt: (record: JournalRecord) => record is R,
): Promise<R | undefined> {
  for await (const { record } of readJournal(key, snapshot.startSeq)) if (isIt(record)) return record;
  return undefined;
}

/** Finds a record of the newest run of an id, as {@link searchRecord} does. @throws when it is not there */
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
 * The job that checks a start is due this long after it was sent: the request to the API has ended after 29 s, and an attempt
 * that it sent last, without storing the message, is dropped 15 s later (`delivery/deliver.ts`).
 */
export const checkAfterMs = 45 * secondMs;

/**
 * Sends the jobs that check starts which this process is about to record, ten to a call. They finish the starts if it dies.
 *
 * @throws when a job could not be sent: its start must not be recorded then
 */
export async function sendStartChecks(starts: readonly Omit<RunStartJob, 'kind'>[]): Promise<void> {
  const dueAt = now() + checkAfterMs;
  await sendAll(starts, (start) => ({ job: { kind: 'runStart', ...start }, dueAt }));
}

/** Finds the record that has the result of a step. @throws when it is not there */
export const findResult = (key: RunKey, snapshot: Snapshot, stepId: number): Promise<StepsRecord> =>
  findRecord(key, snapshot, isStepsOf({ kind: 'result', stepId }));
