/**
 * A semaphore for large data in memory. Holds are granted in the order of arrival. A small hold is not
 * counted and never waits. A hold larger than the budget waits until nothing else is held.
 */
export class ByteBudget {
  readonly #total: number;
  readonly #small: number;
  #held = 0;
  #most = 0;
  readonly #waiting: { readonly bytes: number; readonly begin: () => void }[] = [];

  /**
   * @param total the most bytes held at once
   * @param small the largest hold that is not counted, bytes
   */
  constructor(total: number, small: number) {
    this.#total = total;
    this.#small = small;
  }

  /** Bytes that are held now, and the most that were held at one time. */
  get held(): { readonly now: number; readonly most: number } {
    return { now: this.#held, most: this.#most };
  }

  /**
   * Waits for memory. A holder must not acquire more: two such holders could wait for each other.
   *
   * @returns undefined after the timeout
   */
  async acquire(bytes: number, timeoutMs: number): Promise<Hold | undefined> {
    if (bytes <= this.#small) return { shrinkTo: () => undefined, release: () => undefined };
    const counted = Math.min(bytes, this.#total);
    if (this.#waiting.length === 0 && this.#fits(counted)) return this.#hold(counted);
    return new Promise((resolve) => {
      const waiter = {
        bytes: counted,
        begin: () => {
          clearTimeout(timer);
          resolve(this.#hold(counted));
        },
      };
      const timer = setTimeout(() => {
        this.#waiting.splice(this.#waiting.indexOf(waiter), 1);
        resolve(undefined);
        // The hold that gave up may have kept smaller ones waiting.
        this.#beginNext();
      }, timeoutMs);
      this.#waiting.push(waiter);
    });
  }

  #fits(bytes: number): boolean {
    return this.#held + bytes <= this.#total;
  }

  #hold(bytes: number): Hold {
    let mine = bytes;
    this.#held += mine;
    this.#most = Math.max(this.#most, this.#held);
    const shrinkTo = (left: number): void => {
      const kept = Math.min(mine, left);
      this.#held -= mine - kept;
      mine = kept;
      this.#beginNext();
    };
    const release = (): void => {
      shrinkTo(0);
    };
    return { shrinkTo, release };
  }

  #beginNext(): void {
    for (let [next] = this.#waiting; next !== undefined && this.#fits(next.bytes); [next] = this.#waiting) {
      this.#waiting.shift();
      next.begin();
    }
  }
}

interface Hold {
  readonly shrinkTo: (bytes: number) => void;
  /** Gives back all bytes. A second call does nothing. */
  readonly release: () => void;
}
