import { timeOfId } from '../shared/ids.ts';
import { processPrefix, type Lane } from './lane.ts';
import { parseEntry } from './rules/entry.ts';
import { loadPage } from './store/lanes.ts';

const publishedAt = (entry: string): number => timeOfId(parseEntry(entry).messageId);

/**
 * Finds when the oldest message was published that waits in a lane; the page of the line that is next is read where the lane's row
 * does not have its entries.
 *
 * @returns Unix milliseconds; undefined where none waits
 */
export async function oldestWaiting(lane: Lane): Promise<number | undefined> {
  const { front, firstPage, nextPage, back } = lane.line;
  const next = front.length > 0 ? front : firstPage < nextPage ? await loadPage(lane, firstPage) : back;
  const [entry] = next;
  return entry === undefined ? undefined : publishedAt(entry);
}

/** As {@link oldestWaiting}, those included that are being delivered or retried. */
export async function oldestInQueue(queue: Lane): Promise<number | undefined> {
  const held = [...queue.leases]
    .filter(([holder, { isOver }]) => !holder.startsWith(processPrefix) && isOver !== true)
    .map(([holder]) => publishedAt(holder));
  const all = [...held, (await oldestWaiting(queue)) ?? Infinity];
  const oldest = Math.min(...all);
  return oldest === Infinity ? undefined : oldest;
}
