/** The journals of a stage's data, as a loss of power leaves them. */
import { readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod/mini';

export const journalNames = ['sqs.journal', 'scheduler.journal'];

/**
 * Does to the data of a killed stage what a loss of power does on a disk that had not written what it said: the journals end at any
 * earlier byte.
 *
 * @param kept the part of each journal that is left, from 0 to 1
 * @returns the bytes that were lost
 */
export function loseTails(dataDir: string, kept: () => number): number {
  let lost = 0;
  for (const path of journalNames.map((name) => join(dataDir, name))) {
    const { size } = statSync(path);
    const length = Math.floor(size * kept());
    truncateSync(path, length);
    lost += size - length;
  }
  startAgain(dataDir);
  return lost;
}

/** Makes the machine seem to have started again since the stage was killed. */
export function startAgain(dataDir: string): void {
  const lock = join(dataDir, 'lock');
  const held = z.looseObject({}).parse(JSON.parse(readFileSync(lock, 'utf8')));
  writeFileSync(lock, JSON.stringify({ ...held, boot: 'before the loss' }));
}
