import { Logger } from '@aws-lambda-powertools/logger';

/**
 * The log: JSON lines with the message's id. What goes in is named field by field; headers, bodies, tokens and keys
 * never do, and of a URL only what stands before its query.
 */
export const log = new Logger();

/** A URL as the log may show it: without user, password and query, where secrets are kept. */
export function urlForLog(url: string): string {
  const { protocol, host, pathname } = new URL(url);
  return `${protocol}//${host}${pathname}`;
}
