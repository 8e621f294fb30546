/** Whether a destination is a URL, not an ARN or a name. */
export const isUrl = (destination: string): boolean => /^https?:/.test(destination);

/** The `host` or `host:port` of a URL; other destinations as a whole. */
export const hostOf = (destination: string): string =>
  isUrl(destination) ? new URL(destination).host : destination;

/** The path without the query; `/` for other destinations than URLs. */
export const pathOf = (destination: string): string =>
  isUrl(destination) ? new URL(destination).pathname : '/';
