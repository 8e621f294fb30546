/** The files of a backup, by their names in the data directory. */

/** The files that every data directory of a stage has. */
export const needed = ['master-secret', 'management-password', 'dynamodb.db'] as const;

/** Says that jobs may be missing in the journals. */
export const uncheckedName = 'unchecked';

/** The files that a data directory may have besides: the database's last writes, the journals, and what is known about them. */
export const optional = ['dynamodb.db-wal', 'sqs.journal', 'scheduler.journal', uncheckedName] as const;

export const bodiesFolder = 'bodies';
/** A folder that a restore fills before it moves all into place. */
export const restoring = 'restoring';

const bodyName = /^bodies\/[\w%.~!'()*-]+\.object$/;

/** Whether a name may be that of a file in a backup: nothing is written elsewhere. */
export const isFileOfBackup = (name: string): boolean =>
  [...needed, ...optional].some((known) => known === name) || bodyName.test(name);
