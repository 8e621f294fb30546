/** The facts of runs. Each is written once, so a process may keep what it has read. */
import type { Snapshot, RunStart } from '../rules/journal.ts';
import { loadRecord, type RunKey } from '../store/journals.ts';
import { cached } from '../../shared/cached.ts';
import { hourMs } from '../../shared/clock.ts';

const separator = '#';

const facts = cached(hourMs, async (key: string): Promise<RunStart | undefined> => {
  const [accountId = '', seq = '', ...rest] = key.split(separator);
  const record = await loadRecord({ accountId, runId: rest.join(separator) }, Number(seq));
  return record?.kind === 'start' || record?.kind === 'upgrade' ? record.start : undefined;
});

/**
 * Reads the facts of a run.
 *
 * @param head what is true of it
 * @throws when they are not where it says
 */
export async function settingsOfRun(key: RunKey, head: Snapshot): Promise<RunStart> {
  // No account has a `#` in its id.
  const found = await facts([key.accountId, String(head.factsSeq), key.runId].join(separator));
  if (found === undefined) throw new Error(`The facts of the run ${key.runId} are not there.`);
  return found;
}
