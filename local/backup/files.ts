import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { StageError } from '../stage/stageError.ts';

/**
 * The secrets from which all others are derived. The master secret is written last, so it shows that all are
 * there.
 */
export const secretNames = ['master-secret', 'management-password'] as const;
export const [masterSecretName] = secretNames;

export const storeName = 'store.mdb';

export const needed = [...secretNames, storeName] as const;

/** @throws StageError if the folder is not the data directory of a stage */
export function requireData(folder: string): void {
  const missing = needed.find((name) => !existsSync(join(folder, name)));
  if (missing !== undefined)
    throw new StageError(`${folder} is not the data directory of a stage: it has no ${missing}.`);
}

/** The folder in which the restore of one account collects that account's data. */
export const restoringAccount = 'restoring-account';

/** The folder in which a restore collects the files before it moves them. */
export const restoring = 'restoring';

/** The folder in which a standby works, until its data is moved into place. */
export const following = 'following';
