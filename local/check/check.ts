/** Checks a stage's data. */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { masterSecretName, storeName } from '../backup/files.ts';
import { InUseError, openDataDirectory } from '../stage/dataDirectory.ts';
import { StageError } from '../stage/stageError.ts';
import { DamageError } from '../store/checksum.ts';
import { LostError } from '../store/openStore.ts';
import { Store } from '../store/store.ts';
import { checkEntries } from './entries.ts';
import { checkJobs, type Checked } from './jobs.ts';

/**
 * Checks the store's pages and entries, and whether rows, jobs, lanes and indexes agree. If a stage is
 * running, pages change all the time. Then only entries are checked, all as of one moment.
 *
 * @throws StageError if there is no store
 */
export async function check(folder: string): Promise<Checked> {
  const inFolder = (name: string): string => join(resolve(folder), name);
  if (!existsSync(inFolder(masterSecretName))) {
    throw new StageError(
      `${resolve(folder)} is not the data directory of a stage: it has no ${masterSecretName}.`,
    );
  }
  try {
    const { store, release } = await openDataDirectory(folder, { limitMs: Infinity });
    try {
      return await checkStore(store, false);
    } finally {
      await release();
    }
  } catch (error) {
    if (error instanceof LostError) return { counts: {}, problems: [error.message] };
    if (!(error instanceof InUseError)) throw error;
  }
  const store = new Store(inFolder(storeName), true);
  try {
    store.checkSum();
    return await checkStore(store, true);
  } catch (error) {
    if (!(error instanceof DamageError)) throw error;
    return {
      counts: {},
      problems: [`${error.message} Stop the stage, and restore the last backup: svc-queue restore.`],
    };
  } finally {
    await store.close();
  }
}

async function checkStore(store: Store, isAtWork: boolean): Promise<Checked> {
  const entries = checkEntries(store);
  // Jobs can be checked only if all entries are readable.
  if (entries.problems.length > 0) return entries;
  const { counts, problems } = await checkJobs(store, isAtWork);
  return { counts: { ...entries.counts, ...counts }, problems };
}
