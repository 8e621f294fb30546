import { newLane, type Lane, type LaneKey } from '../../lambdas/lane/lane.ts';
import type { Tenant } from '../../lambdas/lane/rules/fairLine.ts';
import type { Page } from '../../lambdas/lane/rules/line.ts';
import type { Granted } from '../../lambdas/lane/slots/applyChanges.ts';
import type { LaneStore } from '../../lambdas/lane/slots/laneStore.ts';
import { createLanes, type Lanes } from '../../lambdas/lane/slots/changeLanes.ts';
import type { AdmittedTo } from '../../lambdas/job/job.ts';

const nameOf = ({ accountId, kind, name }: LaneKey): string => `${accountId} ${kind} ${name}`;
const pageId = (key: LaneKey, number: number, line = ''): string => `${nameOf(key)} ${number} ${line}`;

/** Makes a call of a process, which may first wait or die. */
export type Call = <T>(make: () => T) => Promise<T>;
const atOnce: Call = (make) => Promise.resolve().then(make);

/** The table of lanes in memory, with DynamoDB's conditional writes. */
export class LaneTable {
  readonly lanes = new Map<string, Lane>();
  readonly #pages = new Map<string, readonly string[]>();
  readonly #tenants = new Map<string, { readonly at: number; readonly tenant: Tenant }>();

  put(lane: Lane): void {
    this.lanes.set(nameOf(lane), lane);
  }

  get(key: LaneKey): Lane | undefined {
    return this.lanes.get(nameOf(key));
  }

  putPages(key: LaneKey, pages: readonly Page[]): void {
    for (const { number, line, entries } of pages) {
      const id = pageId(key, number, line);
      if ((this.#pages.get(id) ?? entries).join() !== entries.join()) {
        throw new Error('A page was written with other entries.');
      }
      this.#pages.set(id, entries);
    }
  }

  /** @param onSave called when a lane is written */
  store(call: Call, onSave: (before: Lane | undefined, after: Lane) => void = () => {}): LaneStore {
    return {
      load: (key) => call(() => this.get(key)),
      save: (lane) =>
        call(() => {
          const current = this.get(lane);
          if ((current?.version ?? 0) !== lane.version) return { current };
          const after = { ...lane, version: lane.version + 1 };
          this.put(after);
          onSave(current, after);
          return undefined;
        }),
      loadPage: (key, number, line) =>
        call(() => {
          const page = this.#pages.get(pageId(key, number, line));
          if (page === undefined) throw new Error(`There is no page ${pageId(key, number, line)}.`);
          return page;
        }),
      savePages: (key, pages) =>
        call(() => {
          this.putPages(key, pages);
        }),
      loadTenants: (key, fairId, names) =>
        call(() => {
          const rows = names.flatMap((name) => {
            const row = this.#tenants.get(`${nameOf(key)} ${fairId} ${name}`);
            return row === undefined ? [] : [[name, row.tenant] as const];
          });
          return new Map(rows);
        }),
      saveTenants: (key, fairId, at, tenants) =>
        call(() => {
          for (const [name, tenant] of tenants) {
            const id = `${nameOf(key)} ${fairId} ${name}`;
            if ((this.#tenants.get(id)?.at ?? -1) < at) this.#tenants.set(id, { at, tenant });
          }
        }),
    };
  }
}

/** Lanes in memory, with a clock that the test sets. */
export class LanesInMemory {
  time = 1_700_000_000_000;
  readonly table = new LaneTable();
  /** The jobs that were sent for grants: who got a grant, and the grant. */
  readonly sent: { readonly admitted: Granted; readonly admittedTo: AdmittedTo }[] = [];
  readonly pumps: { readonly dueAt: number; readonly keeps: boolean }[] = [];
  /** The kinds of written lanes, in order. */
  readonly written: LaneKey['kind'][] = [];
  onRead: (key: LaneKey) => void = () => {};
  beforeSave: () => Promise<void> = () => Promise.resolve();
  readonly lanes = this.startProcess();

  /** @param call makes each call of the process; by default, it is made at once */
  startProcess(
    call: Call = atOnce,
    onSave: (before: Lane | undefined, after: Lane) => void = () => {},
  ): Lanes {
    const store = this.table.store(call, (before, after) => {
      this.written.push(after.kind);
      onSave(before, after);
    });
    return createLanes({
      store: {
        ...store,
        load: (key) => {
          this.onRead(key);
          return store.load(key);
        },
        save: async (lane) => {
          await this.beforeSave();
          return store.save(lane);
        },
      },
      jobs: {
        sendGranted: ({ kind: lane, name }, all) =>
          call(() => {
            for (const admitted of all) {
              const { ticket } = admitted;
              this.sent.push({ admitted, admittedTo: { lane, name, ticket, sentAt: this.time } });
            }
          }),
        sendPump: (_key, dueAt, keeps) =>
          call(() => {
            this.pumps.push({ dueAt, keeps });
          }),
      },
      now: () => this.time,
      sleep: () => Promise.resolve(),
      random: () => 0,
    });
  }

  /** A lane in the table, or a new one. */
  lane(key: LaneKey): Lane {
    return this.table.get(key) ?? newLane(key, this.time);
  }
}
