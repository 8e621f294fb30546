import { newLane, type Lane, type LaneKey } from '../../lambdas/lane/lane.ts';
import type { Granted } from '../../lambdas/lane/slots/applyChanges.ts';
import { createLanes, type Lanes } from '../../lambdas/lane/slots/lanes.ts';
import type { AdmittedTo } from '../../lambdas/job/job.ts';
import { noTenants } from './noTenants.ts';

const nameOf = ({ accountId, kind, name }: LaneKey): string => `${accountId} ${kind} ${name}`;

/** Lanes in memory, with a clock that the test sets. */
export class LanesInMemory {
  /** Unix milliseconds. */
  time = 1_700_000_000_000;
  /** The jobs that were sent for grants: who got a grant, and the grant. */
  readonly sent: { readonly admitted: Granted; readonly admittedTo: AdmittedTo }[] = [];
  /** The kinds of written lanes, in order. */
  readonly written: LaneKey['kind'][] = [];
  onRead: (key: LaneKey) => void = () => {};
  readonly lanes: Lanes;
  readonly #rows = new Map<string, Lane>();

  constructor() {
    this.lanes = createLanes({
      store: {
        ...noTenants,
        load: (key) => {
          this.onRead(key);
          return Promise.resolve(this.#rows.get(nameOf(key)));
        },
        save: (lane) => {
          const current = this.#rows.get(nameOf(lane));
          if ((current?.version ?? 0) !== lane.version) return Promise.resolve({ current });
          this.#rows.set(nameOf(lane), { ...lane, version: lane.version + 1 });
          this.written.push(lane.kind);
          return Promise.resolve(undefined);
        },
        loadPage: () => Promise.reject(new Error('These lines are short.')),
        savePages: () => Promise.reject(new Error('These lines are short.')),
      },
      jobs: {
        sendGranted: ({ kind: lane, name }, all) => {
          for (const admitted of all) {
            const { ticket } = admitted;
            this.sent.push({ admitted, admittedTo: { lane, name, ticket, sentAt: this.time } });
          }
          return Promise.resolve();
        },
        sendPump: () => Promise.resolve(),
      },
      now: () => this.time,
      sleep: () => Promise.resolve(),
      random: () => 0,
    });
  }

  /** A lane in the table, or a new one. */
  lane(key: LaneKey): Lane {
    return this.#rows.get(nameOf(key)) ?? newLane(key, this.time);
  }
}
