/**
 * Slots that a process leases for itself, so that most deliveries need no call.
 *
 * A process leases slots for about a minute. In a tight lane it frees unused slots at once. A lease is renewed while an attempt
 * is in flight, and outlives a dead process by at most 70 s.
 */
import { isLineEmpty, leaseTo, processLeaseMs, slotsInUse, type Lane, type LaneKey } from '../lane.ts';
import { secondMs } from '../../shared/clock.ts';
import { recentlyUsed } from '../../shared/recentlyUsed.ts';
import type { Lanes } from './changeLanes.ts';

/** The interval of renewals while an attempt is in flight. */
export const renewalMs = 20 * secondMs;
/**
 * A lane is tight if more than this part of its limit is leased. So at most this part is leased without being
 * used.
 */
const plentyPart = 1 / 4;
/** Slots that are freed within this time share one write. */
const togetherMs = 10;

export interface Slot {
  /** Call it when the attempt is over. Resolves when the slot is free for others. */
  readonly release: () => Promise<void>;
}

interface ProcessSlotsParts {
  readonly lanes: Lanes;
  readonly process: string;
  readonly now: () => number;
  readonly sleep: (ms: number) => Promise<void>;
  /** Logs that a lease was not written. The old lease is valid until it expires. */
  readonly report: (key: LaneKey, error: unknown) => void;
}

interface Asking {
  readonly give: (slot: Slot | undefined) => void;
  readonly fail: (error: unknown) => void;
}

class ProcessSlots {
  readonly #key: LaneKey;
  readonly #parts: ProcessSlotsParts;
  #limit: (lane: Lane) => Lane = (lane) => lane;
  #parallelism = Infinity;
  #inUse = 0;
  #slots = 0;
  #until = 0;
  #isTight = true;
  #asking: Asking[] = [];
  #isLeasing = false;
  #freeing: Promise<void> | undefined;
  #renewal: NodeJS.Timeout | undefined;
  /**
   * The last write. Writes are sequential, so that the lease in the table is never smaller than the one in
   * use.
   */
  #turn: Promise<unknown> = Promise.resolve();

  constructor(key: LaneKey, parts: ProcessSlotsParts) {
    this.#key = key;
    this.#parts = parts;
  }

  /**
   * @param limit returns the lane with its current limits
   * @param most the most slots that these limits allow
   * @returns undefined if there is no capacity
   */
  async take(limit: (lane: Lane) => Lane, most: number): Promise<Slot | undefined> {
    this.#limit = limit;
    // The next renewal is due within 20 s, and may fail and be retried.
    const leftMs = this.#until - this.#parts.now();
    const isLasting = leftMs > 2 * renewalMs && leftMs <= processLeaseMs;
    const isFree = this.#inUse < Math.min(this.#slots, this.#parallelism, most);
    if (isLasting && isFree) return this.#use();
    return new Promise((give, fail) => {
      this.#asking.push({ give, fail });
      if (!this.#isLeasing) void this.#leaseAll();
    });
  }

  /** Leases the slots that are in use or asked for. */
  async #leaseAll(): Promise<void> {
    this.#isLeasing = true;
    while (this.#asking.length > 0) await this.#inTurn(() => this.#lease());
    this.#isLeasing = false;
  }

  async #lease(): Promise<void> {
    const asking = this.#asking.splice(0);
    this.#slots = this.#inUse;
    try {
      let left = (await this.#write(this.#inUse + asking.length)) - this.#inUse;
      for (const { give } of asking) {
        give(left > 0 ? this.#use() : undefined);
        left -= 1;
      }
    } catch (error) {
      for (const { fail } of [...asking, ...this.#asking.splice(0)]) fail(error);
    }
  }

  /** Writes the lease, and finds out whether the lane is tight. */
  async #write(slots: number): Promise<number> {
    const { lanes, process, now } = this.#parts;
    const until = now() + processLeaseMs;
    const granted = await lanes.change(this.#key, (lane, time) => {
      const leased = leaseTo(this.#limit(lane), { process, slots, until }, time);
      this.#parallelism = leased.lane.parallelism ?? Infinity;
      this.#isTight =
        !isLineEmpty(leased.lane) || slotsInUse(leased.lane, time) > this.#parallelism * plentyPart;
      return leased;
    });
    this.#slots = granted;
    this.#until = until;
    return granted;
  }

  #use(): Slot {
    this.#inUse += 1;
    this.#renewal ??= setInterval(() => void this.#renew(), renewalMs).unref();
    let isOver = false;
    return {
      release: async () => {
        if (isOver) return;
        isOver = true;
        this.#inUse -= 1;
        if (this.#inUse === 0) {
          clearInterval(this.#renewal);
          this.#renewal = undefined;
        }
        if (!this.#isTight) return;
        this.#freeing ??= this.#free().finally(() => {
          this.#freeing = undefined;
        });
        await this.#freeing;
      },
    };
  }

  async #free(): Promise<void> {
    await this.#parts.sleep(togetherMs);
    await this.#reported(async () => {
      if (this.#slots <= this.#inUse) return;
      // Slots that are about to be freed must not be used during the write.
      this.#slots = this.#inUse;
      await this.#write(this.#inUse);
    });
  }

  #renew(): Promise<void> {
    return this.#reported(async () => {
      await this.#write(this.#slots);
    });
  }

  #inTurn(write: () => Promise<void>): Promise<void> {
    const done = this.#turn.then(write);
    this.#turn = done.catch(() => undefined);
    return done;
  }

  async #reported(write: () => Promise<void>): Promise<void> {
    try {
      await this.#inTurn(write);
    } catch (error) {
      this.#parts.report(this.#key, error);
    }
  }

  get isIdle(): boolean {
    return this.#inUse === 0 && !this.#isLeasing;
  }
}

export function createProcessSlots(parts: ProcessSlotsParts) {
  const all = new Map<string, ProcessSlots>();
  return {
    take: (key: LaneKey, limit: (lane: Lane) => Lane, most = Infinity): Promise<Slot | undefined> => {
      const slots = recentlyUsed(
        all,
        `${key.accountId} ${key.kind} ${key.name}`,
        () => new ProcessSlots(key, parts),
        ({ isIdle }) => isIdle,
      );
      return slots.take(limit, most);
    },
  };
}
