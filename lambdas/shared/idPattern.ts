/** Separate from `ids.ts` because the console, which has no `node:crypto`, reads it too. */

/** The letters of a ULID. */
export const letters = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/** The last letter of ids spread over many partitions. ULIDs do not have it, so other ids keep their partition. */
export const wideEnd = 'U';

export const idPattern = `[${letters}]{25}[${letters}${wideEnd}]`;
