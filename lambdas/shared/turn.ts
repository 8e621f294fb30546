/** The turns of long work, so that other requests of the process go on meanwhile. */

/** The longest that work goes on before it lets other requests of the process go on, in milliseconds. */
const turnMs = 10;
/** The longest pause between two turns, in milliseconds. */
const longestPauseMs = 100;

/** What the shortest pause takes by itself, in milliseconds. */
const leastMs = 2;

/** Of browsers as well as of Node.js: the console works on lists, too. */
const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/**
 * The turns of long work that waits for nothing. On Lambda a process has one request, and turns cost nothing; on one machine all
 * requests share a process.
 */
export class Turn {
  #endsAt = performance.now() + turnMs;

  /**
   * Lets others go on where the turn is over. Where they took their time, it leaves them as much once more: long work of several
   * requests together then takes half of the process.
   */
  async end(): Promise<void> {
    const since = performance.now();
    if (since < this.#endsAt) return;
    await sleep(0);
    const tookMs = performance.now() - since;
    if (tookMs > leastMs) await sleep(Math.min(tookMs, longestPauseMs));
    this.#endsAt = performance.now() + turnMs;
  }
}
