/** The leading process of a stage fires schedules, invokes timed functions, and deletes expired data, for all processes. */
import type { Control } from '../backup/control.ts';
import { startExpiry } from '../dynamodb/expiry.ts';
import { startTimers, type Timed } from '../lambda/timer.ts';
import { lookForMissedFires, watchForLost } from './lostMessages.ts';
import type { StandIns } from './standIns.ts';

interface LeaderOptions {
  readonly standIns: StandIns;
  readonly timed: readonly Timed[];
  readonly control: Control | undefined;
  readonly isPaused: boolean;
  readonly report: (error: unknown) => void;
}

export class Leader {
  readonly #options: LeaderOptions;
  #endings: ((signal: AbortSignal) => Promise<void>)[] = [];

  constructor(options: LeaderOptions) {
    this.#options = options;
  }

  /** @throws Error of the disk; it can then be called again */
  async start(): Promise<void> {
    const { standIns, timed, control, isPaused, report } = this.#options;
    const { scheduler, expire, store } = standIns;
    const withdraw = control?.announce();
    this.#endings = withdraw === undefined ? [] : [withdraw];
    if (isPaused) return;
    await lookForMissedFires(standIns);
    await scheduler.fire();
    const timers = startTimers(timed, report);
    this.#endings.push(
      scheduler.rest,
      ...timers.map((timer) => (signal: AbortSignal) => timer.stop(signal)),
      startExpiry(expire, report),
      watchForLost(store, report),
    );
  }

  /** Resolves when the invocations in flight have ended, or `signal` aborts. */
  async stop(signal: AbortSignal): Promise<void> {
    await Promise.all(this.#endings.splice(0).map((end) => end(signal)));
  }
}
