/** The files of a data directory, by their names in it. */

/** The secrets that all others are made of. The master secret is made last. */
export const secretNames = ['master-secret', 'management-password'] as const;

export const storeName = 'store.mdb';

/** The files that every data directory of a stage has. */
export const needed = [...secretNames, storeName] as const;

/** A folder that a restore fills before it moves all into place. */
export const restoring = 'restoring';
