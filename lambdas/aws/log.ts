import { Logger } from '@aws-lambda-powertools/logger';
import { withoutSecrets } from '../shared/urlCredentials.ts';

/**
 * The log: JSON lines with the message's id. Each line names its fields one by one, so that it never has headers, bodies, tokens
 * or keys, and only the part of a URL before the query.
 */
export const log = new Logger({
  // Errors quote their input: Node's own has the unreadable URL, with its credentials.
  jsonReplacerFn: (_name, value: unknown) => (typeof value === 'string' ? withoutSecrets(value) : value),
});

/** Shortens a URL for the log: without user, password and query, which may be secret. */
export function urlForLog(url: string): string {
  return withoutSecrets(url);
}
