/** Losses of power for a stage: what was not on the disk is lost, completely or in part. */
import { copyFileSync, existsSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { randomOf } from '../simulatedClock.ts';
import { CutDisk, readLog, watchWrites, type Watch } from './writeLog.ts';

const storeName = 'store.mdb';
const sectorBytes = 512;

/** Prepares a stage whose writes to its store are recorded, in the data folder. */
export function watchStore(dataDir: string): Watch {
  const watch = watchWrites(dataDir, storeName);
  const before = join(dataDir, 'before');
  const store = join(dataDir, storeName);
  if (existsSync(store)) copyFileSync(store, before);
  else writeFileSync(before, '');
  return watch;
}

interface Cut {
  /** The share of what was not on the disk that is kept, from 0 to 1. */
  readonly kept: number;
  readonly random?: () => number;
  /** The moment, as the share of what happened since the first mark, from 0 to 1. Default: the end. */
  readonly moment?: number;
  /** How far ahead the stage's clock is. */
  readonly aheadMs?: number;
}

/**
 * Does to a killed stage's store what a loss of power does.
 *
 * @returns the number of lost sectors, and the marks before the loss
 */
export function cutPower(
  dataDir: string,
  { kept, random = randomOf(1), moment = 1, aheadMs = 0 }: Cut,
): { readonly lost: number; readonly marks: readonly string[] } {
  const disk = new CutDisk(readFileSync(join(dataDir, 'before')));
  const log = readLog(join(dataDir, 'writes'));
  const first =
    Math.max(
      0,
      log.findIndex(({ kind }) => kind === 'mark'),
    ) + 1;
  const end = Math.min(log.length, first + Math.floor((log.length - first) * moment));
  for (const noted of log.slice(0, end)) disk.take(noted);
  const { bytes, lost } = disk.cut({ kept, unitBytes: sectorBytes, random }, log[end]);
  const store = join(dataDir, storeName);
  writeFileSync(store, bytes);
  const changedAt = new Date(Date.now() + aheadMs);
  utimesSync(store, changedAt, changedAt);
  const marks = log.slice(0, end).flatMap(({ kind, bytes }) => (kind === 'mark' ? bytes.toString() : []));
  return { lost, marks };
}
