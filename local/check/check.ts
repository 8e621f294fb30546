/** Looks at all that a stage keeps, and says what is wrong with it. */
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
  /** Sentences; none when all is well. */
  readonly problems: readonly string[];
}

/**
 * Checks the pages of the store, its entries, and whether rows, jobs, lanes and indexes agree. No stage may use the folder.
 *
 * @throws StageError when there is no store, or a stage uses it
 */
export async function check(folder: string): Promise<Checked> {
  const inFolder = (name: string): string => join(resolve(folder), name);
  if (!existsSync(inFolder(masterSecretName))) {
    throw new StageError(
      `${resolve(folder)} is no data directory of a stage: it has no ${masterSecretName}.`,
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
    // Jobs are made of entries that can be read.
    return { counts, problems: problems.length > 0 ? problems : await checkJobs(store) };
  } finally {
    await release();
  }
}
