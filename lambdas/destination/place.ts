/** Other destinations are ARNs, or names to take messages from. */
export const isUrl = (destination: string): boolean => /^https?:/.test(destination);

/** A URL's `host` or `host:port`; of others, the whole destination. */
export const hostOf = (destination: string): string =>
  isUrl(destination) ? new URL(destination).host : destination;

/** Without query. Functions are invoked with `/`; the other destinations without a URL have it too. */
export const pathOf = (destination: string): string =>
  isUrl(destination) ? new URL(destination).pathname : '/';
