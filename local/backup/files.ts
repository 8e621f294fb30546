/** The secrets from which all others are derived. The master secret is written last. */
export const secretNames = ['master-secret', 'management-password'] as const;
export const [masterSecretName] = secretNames;

export const storeName = 'store.mdb';

/** Files that every data directory of a stage has. */
export const needed = [...secretNames, storeName] as const;

/** The folder in which a restore collects the files before it moves them. */
export const restoring = 'restoring';

/** The folder of a standby, until its data are moved into place. */
export const following = 'following';
