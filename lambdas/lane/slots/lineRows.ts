import type { Lane, LaneKey } from '../lane.ts';
import { newTenant, type Tenant } from '../rules/fairLine.ts';
import { spill, type Page } from '../rules/line.ts';
import type * as turns from '../rules/turns.ts';
import type { Unread } from '../rules/turns.ts';
import type { Spilled } from './fairLines.ts';
import type * as fairLines from './fairLines.ts';
import type { LaneStore } from './laneStore.ts';

type FairRules = typeof fairLines & typeof turns;

const loadFairRules = async (): Promise<FairRules> => ({
  ...(await import('./fairLines.ts')),
  ...(await import('../rules/turns.ts')),
});
let loaded: Promise<FairRules> | undefined;

/** Few lanes have tenants, so this code is loaded on first use. */
export const fairRules = (): Promise<FairRules> => (loaded ??= loadFairRules());

/**
 * Entries that join or leave a fair line in one write, plus one change. Until the next write, the row also
 * has their tenants, up to 2 KB each.
 */
export const mostAsked = 10;
/** Slots granted in one write to a fair line. Each may be for another tenant. */
export const mostTurns = 20;

export const mayAskMore = ({ fair }: Lane): boolean => fair === undefined || fair.asked.length < mostAsked;

export const pageName = ({ number, line = '' }: Pick<Page, 'line' | 'number'>): string => `${number} ${line}`;

const noTenants: ReadonlyMap<string, Tenant> = new Map();

/** @param lane as read from the table */
export async function spillLane(lane: Lane): Promise<Spilled> {
  if (lane.fair !== undefined) return (await fairRules()).spillFairLane(lane, lane.fair);
  const { line, pages } = spill(lane.line);
  return { lane: pages.length === 0 ? lane : { ...lane, line }, pages, tenants: noTenants };
}

export class LineRows {
  readonly #key: LaneKey;
  readonly #store: Pick<LaneStore, 'loadPage' | 'loadTenants'>;
  readonly #pages = new Map<string, readonly string[]>();
  fairRules: FairRules | undefined;
  readonly tenants: Map<string, Tenant>;

  /** @param spilled pages and tenants that are to be written before the lane's row */
  constructor(
    key: LaneKey,
    store: Pick<LaneStore, 'loadPage' | 'loadTenants'>,
    spilled: Pick<Spilled, 'pages' | 'tenants'>,
  ) {
    this.#key = key;
    this.#store = store;
    this.tenants = new Map(spilled.tenants);
    for (const page of spilled.pages) this.#pages.set(pageName(page), page.entries);
  }

  page(page: Pick<Page, 'line' | 'number'>): readonly string[] | undefined {
    return this.#pages.get(pageName(page));
  }

  /** A tenant without a row has no waiting entries. */
  async read(unread: Unread | 'rules'): Promise<void> {
    if (unread === 'rules') {
      this.fairRules = await fairRules();
      return;
    }
    if (unread.kind !== 'tenants') {
      const { number, line } = unread;
      this.#pages.set(pageName(unread), await this.#store.loadPage(this.#key, number, line));
      return;
    }
    const { fairId, names } = unread;
    const found = await this.#store.loadTenants(this.#key, fairId, names);
    for (const name of names) this.tenants.set(name, found.get(name) ?? newTenant);
  }
}

/** Removes a fair line that has no waiting entries. */
export const withoutEmptyFair = (lane: Lane): Lane =>
  lane.fair?.waiting === 0 ? { ...lane, fair: undefined } : lane;
