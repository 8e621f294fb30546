/**
 * Fires schedules, exact to the millisecond. Only fires of the next hour are in memory. A fire that fails is
 * tried again every second.
 *
 * If a one-time schedule was due while no process was running, it is fired at the next start. A recurring one
 * continues with its next time.
 */
import { setImmediate, setTimeout as pause } from 'node:timers/promises';
import { Heap, type Placed } from '../heap.ts';
import type { Schedules } from './schedules.ts';
import { keyOf, type Fire } from './storedSchedules.ts';

interface Waiting extends Placed {
  readonly fire: Fire;
  /** When it fires, or is tried again. */
  readonly at: number;
  readonly failures: number;
}

interface FiringOptions {
  readonly schedules: Schedules;
  /** Epoch milliseconds. After the clock has jumped, `wake` must be called. */
  readonly now: () => number;
  /** Called with errors of targets and the store. */
  readonly report: (error: unknown) => void;
}

/** How far ahead fires are kept in memory. */
const horizonMs = 3_600_000;
/** How many fires are read together, in a few milliseconds. */
const readTogether = 2_000;
const mostAtOnce = 1_000;
/**
 * The pause before a fire is tried again. Only the stage's own disk can fail here, so there is no retry
 * policy.
 */
const retryAfterMs = 1_000;

const longestTimerMs = 2 ** 31 - 1;

export class Firing {
  readonly #schedules: Schedules;
  readonly #now: () => number;
  readonly #report: FiringOptions['report'];
  readonly #byTime = new Heap<Waiting>((a, b) => a.at < b.at);
  readonly #waiting = new Map<string, Waiting>();
  readonly #firing = new Set<Promise<void>>();
  /** Fires before this time are in memory. New ones are added by `add`. */
  #readUntil = 0;
  #alarm: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor({ schedules, now, report }: FiringOptions) {
    this.#schedules = schedules;
    this.#now = now;
    this.#report = report;
  }

  async start(): Promise<void> {
    await this.#schedules.completeIndex();
    await this.#read(0);
    this.#serve();
  }

  /** Reads all fires again, because another process has ended without reporting all of them. */
  readAgain(): Promise<void> {
    return this.#serveAfter(() => this.#read(0));
  }

  /** Adds a new fire. If it is already there, does nothing. */
  add(fire: Fire): void {
    this.#put(fire);
    this.#serve();
  }

  /** When the next fire is due. */
  get nextDue(): number | undefined {
    return this.#byTime.first?.at ?? this.#schedules.firstDue(this.#readUntil);
  }

  /** Must be called when the clock has jumped. */
  wake(): void {
    this.#serve();
    void this.#serveAfter(() =>
      this.#schedules.planAnew((fire) => {
        this.#put(fire);
      }),
    );
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#alarm);
    await Promise.all(this.#firing);
  }

  #put(fire: Fire, at = fire.dueAt, failures = 0): void {
    const key = keyOf(fire.id);
    const before = this.#waiting.get(key);
    if (before?.fire.dueAt === fire.dueAt || fire.dueAt >= this.#readUntil) return;
    if (before !== undefined) this.#byTime.remove(before);
    const waiting: Waiting = { fire, at, failures, place: -1 };
    this.#waiting.set(key, waiting);
    this.#byTime.add(waiting);
  }

  async #serveAfter(act: () => Promise<void>): Promise<void> {
    while (!this.#isClosed) {
      try {
        await act();
        this.#serve();
        return;
      } catch (error) {
        this.#report(error);
      }
      await pause(retryAfterMs, undefined, { ref: false });
    }
  }

  /** Reads the fires from a time on, until an hour from now. */
  async #read(from: number): Promise<void> {
    const until = Math.max(this.#readUntil, this.#now() + horizonMs);
    this.#readUntil = until;
    let number = 0;
    for (const fire of this.#schedules.fires(from, until)) {
      this.#put(fire);
      number += 1;
      if (number % readTogether === 0) await setImmediate();
    }
  }

  /** Fires what is due, and sets a timer for the next fire or the next reading. */
  #serve(): void {
    clearTimeout(this.#alarm);
    if (this.#isClosed) return;
    const now = this.#now();
    let next = this.#byTime.first;
    while (next !== undefined && next.at <= now && this.#firing.size < mostAtOnce) {
      this.#begin(next);
      next = this.#byTime.first;
    }
    const from = this.#readUntil;
    if (now >= from - horizonMs / 2) void this.#serveAfter(() => this.#read(from));
    // Called again when a fire has ended.
    if (this.#firing.size >= mostAtOnce) return;
    const ms = Math.min(this.#byTime.first?.at ?? Infinity, this.#readUntil - horizonMs / 2) - now;
    this.#alarm = setTimeout(
      () => {
        this.#serve();
      },
      Math.min(ms, longestTimerMs),
    );
  }

  #begin(waiting: Waiting): void {
    this.#byTime.remove(waiting);
    this.#waiting.delete(keyOf(waiting.fire.id));
    const firing = this.#fire(waiting).finally(() => {
      this.#firing.delete(firing);
      this.#serve();
    });
    this.#firing.add(firing);
  }

  async #fire({ fire, failures }: Waiting): Promise<void> {
    try {
      await this.#schedules.fire(fire, failures === 0, (next) => {
        this.#put(next);
      });
    } catch (error) {
      this.#report(error);
      this.#put(fire, this.#now() + retryAfterMs, failures + 1);
    }
  }
}
