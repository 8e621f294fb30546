import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { openDataDirectory, type DataDirectory } from '../stage/dataDirectory.ts';
import { forgetIndex } from '../scheduler/storedSchedules.ts';
import { StageError } from '../stage/stageError.ts';
import { markUsed, noteKill, openStore } from '../store/openStore.ts';
import type { Store } from '../store/store.ts';
import { sourceOf, unpack, type Made } from './backUp.ts';
import { Filler, type Line } from './contents.ts';
import { masterSecretName, needed, restoringAccount, secretNames, storeName } from './files.ts';
import { linesOfAccount, ownerOf } from './owners.ts';

/**
 * Replaces an account's data in a data directory with its data in a backup, in one transaction.
 *
 * @param from a file or a stream
 * @throws StageError; the directory is then unchanged
 */
export async function restoreAccount(from: string | Readable, folder: string, id: string): Promise<Made> {
  const wasThere = needed.filter((name) => existsSync(join(folder, name)));
  const data = await openDataDirectory(folder);
  const part = join(data.folder, restoringAccount);
  let isDone = false;
  try {
    mkdirSync(part, { mode: 0o700 });
    const { store: found } = await openStore(join(part, storeName), false);
    try {
      const accounts = new Set<string>();
      const filler = new Filler(found, (line) => {
        const owner = ownerOf(line);
        if (isAccount(line) && owner.accountId !== undefined) accounts.add(owner.accountId);
        return owner.accountId === undefined ? owner.id !== undefined : owner.accountId === id;
      });
      const about = await unpack(await sourceOf(from), part, filler);
      if (!accounts.has(id)) throw noAccount(id, accounts);
      takeSecrets(data, part);
      await noteKill(data.store, Date.parse(about.madeAt));
      const entries = await replace(data.store, found, id);
      if (data.isNew) await markUsed(data.store);
      isDone = true;
      return { ...about, entries };
    } finally {
      await found.close();
    }
  } finally {
    await data.release();
    rmSync(part, { recursive: true, force: true });
    const made = isDone ? [] : needed.filter((name) => !wasThere.includes(name));
    for (const name of made) rmSync(join(data.folder, name), { force: true });
  }
}

const isAccount = (line: Line): boolean =>
  'row' in line && line.row.table.name === 'accounts' && !JSON.stringify(line.row.item['id']).includes('#');

const shown = 20;

function noAccount(id: string, accounts: ReadonlySet<string>): StageError {
  const some = [...accounts].slice(0, shown).join(', ');
  const more = accounts.size > shown ? ` and ${accounts.size - shown} more` : '';
  return new StageError(`The backup has no account ${id}; it has ${some}${more}.`);
}

/** @throws StageError if the backup has another master secret, so that tokens and keys would differ */
function takeSecrets(data: DataDirectory, part: string): void {
  const secretIn = (name: string): string => readFileSync(join(part, name), 'utf8');
  if (data.isNew && !existsSync(join(data.folder, masterSecretName)))
    for (const name of secretNames.toReversed()) data.write(name, secretIn(name));
  else if (data.secret(masterSecretName) !== secretIn(masterSecretName)) {
    throw new StageError(
      `The backup is from a stage with another ${masterSecretName}, so the account's tokens and signing keys would change: restore it into an empty folder.`,
    );
  }
}

/** @returns the number of entries */
async function replace(store: Store, found: Store, id: string): Promise<number> {
  const filler = new Filler(store);
  // All entries are read before the first is changed, so that damaged data leaves everything unchanged.
  const removals = Array.from(linesOfAccount(id, store), (line) => filler.removalOf(line));
  let entries = 0;
  for (const _line of linesOfAccount(id, found)) entries += 1;
  await store.change((write) => {
    for (const remove of removals) remove(write);
    for (const line of linesOfAccount(id, found)) filler.put(write, line);
    forgetIndex(write);
  });
  return entries;
}
