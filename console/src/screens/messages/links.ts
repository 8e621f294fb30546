import { href, type Query } from '../../place.ts';

/** The most ids in an address. Some programs don't take longer addresses. */
const mostIds = 50;

/**
 * Makes the address of one message, or of a list.
 *
 * @param instead the list's filter if there are too many ids for an address
 */
export function hrefOfMessages(ids: readonly string[], instead: Query = {}): string {
  const [only] = ids;
  if (ids.length === 1 && only !== undefined) return href(['messages', only]);
  return href(['messages'], ids.length > mostIds ? instead : { messageIds: ids.join(',') });
}
