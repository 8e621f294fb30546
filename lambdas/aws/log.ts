import { Logger } from '@aws-lambda-powertools/logger';
import { withoutSecrets } from '../shared/urlCredentials.ts';

/**
 * Writes JSON lines with the message's id. Each line lists its fields, so it never contains headers, bodies, tokens or keys.
 */
export const log = new Logger({
  // Errors quote their input: Node's error for an invalid URL contains its credentials.
  jsonReplacerFn: (_name, value: unknown) => (typeof value === 'string' ? withoutSecrets(value) : value),
});
