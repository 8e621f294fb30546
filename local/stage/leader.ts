/** One process of a stage leads: it fires schedules, invokes timed functions, and deletes expired data. */
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

interface Leader {
  /**
   * @param isAlone whether no other process uses the store
   * @throws Error of the disk; then it can be called again
   */
  readonly start: (isAlone: boolean) => Promise<void>;
  readonly stop: (signal: AbortSignal) => Promise<void>;
}

export function leaderOf({ standIns, timed, control, isPaused, report }: LeaderOptions): Leader {
  const { scheduler, expire, store } = standIns;
  let endings: Leader['stop'][] = [];
  return {
    start: async (isAlone) => {
      const withdraw = control?.announce() ?? (() => Promise.resolve());
      endings = [withdraw];
      if (isPaused) return;
      await lookForMissedFires(standIns);
      await scheduler.fire();
      endings.push(
        scheduler.rest,
        ...startTimers(timed, report).map(({ stop }) => stop),
        startExpiry(expire, report),
        watchForLost(store, isAlone, report),
      );
    },
    stop: async (signal) => {
      await Promise.all(endings.splice(0).map((end) => end(signal)));
    },
  };
}
