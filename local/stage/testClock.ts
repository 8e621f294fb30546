export interface TestClock {
  /** Sets the clock forward. A moment in the past changes nothing. */
  readonly moveTo: (epochMs: number) => void;
  /** Restores the clock of the machine. */
  readonly release: () => void;
}

/**
 * Replaces `Date.now` in this process, which the stand-ins, the gateway and the handlers read. The clock runs on from the moment
 * that it was set to. Timers, `performance.now`, the time limits of requests and of functions, and `new Date()` keep real time.
 */
export function takeOverClock(): TestClock {
  const realNow = Date.now;
  let aheadMs = 0;
  Date.now = () => realNow() + aheadMs;
  return {
    moveTo: (epochMs) => {
      aheadMs = Math.max(aheadMs, epochMs - realNow());
    },
    release: () => {
      Date.now = realNow;
    },
  };
}
