export interface TestClock {
  /** Sets the clock forward; one that is there or later already stays as it is. */
  readonly moveTo: (epochMs: number) => void;
  /** Gives the machine's own clock back. */
  readonly release: () => void;
}

/**
 * Takes over `Date.now` for this process: the stand-ins, the gateway and the handlers all read it, and it goes on as it
 * does, ahead by what it was set forward. What measures spans (timers, `performance.now`, the limits of requests and of
 * functions) and `new Date()` keep real time.
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
