import type { Lane, LaneKey } from '../../lambdas/lane/lane.ts';
import type { Tenant } from '../../lambdas/lane/rules/fairLine.ts';
import type { Granted } from '../../lambdas/lane/slots/applyChanges.ts';
import { createLanes, type Lanes } from '../../lambdas/lane/slots/lanes.ts';

export class Died extends Error {}

const pageId = (number: number, line = ''): string => `${number} ${line}`;

/**
 * The table of one lane in memory, with all rows of its lines. A process's calls are watched: it dies if `onCall` throws, and
 * others run while `onCall` waits.
 */
export class FairTable {
  time = 1_700_000_000_000;
  row: Lane;
  readonly pages = new Map<string, readonly string[]>();
  readonly tenants = new Map<string, { readonly at: number; readonly tenant: Tenant }>();
  /** Calls by name. */
  readonly calls = new Map<string, number>();
  readonly #key: LaneKey;

  constructor(row: Lane) {
    this.#key = row;
    this.row = { ...row, version: 1 };
  }

  /**
   * @param onCall called before and after each call of a process
   * @param onSave called when a lane is written, with the attempts that get a slot
   */
  startProcess(
    onCall: (when: 'before' | 'after') => Promise<void> = () => Promise.resolve(),
    onSave: (before: Lane, after: Lane) => void = () => {},
    onGranted: (granted: readonly Granted[]) => void = () => {},
  ): Lanes {
    const call = async <T>(name: string, make: () => T): Promise<T> => {
      this.calls.set(name, (this.calls.get(name) ?? 0) + 1);
      await onCall('before');
      const made = make();
      await onCall('after');
      return made;
    };
    return createLanes({
      store: {
        load: () => call('load', () => this.row),
        save: (lane) =>
          call('save', () => {
            if (lane.version !== this.row.version) return { current: this.row };
            const before = this.row;
            this.row = { ...lane, version: lane.version + 1 };
            onSave(before, this.row);
            return undefined;
          }),
        loadPage: (_key, number, line) =>
          call('loadPage', () => {
            const page = this.pages.get(pageId(number, line));
            if (page === undefined) throw new Error(`There is no page ${pageId(number, line)}.`);
            return page;
          }),
        savePages: (_key, pages) =>
          call('savePages', () => {
            for (const { number, line, entries } of pages) {
              const before = this.pages.get(pageId(number, line)) ?? entries;
              if (before.join() !== entries.join()) throw new Error('A page was written with other entries.');
              this.pages.set(pageId(number, line), entries);
            }
          }),
        loadTenants: (_key, fairId, names) =>
          call('loadTenants', () => {
            const found = names.flatMap((name) => {
              const row = this.tenants.get(`${fairId} ${name}`);
              return row === undefined ? [] : [[name, row.tenant] as const];
            });
            return new Map(found);
          }),
        saveTenants: (_key, fairId, at, tenants) =>
          call('saveTenants', () => {
            for (const [name, tenant] of tenants) {
              const id = `${fairId} ${name}`;
              if ((this.tenants.get(id)?.at ?? -1) < at) this.tenants.set(id, { at, tenant });
            }
          }),
      },
      jobs: {
        sendGranted: (_key, granted) =>
          call('sendGranted', () => {
            onGranted(granted);
          }),
        sendPump: () => Promise.resolve(),
      },
      now: () => this.time,
      sleep: () => Promise.resolve(),
      random: Math.random,
    });
  }

  get key(): LaneKey {
    return this.#key;
  }
}
