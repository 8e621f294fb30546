/** Not in `ids.ts`, because the console has no `node:crypto`. */

/** The letters of a ULID. */
export const letters = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/**
 * The last letter of ids that are spread over many partitions. ULIDs do not contain it, so the partition of
 * other ids is not affected.
 */
export const wideEnd = 'U';

export const idPattern = `[${letters}]{25}[${letters}${wideEnd}]`;
