/** The bodies of a run's entries: in their records up to 9 KB, because whoever reads one reads all before it; else in the bucket. */
import { type StoredBody, largestRow, extendBody, storeBody } from '../../message/bodies.ts';
import type { ListedEntry } from '../rules/journal.ts';

/**
 * Stores the body of an entry.
 *
 * @param now Unix milliseconds
 */
export const storeEntryBody = (
  of: { readonly accountId: string; readonly messageId: string; readonly expiresAt: number },
  body: Uint8Array,
  now: number,
): Promise<StoredBody> => storeBody(of, body, now, largestRow);

/**
 * Keeps the bodies of entries for as long as the records of their run, which may have been prolonged since they were stored.
 *
 * @param storedUntil Unix milliseconds
 * @param keptUntil Unix milliseconds
 */
export async function keepEntryBodies<E extends ListedEntry>(
  accountId: string,
  entries: readonly E[],
  storedUntil: number,
  keptUntil: number,
  now: number,
): Promise<readonly E[]> {
  if (keptUntil <= storedUntil) return entries;
  return Promise.all(
    entries.map(async (entry) => {
      const { messageId, body } = entry;
      return { ...entry, body: await extendBody({ accountId, messageId, expiresAt: keptUntil }, body, now) };
    }),
  );
}
