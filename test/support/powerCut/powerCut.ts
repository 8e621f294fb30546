/** Losses of power for a stage: what was not on the disk is gone, in whole or in part. */
import { copyFileSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { randomOf } from '../simulatedClock.ts';
import { CutDisk, readLog, watchWrites, type Watch } from './writeLog.ts';

const storeName = 'store.mdb';
const sectorBytes = 512;

/** Prepares the start of a stage the writes of whose store are noted, in the folder of its data. */
export function watchStore(dataDir: string): Watch {
  const watch = watchWrites(dataDir, storeName);
  const before = join(dataDir, 'before');
  for (const path of [watch.log, before]) rmSync(path, { force: true });
  const store = join(dataDir, storeName);
  if (existsSync(store)) copyFileSync(store, before);
  else writeFileSync(before, '');
  return watch;
}

/**
 * Does to the store of a killed stage what a loss of power does.
 *
 * @param kept the part of what was not on the disk that reached it all the same, from 0 to 1
 * @returns the sectors that were lost
 */
export function cutPower(dataDir: string, kept: number, random = randomOf(1)): { readonly lost: number } {
  const disk = new CutDisk(readFileSync(join(dataDir, 'before')));
  for (const noted of readLog(join(dataDir, 'writes'))) disk.take(noted);
  const { bytes, lost } = disk.cut({ kept, unitBytes: sectorBytes, random });
  writeFileSync(join(dataDir, storeName), bytes);
  return { lost };
}
