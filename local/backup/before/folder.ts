/** Data folders of the previous release: tables in a SQLite file, and jobs in journals. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';

export const databaseName = 'dynamodb.db';
export const queueJournalName = 'sqs.journal';
export const schedulerJournalName = 'scheduler.journal';
/** This file says that jobs may be missing in the journals. */
export const uncheckedName = 'unchecked';

export const isOfBefore = (folder: string): boolean => existsSync(join(folder, databaseName));

export const moveSentence = (folder: string): string =>
  `${folder} has the data of an earlier release. Move them with two commands: with that release, ` +
  `svc-queue backup moved.tar.gz --data-dir ${folder}; and with this one, ` +
  `svc-queue restore moved.tar.gz --data-dir <a new folder>.`;

const names = [databaseName, `${databaseName}-wal`, queueJournalName, schedulerJournalName, uncheckedName];
const bodyName = /^bodies\/[\w%.~!'()*-]+\.object$/;

/** Whether a file with this name may be in a backup of the previous release. */
export const isFileOfBefore = (name: string): boolean => names.includes(name) || bodyName.test(name);
