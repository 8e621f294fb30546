import type { Lane, LaneKey } from '../lane.ts';
import type { Tenant } from '../rules/fairLine.ts';
import type { Page } from '../rules/line.ts';

export interface LaneStore {
  readonly load: (key: LaneKey) => Promise<Lane | undefined>;
  /**
   * Writes a lane if its version in the table has not changed.
   *
   * @returns undefined after the write, or else the lane in the table
   */
  readonly save: (lane: Lane) => Promise<{ readonly current: Lane | undefined } | undefined>;
  readonly loadPage: (key: LaneKey, number: number, line?: string) => Promise<readonly string[]>;
  readonly savePages: (key: LaneKey, pages: readonly Page[]) => Promise<void>;
  /** Reads tenants of a fair line; missing ones are left out. */
  readonly loadTenants: (
    key: LaneKey,
    fairId: string,
    names: readonly string[],
  ) => Promise<ReadonlyMap<string, Tenant>>;
  /**
   * Writes tenants from a lane's row, except those whose row is at least as new.
   *
   * @param version of the lane
   */
  readonly saveTenants: (
    key: LaneKey,
    fairId: string,
    version: number,
    tenants: ReadonlyMap<string, Tenant>,
  ) => Promise<void>;
}
