import { formatEntry, leaseMarginMs } from '../../lambdas/lane/rules/entry.ts';
import {
  circuitLane,
  withLease,
  type LaneKey,
  accountLane,
  keyLane,
  queueLane,
} from '../../lambdas/lane/lane.ts';
import { rulesOf } from '../../lambdas/circuit/settings.ts';
import { createCircuits } from '../../lambdas/lane/slots/circuitView.ts';
import { createLaneGate, type Acquired } from '../../lambdas/lane/slots/acquire.ts';
import type { DueAttempt } from '../../lambdas/lane/slots/dueAttempt.ts';
import { createProcessSlots } from '../../lambdas/lane/slots/processSlots.ts';
import type { AdmittedTo } from '../../lambdas/job/job.ts';
import { LanesInMemory } from './lanesInMemory.ts';

const accountId = 'acct';
export const minuteMs = 60_000;
export const timeoutMs = 30_000;
export const host = 'down.example.com';
export const [queue, key] = [queueLane(accountId, 'orders'), keyLane(accountId, 'crm')];
export const [circuit, account] = [circuitLane(accountId, host), accountLane(accountId)];

export const attemptOf = (number: number, more: Partial<DueAttempt> = {}): DueAttempt => ({
  messageId: `msg_${String(number).padStart(26, '0')}`,
  attempt: 0,
  queue: 'short',
  accountId,
  queueName: undefined,
  flowControl: undefined,
  circuit: undefined,
  accountLimits: { parallelism: 1, version: 1 },
  timeoutMs,
  createdAt: 0,
  notBefore: 0,
  admittedTo: undefined,
  isAgain: false,
  ...more,
});

/** When a lease for the longest attempt ends. */
export const endOfRequest = ({ time }: LanesInMemory): number => time + timeoutMs + leaseMarginMs;

export class AcquireFixture extends LanesInMemory {
  readonly slept: number[] = [];
  /** Records sleeps instead of sleeping. */
  readonly #sleep = (ms: number): Promise<void> => {
    this.slept.push(ms);
    return Promise.resolve();
  };
  readonly laneGate = createLaneGate({
    lanes: this.lanes,
    slots: createProcessSlots({
      lanes: this.lanes,
      process: 'process#1',
      now: () => this.time,
      sleep: () => Promise.resolve(),
      report: () => {},
    }),
    circuits: createCircuits({
      lanes: this.lanes,
      load: (lane) => Promise.resolve(this.lane(lane)),
      now: () => this.time,
      tell: () => {},
      report: () => {},
    }),
    now: () => this.time,
    sleep: this.#sleep,
    report: () => {},
  });

  async pass(attempt: DueAttempt): Promise<Acquired> {
    const entered = await this.laneGate.acquire(attempt);
    if (typeof entered === 'string') throw new Error(`It is refused: ${entered}.`);
    return entered;
  }

  /** Makes a lane in which others already hold some slots. */
  occupy = (lane: LaneKey, slots: number, parallelism: number): Promise<void> =>
    this.lanes.update(lane, (found) =>
      withLease({ ...found, parallelism }, 'other', { slots, until: this.time + 1e9 }),
    );

  leave = (lane: LaneKey): Promise<void> =>
    this.lanes.update(lane, (found) => withLease(found, 'other', undefined));

  /** Lets an attempt wait in its key's line until it is granted. */
  async grantedByKey(attempt: DueAttempt): Promise<DueAttempt & { readonly admittedTo: AdmittedTo }> {
    await this.lanes.update(key, (lane) => ({ ...lane, isPaused: true }));
    await this.laneGate.acquire(attempt);
    await this.lanes.update(key, (lane) => ({ ...lane, isPaused: false }));
    return { ...attempt, admittedTo: this.grantOf(attempt) };
  }

  leaseOf = (lane: LaneKey, attempt: DueAttempt) => this.lane(lane).leases.get(formatEntry(attempt));

  grantOf({ messageId }: DueAttempt): AdmittedTo {
    const found = this.sent.findLast(({ admitted }) => admitted.messageId === messageId);
    if (found === undefined) throw new Error('It was not granted.');
    return found.admittedTo;
  }

  /** Opens the host's circuit. It may be probed in a minute. */
  openCircuit = (): Promise<void> =>
    this.lanes.update(circuit, (lane) => ({
      ...lane,
      circuit: {
        failures: 5,
        failedAt: this.time,
        lastStatus: 500,
        openedAt: this.time,
        openUntil: this.time + minuteMs,
        failedProbes: 0,
        isExpiring: false,
        window: 1,
      },
    }));
}

export const flowControl = { key: key.name, parallelism: 2, madeAt: 1 };
export const rated = { key: key.name, parallelism: 2, rate: 1, periodMs: 2_000, madeAt: 1 };
export const guarded = (fixture: AcquireFixture) => ({
  host,
  rules: rulesOf(undefined),
  dueAt: fixture.time,
});
