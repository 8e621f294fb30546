/**
 * Recognizes data folders of much earlier releases: tables in a SQLite file, and jobs in journals. This
 * release cannot read them.
 */
import { createReadStream, existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { storeName } from '../files.ts';

const databaseName = 'dynamodb.db';
const walName = `${databaseName}-wal`;
const names = [databaseName, walName, 'sqs.journal', 'scheduler.journal', 'unchecked'];

export const isOfBefore = (folder: string): boolean => existsSync(join(folder, databaseName));

/** @returns why a folder with such data cannot be used; undefined if it has none */
export async function refusalOf(folder: string): Promise<string | undefined> {
  if (!isOfBefore(folder)) return undefined;
  const has = async (named: readonly string[]): Promise<string> => {
    const files = named.map((one) => join(folder, one)).filter((file) => existsSync(file));
    const writtenAt = new Date(Math.max(...files.map((file) => statSync(file).mtimeMs)));
    return `${named[0] ?? ''} (up to ${await messagesIn(files)} messages, last written ${writtenAt.toISOString()})`;
  };
  if (!existsSync(join(folder, storeName))) {
    return (
      `${folder} has only the database of an earlier state of this service: ${await has([databaseName, walName])}. ` +
      `This version cannot read it: choose another folder with --data-dir, or move the files away.`
    );
  }
  return (
    `${folder} has two stores, probably because an earlier release was started on it: ${await has([storeName])}, ` +
    `and of the earlier release ${await has([databaseName, walName])}. ` +
    `Nothing was changed. Move the store away that you do not need: ${storeName}; ` +
    `or ${names.join(', ')} and the folder bodies. If you need both, give each its own folder.`
  );
}

const idLength = 30;

/** Counts different message ids in files of any format. Some of the messages may have expired. */
async function messagesIn(files: readonly string[]): Promise<number> {
  const found = new Set<string>();
  for (const file of files) {
    let last = '';
    for await (const part of createReadStream(file, 'latin1')) {
      for (const [id] of `${last}${String(part)}`.matchAll(/msg_[0-9A-Z]{26}/g)) found.add(id);
      last = String(part).slice(-idLength);
    }
  }
  return found.size;
}
