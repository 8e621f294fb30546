/**
 * Preloaded into a stage: notes for each flush which file has how many bytes on the disk from then on. A loss of power keeps these
 * bytes, and of the others none, some or all.
 */
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

const log = process.env['SVC_FLUSH_LOG'];
if (log === undefined) throw new Error('SVC_FLUSH_LOG names no file.');

const { fdatasync, fsyncSync, renameSync } = fs;
const note = (path: string, bytes: number): void => {
  fs.appendFileSync(log, `${JSON.stringify([path, bytes])}\n`);
};
const pathOf = (file: number): string => fs.readlinkSync(`/proc/self/fd/${file}`);

const flush = (file: number, callback: fs.NoParamCallback): void => {
  const { size } = fs.fstatSync(file);
  const path = pathOf(file);
  fdatasync(file, (error) => {
    if (error === null) note(path, size);
    callback(error);
  });
};
fs.fdatasync = Object.assign(flush, { __promisify__: fdatasync.__promisify__ });
fs.fsyncSync = (file) => {
  fsyncSync(file);
  note(pathOf(file), fs.fstatSync(file).size);
};
fs.renameSync = (from, to) => {
  renameSync(from, to);
  note(String(to), fs.statSync(to).size);
};
syncBuiltinESMExports();
