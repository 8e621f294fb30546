/** Losses of power for a stage: what was not on the disk is lost, completely or in part. */
import { copyFileSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { randomOf } from '../simulatedClock.ts';
import { CutDisk, readLog, watchWrites, type Watch } from './writeLog.ts';

const storeName = 'store.mdb';
const sectorBytes = 512;

/** Prepares a stage whose writes to its store are recorded, in the data folder. */
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
 * Does to a killed stage's store what a loss of power does.
 *
 * @param kept the share of what was not on the disk that is kept, from 0 to 1
 * @returns the number of lost sectors
 */
export function cutPower(dataDir: string, kept: number, random = randomOf(1)): { readonly lost: number } {
  const disk = new CutDisk(readFileSync(join(dataDir, 'before')));
  for (const noted of readLog(join(dataDir, 'writes'))) disk.take(noted);
  const { bytes, lost } = disk.cut({ kept, unitBytes: sectorBytes, random });
  writeFileSync(join(dataDir, storeName), bytes);
  return { lost };
}
