/** Finds the hanging runs of an account. */
import type { Account } from '../../account/account.ts';
import { loadRunHistories } from '../../message/runHistories.ts';
import { isFinal } from '../../message/message.ts';
import { now } from '../../shared/clock.ts';
import { eachOf } from '../../shared/lists.ts';
import { byAge } from '../../table/shards.ts';
import { entriesOf } from '../rules/entry.ts';
import { isActive, type JournalRecord, type RunKey, type Snapshot } from '../rules/journal.ts';
import { loadRunJournal } from '../runs/loadRun.ts';
import { loadNewest } from '../store/journals.ts';
import { newestActiveRuns, runShardsOf, type ListedRun } from '../store/runList.ts';
import { awaitedBy, loadWithoutTexts } from '../log/runMessages.ts';
import { hangingOf, isAwaiting, quietMs, type Hanging } from '../log/rules/hanging.ts';

interface HangingRun extends Hanging, Pick<ListedRun, 'runId' | 'createdAt' | 'url'> {}

export interface HangingRuns {
  readonly found: readonly HangingRun[];
  /** Runs that started before this time were not checked. Undefined if all were. */
  readonly lookedFrom: number | undefined;
}

const mostLookedAt = 1_000;
const lookedAtAtOnce = 20;

/** Reads only the last record of a run, which is usually enough. */
async function isBusy(
  { accountId }: RunKey,
  record: JournalRecord,
  snapshot: Snapshot,
  at: number,
): Promise<boolean> {
  if (!isActive(snapshot) || isAwaiting(snapshot) || record.at > at - quietMs) return true;
  if (entriesOf(record).some(({ notBefore }) => notBefore > at)) return true;
  // Steps that were copied from another run are usually not delivered, so they do not show that something is
  // pending.
  const ids = record.kind === 'steps' && record.isCopy === true ? [] : awaitedBy(record);
  const histories = await loadRunHistories(accountId, ids);
  return ids.some((id) => {
    const { attempts, end } = histories.get(id) ?? { attempts: [], end: undefined };
    return end === undefined && !attempts.some(isFinal);
  });
}

export async function loadHanging(key: RunKey, startSeq: number): Promise<Hanging | undefined> {
  const newest = await loadNewest(key);
  // The run may have ended, and its id may have another run now.
  if (newest?.snapshot.startSeq !== startSeq) return undefined;
  if (await isBusy(key, newest.record, newest.snapshot, now())) return undefined;
  const journal = await loadRunJournal(key, startSeq);
  if (journal === undefined) return undefined;
  return hangingOf(journal.snapshot, journal.records, await loadWithoutTexts(journal), now());
}

export async function findHangingRuns({ id: accountId }: Account, until: number): Promise<HangingRuns> {
  const parts = await Promise.all(runShardsOf(accountId).map(newestActiveRuns));
  // The partitions were read back to different times. Only runs after the latest of these times are complete.
  const readFrom = Math.max(0, ...parts.flatMap(({ oldest }) => oldest?.time ?? []));
  const runs = parts
    .flatMap((part) => part.runs)
    .filter(({ createdAt }) => createdAt >= readFrom)
    .sort(byAge);
  const looked = runs.slice(0, mostLookedAt);
  const found: HangingRun[] = [];
  let lookedFrom = readFrom === 0 ? undefined : readFrom;
  if (looked.length < runs.length) lookedFrom = looked.at(-1)?.createdAt;
  await eachOf(looked, lookedAtAtOnce, async ({ runId, createdAt, startSeq, url }) => {
    if (now() > until) {
      lookedFrom = Math.max(lookedFrom ?? 0, createdAt + 1);
      return;
    }
    const hanging = await loadHanging({ accountId, runId }, startSeq);
    if (hanging !== undefined) found.push({ runId, createdAt, url, ...hanging });
  });
  return {
    found: found.sort((one, other) => other.createdAt - one.createdAt),
    lookedFrom,
  };
}
