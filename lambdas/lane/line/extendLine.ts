import { isRemoved } from '../../account/account.ts';
import { now } from '../../shared/clock.ts';
import type { Lane } from '../lane.ts';
import type { Entry } from '../rules/entry.ts';
import { loadAccount } from '../../account/accounts.ts';
import { savePages, loadPage } from '../store/laneRows.ts';
import { loadMessage } from '../../message/history.ts';
import { extendEveryMs } from '../slots/changeLanes.ts';
import { extendMessage } from './extendMessage.ts';
import { onLine } from './linePages.ts';
import { eachOf } from '../../shared/lists.ts';
import { ringLine } from '../rules/tenants.ts';
import { extendTenant } from '../store/tenantList.ts';
import { onFairLine } from './fairEntries.ts';

const ringPagesAtOnce = 10;

/**
 * @param from where to continue; undefined for the beginning
 * @param until when to stop after the current page
 * @param onEntry extends a message
 * @returns where to continue if the time ran out
 */
async function extendFairLine(
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

interface ExtendedTo {
  /** The next page of the lane's own line; 0 if all are done. */
  readonly keepsFrom: number;
  /** The next place in the fair line; undefined for its beginning. */
  readonly keepsFairFrom?: string | undefined;
}

/**
 * Extends the lifetimes of messages that wait in a lane, and of their pages.
 *
 * @param until when to stop after the current page
 * @returns where to continue if the time ran out
 */
export async function extendLine(
  lane: Lane,
  { keepsFrom: from, keepsFairFrom }: ExtendedTo,
  until: number,
): Promise<ExtendedTo | undefined> {
  const { front, back, firstPage, nextPage } = lane.line;
  const account = await loadAccount(lane.accountId, false);
  // A deleted account's messages expire without delivery.
  if (account === undefined || isRemoved(account)) return undefined;
  const extend = async ({ messageId }: Entry): Promise<void> => {
    const history = await loadMessage({ accountId: lane.accountId, messageId });
    if (history !== undefined && history.end === undefined) {
      await extendMessage(history, account, now() + extendEveryMs);
    }
  };
  if (keepsFairFrom === undefined) {
    const keepsFrom = await onLine(
      lane,
      from === 0 ? [...front, ...back] : [],
      [Math.max(from, firstPage), nextPage],
      until,
      extend,
      (number, entries) => savePages(lane, [{ number, entries }]),
    );
    if (keepsFrom !== undefined) return { keepsFrom };
  }
  if (lane.fair === undefined) return undefined;
  const left = await extendFairLine(lane, keepsFairFrom, until, extend);
  return left === undefined ? undefined : { keepsFrom: nextPage, keepsFairFrom: left };
}
