const lookEveryMs = 1_000;
/** The least step. Time services also adjust the clock a little at a time. */
const leastStepMs = 500;

/**
 * Calls `onStep` within a second after the clock has stepped, because timers of Node.js do not follow it.
 *
 * @returns a function that ends the watch
 */
export function watchClock(onStep: () => void): () => void {
  const offset = (): number => Date.now() - performance.now();
  let before = offset();
  const timer = setInterval(() => {
    const stepMs = offset() - before;
    before += stepMs;
    if (Math.abs(stepMs) >= leastStepMs) onStep();
  }, lookEveryMs).unref();
  return () => {
    clearInterval(timer);
  };
}

/** A clock that continues where the given one steps back, for timers of SQS, which know only durations. */
export function steadyClock(now: () => number): () => number {
  let aheadMs = 0;
  let last = 0;
  return () => {
    const time = now();
    aheadMs = Math.max(aheadMs, last - time);
    last = time + aheadMs;
    return last;
  };
}
