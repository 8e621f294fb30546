import { parseEntry, type Entry } from '../rules/entry.ts';
import type { LaneKey } from '../lane.ts';
import { chunksOf, eachOf } from '../../shared/lists.ts';
import { now } from '../../shared/clock.ts';
import { loadPage } from '../store/laneRows.ts';

const pagesAtOnce = 10;
const entriesAtOnce = 20;

/**
 * @param pages the first page's number, and the number after the last page's
 * @param until when to stop after the current page
 * @returns the page to continue from if the time ran out
 */
export async function onLine(
  key: LaneKey,
  entries: readonly string[],
  [firstPage, nextPage]: readonly [number, number],
  until: number,
  onEntry: (entry: Entry) => Promise<void>,
  onPage: (page: number, entries: readonly string[]) => Promise<void> = async () => {},
): Promise<number | undefined> {
  await eachOf(entries, entriesAtOnce, (entry) => onEntry(parseEntry(entry)));
  const pages = Array.from({ length: Math.max(0, nextPage - firstPage) }, (_, index) => firstPage + index);
  for (const some of chunksOf(pages, pagesAtOnce)) {
    if (now() > until) return some[0];
    const loaded = await Promise.all(some.map((page) => loadPage(key, page)));
    await eachOf(loaded.flat(), entriesAtOnce, (entry) => onEntry(parseEntry(entry)));
    await Promise.all(some.map((page, index) => onPage(page, loaded[index] ?? [])));
  }
  return undefined;
}
