/**
 * Does what follows from a record of a run. It comes after the record is written, and again whenever the same is submitted
 * again: whoever wrote the record may have died before it did.
 */
import type { Account } from '../../account/account.ts';
import { eachOf } from '../../shared/lists.ts';
import type { Snapshot, JournalRecord, ListedEntry, RunStart, StartRecord } from '../rules/journal.ts';
import { readJournal, type RunKey } from '../store/journals.ts';
import { listRun, type ListedRun } from '../store/runList.ts';
import { deliverEntries, listMessage, sendLists, type OpenRun } from './runMessages.ts';

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
  readonly head: Snapshot;
  readonly record: StartRecord;
  /** The entries that are delivered first: the payload, or what a run goes on with that has steps of another. */
  readonly entries: readonly ListedEntry[];
}

/** Runs that are put into the list at once. */
const listedAtOnce = 10;

/**
 * Puts runs that have been started into the list, and delivers their first entries. The rows of these messages come last: a run
 * whose rows are there is started.
 *
 * @param isAgain whether this may have been done before: see `sendMessages`
 */
export async function followStarts(
  account: Account,
  begun: readonly Begun[],
  isAgain: boolean,
): Promise<void> {
  const messages = begun.flatMap(({ key, head, record: { start }, entries }) =>
    entries.map((entry) => listMessage({ key, head, start }, account, entry)),
  );
  await sendLists(messages, isAgain, () =>
    eachOf(begun, listedAtOnce, ({ key, head, record: { start } }) =>
      listRun(listedRun(key, head, start), head.keptUntil),
    ),
  );
}

/** Puts a run that has been started into the list, and delivers its payload, as {@link followStarts} does. */
export const followStart = (
  account: Account,
  key: RunKey,
  { head, record }: { readonly head: Snapshot; readonly record: StartRecord },
  isAgain: boolean,
): Promise<void> => followStarts(account, [{ key, head, record, entries: [record.entry] }], isAgain);

/**
 * Delivers steps that have been recorded; a copy of another run's steps was delivered there.
 *
 * @param isAgain whether this may have been done before: see `sendMessages`
 */
export const followSteps = (
  account: Account,
  run: OpenRun,
  record: Extract<JournalRecord, { readonly kind: 'steps' }>,
  isAgain: boolean,
): Promise<void> => deliverEntries(run, account, record.isCopy === true ? [] : record.entries, isAgain);

/** Looks for a record of the present run of an id; undefined where there is none. Only what is submitted a second time costs this. */
export async function lookForRecord<R extends JournalRecord>(
  key: RunKey,
  head: Snapshot,
  isIt: (record: JournalRecord) => record is R,
): Promise<R | undefined> {
  for await (const { record } of readJournal(key, head.startSeq)) if (isIt(record)) return record;
  return undefined;
}

/** Finds a record of the present run of an id, as {@link lookForRecord} does. @throws when it is not there */
export async function findRecord<R extends JournalRecord>(
  key: RunKey,
  head: Snapshot,
  isIt: (record: JournalRecord) => record is R,
): Promise<R> {
  const record = await lookForRecord(key, head, isIt);
  if (record === undefined) throw new Error(`A record of the run ${key.runId} is not there.`);
  return record;
}
