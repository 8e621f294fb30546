import { href, type Query } from '../../place.ts';

/** An address with more ids than these is longer than some programs take. */
const mostIds = 50;

/**
 * Makes the address at which messages are seen: one by itself, some as a list.
 *
 * @param instead the filter of the list where they are too many for an address
 */
export function hrefOfMessages(ids: readonly string[], instead: Query = {}): string {
  const [only] = ids;
  if (ids.length === 1 && only !== undefined) return href(['messages', only]);
  return href(['messages'], ids.length > mostIds ? instead : { messageIds: ids.join(',') });
}
