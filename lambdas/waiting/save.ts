import type { Sharded } from '../table/shards.ts';
import { mostMessages, openMessagesOf } from './openMessages.ts';
import { saveSnapshot } from './store/snapshots.ts';

/**
 * Saves the waiting messages, for processes that start later.
 *
 * @param until when to stop; the next call continues
 * @returns false if the time was too short
 */
export async function saveOpenMessages(account: Sharded, until: number): Promise<boolean> {
  const messages = openMessagesOf(account);
  const isWhole = await messages.catchUp(until);
  if (isWhole) await saveSnapshot(account.id, messages.snapshot);
  return isWhole || messages.size > mostMessages;
}
