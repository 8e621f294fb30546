/** The parts of a change of a lane that only its fair line needs: tenants are read, and those that ask get their places. */
import type { Lane, LaneKey } from '../lane.ts';
import {
  inRing,
  newTenant,
  settled,
  spillFair,
  unnamed,
  type FairLine,
  type Tenant,
} from '../rules/fairLine.ts';
import type { Unread } from '../rules/turns.ts';
import type { LaneStore } from './laneStore.ts';
import { isEmpty, spill, type Page } from '../rules/line.ts';

/**
 * Entries that join or leave a fair line with one write, and one change more. Their tenants are in the row until the next write,
 * with up to 2 KB each.
 */
export const mostAsked = 10;
/** Slots that one write grants in a fair line: each may be to another tenant. */
export const mostTurns = 20;

export const mayAskMore = ({ fair }: Lane): boolean => fair === undefined || fair.asked.length < mostAsked;

/** What is taken out of a lane's row, and has to be written before the row is. */
export interface Spilled {
  /** The lane itself where nothing is. */
  readonly lane: Lane;
  readonly pages: readonly Page[];
  readonly tenants: ReadonlyMap<string, Tenant>;
}

export const pageName = ({ number, line = '' }: Pick<Page, 'line' | 'number'>): string => `${number} ${line}`;

const noTenants: ReadonlyMap<string, Tenant> = new Map();

/** @param lane as it is in the table */
export function spillLane(lane: Lane): Spilled {
  const { line, pages } = spill(lane.line);
  if (lane.fair === undefined) {
    return { lane: pages.length === 0 ? lane : { ...lane, line }, pages, tenants: noTenants };
  }
  const { fair, pages: more, tenants } = spillFair(lane.fair);
  const isSame = pages.length === 0 && fair === lane.fair;
  return { lane: isSame ? lane : { ...lane, line, fair }, pages: [...pages, ...more], tenants };
}

/** The rows of a lane's lines that are known while the lane is changed. */
export class LineRows {
  readonly #key: LaneKey;
  readonly #store: Pick<LaneStore, 'loadPage' | 'loadTenants'>;
  readonly #pages = new Map<string, readonly string[]>();
  /** Tenants that the lane's row does not have. */
  readonly tenants: Map<string, Tenant>;

  /** @param spilled what was taken out of the lane's row, and is yet to be written */
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

  /** The entries of a page, if it was read. */
  page(page: Pick<Page, 'line' | 'number'>): readonly string[] | undefined {
    return this.#pages.get(pageName(page));
  }

  /** Reads what has the next turn. A tenant without a row has nothing that waits. */
  async read(unread: Unread): Promise<void> {
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

/**
 * Lets those join and leave that asked, and has the lane's own line take part in the ring.
 *
 * @param id names a fair line that is new
 * @returns what has to be read first
 */
export function settledLane(
  lane: Lane,
  id: string,
  rows: LineRows,
): { readonly lane: Lane; readonly unread?: undefined } | { readonly unread: Unread } {
  if (lane.fair === undefined) return { lane };
  const isNew = lane.fair.id === '';
  const fair = withOwnLine(lane, isNew ? { ...lane.fair, id } : lane.fair);
  if (fair.asked.length === 0) return { lane: fair === lane.fair ? lane : { ...lane, fair } };
  // A line that was deleted with this very change had tenants with the same names.
  const read: ReadonlyMap<string, Tenant> = isNew ? new Map() : rows.tenants;
  const asked = new Set(fair.asked.map(({ name }) => name));
  const unread = [...asked].filter((name) => !fair.tenants.has(name) && !read.has(name));
  if (unread.length > 0 && !isNew) return { unread: { kind: 'tenants', fairId: fair.id, names: unread } };
  const { fair: after, cancelled } = settled(fair, (name) => read.get(name) ?? newTenant);
  return { lane: { ...lane, fair: after, cancelled: lane.cancelled + cancelled } };
}

/** The lane's own line has turns as long as it is not empty. */
function withOwnLine(lane: Lane, fair: FairLine): FairLine {
  const own = fair.tenants.get(unnamed) ?? newTenant;
  return isEmpty(lane.line) || own.isInRing ? fair : inRing(fair, unnamed, own);
}

/** A lane goes on without a fair line where nothing waits in that. */
export const withoutEmptyFair = (lane: Lane): Lane =>
  lane.fair?.waiting === 0 ? { ...lane, fair: undefined } : lane;
