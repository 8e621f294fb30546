import { href, type Query } from '../../place.ts';

/** The most ids in an address; more make it too long for some programs. */
const mostIds = 50;

/**
 * Makes the address of messages: a single one, or a list.
 *
 * @param instead the filter of the list when the ids are too many for an address
 */
export function hrefOfMessages(ids: readonly string[], instead: Query = {}): string {
  const [only] = ids;
  if (ids.length === 1 && only !== undefined) return href(['messages', only]);
  return href(['messages'], ids.length > mostIds ? instead : { messageIds: ids.join(',') });
}
