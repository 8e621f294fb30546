/** Changes of runs: each is one record behind the last one of the run's journal. */
import { setTimeout } from 'node:timers/promises';
import { now, secondMs } from '../../shared/clock.ts';
import { TransientError } from '../../error/transientError.ts';
import { count } from '../../aws/metrics.ts';
import { snapshotAfter, type Snapshot, type JournalRecord } from '../rules/journal.ts';
import { appendRecord, loadSnapshot, type RunKey } from '../store/journals.ts';
import { pauseAmongMany } from '../../aws/retryOnConflict.ts';

/** The change of a run that was decided on, as it is now. */
export interface Decision<T> {
  /** Absent where nothing is to be written. */
  readonly record?: JournalRecord | undefined;
  /** Unix milliseconds until which all records of the run are needed, as far as this one tells. */
  readonly keptUntil?: number | undefined;
  readonly result: T;
}

export interface Change<T> {
  readonly result: T;
  /** True of the run now; undefined for an id that has no run. */
  readonly head: Snapshot | undefined;
  /** The record that was written. */
  readonly record: JournalRecord | undefined;
}

/** So many others wrote the same journal in the meantime that this process gives up for now. */
export class RunBusy extends TransientError {
  override readonly name = 'RunBusy';
}

/** Others had their turn for so long. A request to the API ends after 28 s, and has more to do than this. */
const memoryTimeoutMs = 10 * secondMs;
const longestPauseInTurns = 64;

/**
 * Changes a run: `decide` is called with what is true of it, and again where another process was faster.
 *
 * @param known what was true of the run when it was read a moment ago; it is read where this is not given
 * @throws RunBusy when others were faster for 10 s; nothing is changed then
 */
export async function changeRun<T>(
  key: RunKey,
  decide: (head: Snapshot | undefined) => Decision<T> | Promise<Decision<T>>,
  known?: Snapshot,
): Promise<Change<T>> {
  const until = now() + memoryTimeoutMs;
  let head = known ?? (await loadSnapshot(key));
  for (let tries = 0; ; tries += 1) {
    const { record, keptUntil, result } = await decide(head);
    if (record === undefined) return { result, head, record };
    const after = snapshotAfter(head, record, keptUntil);
    const sentAt = now();
    const found = await appendRecord(key, { record, head: after });
    if (found === undefined) {
      countRecord(record);
      return { result, head: after, record };
    }
    if (now() > until) throw new RunBusy(`The run ${key.runId} is written by too many at once.`);
    if (tries > 0) await setTimeout(pauseAmongMany(tries, now() - sentAt, longestPauseInTurns));
    // The first time that is what the other has written; later more may have followed.
    head = tries === 0 ? found : await loadSnapshot(key);
  }
}

const ends = {
  RUN_SUCCESS: 'RunsSucceeded',
  RUN_FAILED: 'RunsFailed',
  RUN_CANCELED: 'RunsCancelled',
} as const;

/** Counts a record that was written: once, as only one process can write it. */
function countRecord(record: JournalRecord): void {
  if (record.kind === 'start') count('RunsStarted');
  else if (record.kind === 'end') count(ends[record.state]);
  else if (record.kind === 'steps' && record.isCopy !== true) count('Steps', record.entries.length);
}
