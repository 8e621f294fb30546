/** The pattern of an id. The console reads this too, where there is no `node:crypto` to make one. */

/** The letters of a ULID. */
export const letters = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/** Ends an id whose partition is one of the many. It is no letter of a ULID, so every other id keeps the partition that it had. */
export const wideEnd = 'U';

/** An id without its kind, as a regular expression. */
export const idPattern = `[${letters}]{25}[${letters}${wideEnd}]`;
