import { setTimeout } from 'node:timers/promises';
import { now, secondMs, hourMs, dayMs } from '../../shared/clock.ts';
import { TransientError } from '../../error/transientError.ts';
import { count } from '../../aws/metrics.ts';
import {
  snapshotAfter,
  type Snapshot,
  type JournalRecord,
  type RunStart,
  isActive,
  type ListedEntry,
  type RunKey,
} from '../rules/journal.ts';
import { bodiesOf } from '../rules/entry.ts';
import {
  appendRecord,
  loadSnapshot,
  loadRecord,
  extendRecord,
  readJournal,
  type JournalRow,
  type MovedBody,
} from '../store/journals.ts';
import { newId } from '../../shared/ids.ts';
import { cached } from '../../shared/cached.ts';
import { type Account, limitsOf } from '../../account/account.ts';
import { eachOf } from '../../shared/lists.ts';
import { type DeliverySettings, expiryOf, type WorkflowPart } from '../../message/message.ts';
import { extendBody, largestRow, storeBody } from '../../message/bodies.ts';
import type { StoredBody } from '../../message/message.ts';
import { extendListed } from '../store/runList.ts';
import { pauseAmongMany } from '../../aws/retryOnConflict.ts';

/** The record to add to a run, decided from its last snapshot. */
export interface Decision<T = never> {
  /** Undefined if nothing needs to be written. */
  readonly record?: JournalRecord | undefined;
  /** All records of the run are kept at least until then. */
  readonly keptUntil?: number | undefined;
  readonly result?: T | undefined;
}

interface ChangedRun<T> {
  readonly result: T | undefined;
  /** The run's snapshot after the change; undefined for an id without a run. */
  readonly snapshot: Snapshot | undefined;
  readonly record: JournalRecord | undefined;
}

/** Too many other processes are writing to the same journal. */
export class RunBusy extends TransientError {
  override readonly name = 'RunBusy';
}

/** How long a change is retried. An API request times out after 28 s and has other work. */
const changeTimeoutMs = 10 * secondMs;
const longestPauseInTurns = 64;

/**
 * Changes a run. `decide` gets the run's last snapshot. If another process writes a record first, `decide` is
 * called again.
 *
 * @param decide returns undefined if nothing needs to be written
 * @param known the snapshot, if it was just read
 * @throws RunBusy if other processes were faster for 10 s
 */
export async function changeRun<T>(
  key: RunKey,
  decide: (snapshot: Snapshot | undefined) => Decision<T> | undefined | Promise<Decision<T> | undefined>,
  known?: Snapshot,
): Promise<ChangedRun<T>> {
  const until = now() + changeTimeoutMs;
  let snapshot = known ?? (await loadSnapshot(key));
  for (let tries = 0; ; tries += 1) {
    const { record, keptUntil, result } = (await decide(snapshot)) ?? {};
    if (record === undefined) return { result, snapshot, record };
    const after = snapshotAfter(snapshot, record, keptUntil);
    const sentAt = now();
    const found = await appendRecord(key, { record, snapshot: after });
    if (found === undefined) {
      countRecord(record);
      return { result, snapshot: after, record };
    }
    if (now() > until) throw new RunBusy(`The run ${key.runId} is written by too many at once.`);
    if (tries > 0) await setTimeout(pauseAmongMany(tries, now() - sentAt, longestPauseInTurns));
    // The first failure returns the other process's record. After later ones there may be newer records.
    snapshot = tries === 0 ? found : await loadSnapshot(key);
  }
}

const ends = {
  RUN_SUCCESS: 'RunsSucceeded',
  RUN_FAILED: 'RunsFailed',
  RUN_CANCELED: 'RunsCancelled',
} as const;

/** Counts starts and ends. Only one process can write a record, so each is counted once. */
function countRecord(record: JournalRecord): void {
  if (record.kind === 'start') count('RunsStarted');
  else if (record.kind === 'end') count(ends[record.state]);
  else if (record.kind === 'steps' && record.isCopy !== true) count('Steps', record.entries.length);
}

const separator = '#';

/** A record with settings never changes, so it can be cached. */
const settings = cached(hourMs, async (key: string): Promise<RunStart | undefined> => {
  const [accountId = '', seq = '', ...rest] = key.split(separator);
  const record = await loadRecord({ accountId, runId: rest.join(separator) }, Number(seq));
  return record !== undefined && 'start' in record ? record.start : undefined;
});

/** @throws if the record with the settings is not found */
export async function settingsOfRun(key: RunKey, snapshot: Snapshot): Promise<RunStart> {
  // Account ids have no `#`.
  const found = await settings([key.accountId, String(snapshot.factsSeq), key.runId].join(separator));
  if (found === undefined) throw new Error(`The settings of the run ${key.runId} are not there.`);
  return found;
}

/** Records are kept this much longer than needed, so that a run is extended at most once a month. */
export const spareMs = 30 * dayMs;

/**
 * How long a message needs its run's records: during its retries, and then in the dead letter queue.
 *
 * @param notBefore when the message is due
 */
export const neededUntil = (
  account: Account,
  settings: Pick<DeliverySettings, 'maxRetries' | 'timeoutMs'>,
  notBefore: number,
): number => expiryOf({ ...settings, notBefore }, limitsOf(account));

const atOnce = 20;

/**
 * Extends the records of a run, and of the run that waits for it. Must be done before the record that needs
 * this is written.
 *
 * @param until Unix milliseconds, from {@link neededUntil}
 * @returns until when they are kept
 */
export async function extendRun(key: RunKey, snapshot: Snapshot, until: number): Promise<number> {
  if (until <= snapshot.keptUntil) return snapshot.keptUntil;
  const keptUntil = until + spareMs;
  await extendRecords(key, snapshot, keptUntil);
  const { invoker } = await settingsOfRun(key, snapshot);
  // The run that waits for this one must last until this one's records expire, because it may continue only
  // then.
  if (invoker !== undefined && isActive(snapshot)) {
    const invoking = { accountId: key.accountId, runId: invoker.runId };
    await extendActive(invoking, ({ createdAt }) => createdAt === invoker.createdAt, keptUntil);
  }
  return keptUntil;
}

/** @param until Unix milliseconds, from {@link neededUntil} */
export async function extendRunFor(accountId: string, part: WorkflowPart, until: number): Promise<void> {
  const key: RunKey = { accountId, runId: part.runId };
  const isActive = await extendActive(key, (snapshot) => snapshot.startSeq === part.startSeq, until);
  // An ended run gets no new records.
  if (!isActive) await extendRecords(key, part, until + spareMs);
}

/** @returns whether the given run is active */
async function extendActive(
  key: RunKey,
  isIt: (snapshot: Snapshot) => boolean,
  until: number,
): Promise<boolean> {
  const { result = false } = await changeRun(key, async (snapshot) => {
    if (!isActive(snapshot) || !isIt(snapshot)) return undefined;
    if (until <= snapshot.keptUntil) return { result: true };
    const keptUntil = await extendRun(key, snapshot, until);
    return { record: { kind: 'kept', at: now() }, keptUntil, result: true };
  });
  return result;
}

async function extendRecords(
  key: RunKey,
  { startSeq, createdAt }: Pick<Snapshot, 'startSeq' | 'createdAt'>,
  keptUntil: number,
): Promise<void> {
  let some: JournalRow[] = [];
  const extendSome = (): Promise<void> =>
    eachOf(some, atOnce, async ({ record, snapshot: { seq } }) => {
      await extendRecord(key, seq, keptUntil, await movedBodies(key, record, keptUntil));
    });
  for await (const row of readJournal(key, startSeq)) {
    if (row.snapshot.startSeq !== startSeq) break;
    some.push(row);
    if (some.length < atOnce) continue;
    await extendSome();
    some = [];
  }
  await extendSome();
  await extendListed({ ...key, createdAt }, keptUntil);
}

async function movedBodies(
  { accountId }: RunKey,
  record: JournalRecord,
  expiresAt: number,
): Promise<readonly MovedBody[]> {
  const moved: MovedBody[] = [];
  for (const { messageId, body, path } of bodiesOf(record)) {
    if (body.at === 'here') continue;
    moved.push({ path, body: await extendBody({ accountId, messageId, expiresAt }, body, now()) });
  }
  return moved;
}

/**
 * Stores the body of an entry: in its record if it has at most 9 KB, or else in the bucket. Large records
 * would make each read of the journal expensive.
 */
export const storeEntryBody = (
  of: { readonly accountId: string; readonly messageId: string; readonly expiresAt: number },
  body: Uint8Array,
  now: number,
): Promise<StoredBody> => storeBody(of, body, now, largestRow);

type EntryFields = Pick<ListedEntry, 'url' | 'step' | 'forwarded' | 'settings'> &
  Partial<Pick<ListedEntry, 'messageId' | 'notBefore'>>;

/**
 * Makes an entry and stores its body.
 *
 * @param fields a new message id and delivery at once are the defaults
 * @param expiresAt until when the body is kept
 * @param at the entry's time
 */
export async function storeEntry<F extends EntryFields>(
  account: Account,
  fields: F,
  body: Uint8Array,
  expiresAt: number,
  at: number,
): Promise<F & ListedEntry> {
  const { messageId = newId('msg', at, account.shards), notBefore = at } = fields;
  const stored = await storeEntryBody({ accountId: account.id, messageId, expiresAt }, body, at);
  return { ...fields, messageId, createdAt: at, notBefore, body: stored, bodyBytes: body.length };
}

/**
 * @param storedUntil Unix milliseconds
 * @param keptUntil Unix milliseconds, later than `storedUntil` if the run was extended since
 */
export async function extendEntryBodies<E extends ListedEntry>(
  accountId: string,
  entries: readonly E[],
  storedUntil: number,
  keptUntil: number,
  now: number,
): Promise<readonly E[]> {
  if (keptUntil <= storedUntil) return entries;
  return Promise.all(
    entries.map(async (entry) => {
      const { messageId, body } = entry;
      return { ...entry, body: await extendBody({ accountId, messageId, expiresAt: keptUntil }, body, now) };
    }),
  );
}
