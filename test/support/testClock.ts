export interface TestClock {
  /** Moves the clock forward. A moment in the past is ignored. */
  readonly moveTo: (epochMs: number) => void;
  /** Moves the clock forward or back. */
  readonly step: (ms: number) => void;
  readonly release: () => void;
}

/**
 * Replaces `Date.now` in this process. After a change the clock runs on from the new time. Timers,
 * `performance.now`, time limits, and `new Date()` keep real time.
 */
export function takeOverClock(): TestClock {
  const realNow = Date.now;
  let aheadMs = 0;
  Date.now = () => realNow() + aheadMs;
  return {
    moveTo: (epochMs) => {
      aheadMs = Math.max(aheadMs, epochMs - realNow());
    },
    step: (ms) => {
      aheadMs += ms;
    },
    release: () => {
      Date.now = realNow;
    },
  };
}
