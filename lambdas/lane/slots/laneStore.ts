import type { Lane, LaneKey } from '../lane.ts';
import type { Tenant } from '../rules/fairLine.ts';
import type { Page } from '../rules/line.ts';

/** The table of lanes. */
export interface LaneStore {
  readonly load: (key: LaneKey) => Promise<Lane | undefined>;
  /**
   * Writes a lane on condition that its version in the table is the one it was read with.
   *
   * @returns undefined when it was written, else what stands in the table
   */
  readonly save: (lane: Lane) => Promise<{ readonly current: Lane | undefined } | undefined>;
  readonly loadPage: (key: LaneKey, number: number, line?: string) => Promise<readonly string[]>;
  /** Writes pages of a line. They expire by themselves. */
  readonly savePages: (key: LaneKey, pages: readonly Page[]) => Promise<void>;
  /** Reads tenants of a fair line by their names; those that are not there are left out. */
  readonly loadTenants: (
    key: LaneKey,
    fairId: string,
    names: readonly string[],
  ) => Promise<ReadonlyMap<string, Tenant>>;
  /**
   * Writes tenants as a lane's row has them. A row stays that is of the same version of the lane, or of a newer one.
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
