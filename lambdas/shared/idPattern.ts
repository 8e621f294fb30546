/** The pattern of an id. It stands apart from `ids.ts` because the console, which has no `node:crypto`, reads it too. */

/** The letters of a ULID. */
export const letters = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/** Ends an id whose partition is one of many. No ULID has this letter, so every other id keeps the partition that it had. */
export const wideEnd = 'U';

/** An id without its kind, as a regular expression. */
export const idPattern = `[${letters}]{25}[${letters}${wideEnd}]`;
