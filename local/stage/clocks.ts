const lookEveryMs = 1_000;
/** A smaller step is ignored: time services adjust the clock a little at a time. */
const leastStepMs = 500;

/**
 * Calls `onStep` within a second after the clock has jumped. Timers of Node.js do not notice it.
 *
 * @returns a function that stops watching
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

/**
 * A clock that never goes back. If the given one does, it continues from there. For SQS, whose timers are
 * durations.
 */
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
