/** Checks a stage's data, and says what is wrong. */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { storeName } from '../backup/files.ts';
import { masterSecretName, openDataDirectory } from '../stage/dataDirectory.ts';
import { StageError } from '../stage/stageError.ts';
import { checkPages } from '../store/pages.ts';
import { checkEntries, type Counts } from './entries.ts';
import { checkJobs } from './jobs.ts';

export interface Checked {
  readonly counts: Counts;
  readonly problems: readonly string[];
}

/**
 * Checks the store's pages and entries, and whether rows, jobs, lanes and indexes agree.
 *
 * @throws StageError if there is no store, or if a stage uses it
 */
export async function check(folder: string): Promise<Checked> {
  const inFolder = (name: string): string => join(resolve(folder), name);
  if (!existsSync(inFolder(masterSecretName))) {
    throw new StageError(
      `${resolve(folder)} is not the data directory of a stage: it has no ${masterSecretName}.`,
    );
  }
  const file = inFolder(storeName);
  const damage = existsSync(file) ? await checkPages(file, { limitMs: Infinity }) : undefined;
  if (damage !== undefined) {
    return {
      counts: {},
      problems: [`${file} is damaged: ${damage}. Restore the last backup: svc-queue restore.`],
    };
  }
  const { store, release } = await openDataDirectory(folder);
  try {
    const { counts, problems } = checkEntries(store);
    // Jobs can be checked only if all entries are readable.
    return { counts, problems: problems.length > 0 ? problems : await checkJobs(store) };
  } finally {
    await release();
  }
}
