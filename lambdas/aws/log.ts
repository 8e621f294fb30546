import { Logger } from '@aws-lambda-powertools/logger';
import { withoutSecrets } from '../shared/urlCredentials.ts';

/**
 * The log: JSON lines with the message's id. Each line names its fields one by one, so that headers, bodies, tokens and keys
 * are never in it, and of a URL only the part before the query.
 */
export const log = new Logger({
  // Errors quote what they fail with: Node's own has a URL that cannot be read, with its credentials.
  jsonReplacerFn: (_name, value: unknown) => (typeof value === 'string' ? withoutSecrets(value) : value),
});

/** A URL as the log may show it: without user, password and query, which may be secret. */
export function urlForLog(url: string): string {
  return withoutSecrets(url);
}
