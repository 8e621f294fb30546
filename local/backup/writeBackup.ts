import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Writable } from 'node:stream';
import type { Store } from '../store/store.ts';
import { writeArchive } from './archive.ts';
import { linesOf } from './contents.ts';
import { secretNames } from './files.ts';

/** Writes a stage's data as it is now to a stream. @returns the number of entries */
export async function writeBackup(folder: string, store: Store, to: Writable): Promise<number> {
  const now = store.snapshot();
  try {
    const secrets = Object.fromEntries(
      secretNames.map((name) => [name, readFileSync(join(folder, name), 'utf8')]),
    );
    return await writeArchive({ secrets, lines: linesOf(store, now) }, to);
  } finally {
    now.done();
  }
}
