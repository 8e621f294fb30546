/**
 * Changes of runs: each is one record behind the last one of the run's journal. Each record has a time to live, which is extended
 * where the run lasts longer.
 */
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
  type MovedBody,
} from '../store/journals.ts';
import { cached } from '../../shared/cached.ts';
import { type Account, limitsOf } from '../../account/account.ts';
import { eachOf } from '../../shared/lists.ts';
import { type DeliverySettings, expiryOf, type WorkflowPart } from '../../message/message.ts';
import { extendBody, type StoredBody, largestRow, storeBody } from '../../message/bodies.ts';
import type { JournalRow } from '../store/rows.ts';
import { extendListed } from '../store/runList.ts';
import { pauseAmongMany } from '../../aws/retryOnConflict.ts';

/** The record that a run is to get, as decided on its last snapshot. */
export interface Decision<T> {
  /** Absent where nothing is to be written. */
  readonly record?: JournalRecord | undefined;
  /** Unix milliseconds until which this record needs all records of the run. */
  readonly keptUntil?: number | undefined;
  readonly result: T;
}

/** A run after a decision. */
export interface ChangedRun<T> {
  readonly result: T;
  /** The run's snapshot now; undefined for an id that has no run. */
  readonly snapshot: Snapshot | undefined;
  /** The record that was written, if any. */
  readonly record: JournalRecord | undefined;
}

/** So many other processes wrote to the same journal that this one gives up for now. */
export class RunBusy extends TransientError {
  override readonly name = 'RunBusy';
}

/** Tries of a change end after this: a request to the API ends after 28 s, and has more to do. */
const changeTimeoutMs = 10 * secondMs;
const longestPauseInTurns = 64;

/**
 * Changes a run: `decide` is called with its last snapshot, and again where another process was faster.
 *
 * @param known the snapshot, if it was read a moment ago
 * @throws RunBusy when other processes were faster for 10 s; nothing is changed then
 */
export async function changeRun<T>(
  key: RunKey,
  decide: (snapshot: Snapshot | undefined) => Decision<T> | Promise<Decision<T>>,
  known?: Snapshot,
): Promise<ChangedRun<T>> {
  const until = now() + changeTimeoutMs;
  let snapshot = known ?? (await loadSnapshot(key));
  for (let tries = 0; ; tries += 1) {
    const { record, keptUntil, result } = await decide(snapshot);
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
    // The first time this is what the other process has written; later more may have followed.
    snapshot = tries === 0 ? found : await loadSnapshot(key);
  }
}

const ends = {
  RUN_SUCCESS: 'RunsSucceeded',
  RUN_FAILED: 'RunsFailed',
  RUN_CANCELED: 'RunsCancelled',
} as const;

/** Counts a record that was written; only one process can write it. */
function countRecord(record: JournalRecord): void {
  if (record.kind === 'start') count('RunsStarted');
  else if (record.kind === 'end') count(ends[record.state]);
  else if (record.kind === 'steps' && record.isCopy !== true) count('Steps', record.entries.length);
}

const separator = '#';

/** The settings of a run are written once, so a process may keep them. */
const settings = cached(hourMs, async (key: string): Promise<RunStart | undefined> => {
  const [accountId = '', seq = '', ...rest] = key.split(separator);
  const record = await loadRecord({ accountId, runId: rest.join(separator) }, Number(seq));
  return record !== undefined && 'start' in record ? record.start : undefined;
});

/** Reads the settings of a run. @throws when the record that its snapshot names is not there */
export async function settingsOfRun(key: RunKey, snapshot: Snapshot): Promise<RunStart> {
  // No account has a `#` in its id.
  const found = await settings([key.accountId, String(snapshot.factsSeq), key.runId].join(separator));
  if (found === undefined) throw new Error(`The settings of the run ${key.runId} are not there.`);
  return found;
}

/** Records are kept this much longer than they are needed, so that few runs have to be extended, and once a month at most. */
export const spareMs = 30 * dayMs;

/**
 * Computes until when a run's records are needed by a message that is due at a moment: its retries, then the dead letter queue.
 *
 * @param notBefore Unix milliseconds
 * @returns Unix milliseconds
 */
export const neededUntil = (
  account: Account,
  settings: Pick<DeliverySettings, 'maxRetries' | 'timeoutMs'>,
  notBefore: number,
): number => expiryOf({ ...settings, notBefore }, limitsOf(account));

/** Records that are extended at once. */
const atOnce = 20;

/**
 * Extends the time to live of all records of a run where they would expire too early, and of a run that waits for its end. Called
 * before the record is written that needs them.
 *
 * @param until Unix milliseconds, as {@link neededUntil} computes it
 * @returns Unix milliseconds until which they are kept
 */
export async function extendRun(key: RunKey, snapshot: Snapshot, until: number): Promise<number> {
  if (until <= snapshot.keptUntil) return snapshot.keptUntil;
  const keptUntil = until + spareMs;
  await extendRecords(key, snapshot, keptUntil);
  const { invoker } = await settingsOfRun(key, snapshot);
  // The invoker is told of the end before the records of this run expire, and goes on from then.
  if (invoker !== undefined && isActive(snapshot)) await extendInvoker(key.accountId, invoker, keptUntil);
  return keptUntil;
}

/**
 * Extends a run for a message that waits for longer than the run's records were to be kept.
 *
 * @param until Unix milliseconds, as {@link neededUntil} computes it
 */
export async function extendRunFor(accountId: string, part: WorkflowPart, until: number): Promise<void> {
  const key: RunKey = { accountId, runId: part.runId };
  const isActive = await extendActive(key, (snapshot) => snapshot.startSeq === part.startSeq, until);
  // Nothing is written behind the end of a run, or the start of the next one of its id.
  if (!isActive) await extendRecords(key, part, until + spareMs);
}

const extendInvoker = (
  accountId: string,
  { runId, createdAt }: NonNullable<RunStart['invoker']>,
  until: number,
): Promise<boolean> =>
  extendActive({ accountId, runId }, (snapshot) => snapshot.createdAt === createdAt, until);

/** @returns whether the given run is active */
async function extendActive(
  key: RunKey,
  isIt: (snapshot: Snapshot) => boolean,
  until: number,
): Promise<boolean> {
  const { result } = await changeRun(key, async (snapshot): Promise<Decision<boolean>> => {
    if (!isActive(snapshot) || !isIt(snapshot)) return { result: false };
    if (until <= snapshot.keptUntil) return { result: true };
    return {
      record: { kind: 'kept', at: now() },
      keptUntil: await extendRun(key, snapshot, until),
      result: true,
    };
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

/** Extends the bodies of a record: an object of the bucket gets another key for that. */
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
 * Stores the body of an entry: up to 9 KB in its record, because a reader of one record reads all before it; else in the bucket.
 *
 * @param now Unix milliseconds
 */
export const storeEntryBody = (
  of: { readonly accountId: string; readonly messageId: string; readonly expiresAt: number },
  body: Uint8Array,
  now: number,
): Promise<StoredBody> => storeBody(of, body, now, largestRow);

/**
 * Extends the bodies of entries where the records of their run were extended since the bodies were stored.
 *
 * @param storedUntil Unix milliseconds
 * @param keptUntil Unix milliseconds
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
