import { eachOf } from '../../shared/lists.ts';
import type { Lane } from '../lane.ts';
import type { Entry } from '../rules/entry.ts';
import { ringLine } from '../rules/tenants.ts';
import { loadPage, savePages } from '../store/laneRows.ts';
import { extendTenant } from '../store/tenantList.ts';
import { onFairLine } from './fairEntries.ts';

const ringPagesAtOnce = 10;

/**
 * @param from where to continue; undefined for the beginning
 * @param until when to stop after the current page, Unix milliseconds
 * @param onEntry extends a message
 * @returns where to continue if the time ran out
 */
export async function extendFairLine(
  lane: Lane,
  from: string | undefined,
  until: number,
  onEntry: (entry: Entry) => Promise<void>,
): Promise<string | undefined> {
  const { fair } = lane;
  if (fair === undefined) return undefined;
  if (from === undefined) {
    const { firstPage, nextPage } = fair.ring;
    const line = ringLine(fair);
    const pages = Array.from({ length: nextPage - firstPage }, (_, index) => firstPage + index);
    await eachOf(pages, ringPagesAtOnce, async (number) => {
      await savePages(lane, [{ number, line, entries: await loadPage(lane, number, line) }]);
    });
  }
  return onFairLine(lane, fair, from, until, {
    onEntry,
    onPage: (page) => savePages(lane, [page]),
    onTenant: async ({ name, tenant, at }) => {
      if (at !== undefined && tenant.isInRing) await extendTenant(lane, fair.id, { name, tenant, at });
    },
  });
}
