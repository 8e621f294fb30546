import { Logger } from '@aws-lambda-powertools/logger';

/**
 * The log: JSON lines with the message's id. Each line names its fields one by one, so that headers, bodies, tokens and keys
 * are never in it, and of a URL only the part before the query.
 */
export const log = new Logger();

/** A URL as the log may show it: without user, password and query, which may be secret. */
export function urlForLog(url: string): string {
  const { protocol, host, pathname } = new URL(url);
  return `${protocol}//${host}${pathname}`;
}
