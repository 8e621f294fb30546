/**
 * Deliveries in flight, held to the account's `max_global_parallelism`.
 *
 * Each process has a lease of so many slots. It raises its lease before it uses it, and then reads the leases of all: what
 * goes beyond the limit it gives back before it starts anything. Of two that raise at once, whoever reads last sees the
 * other's, so together they never have more than the limit. While there is plenty, a process keeps its lease for a minute,
 * and a delivery costs no call; when it gets tight, what is not used is given back at once, for those who wait.
 */
import { randomUUID } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { limitsOf, type Account } from '../domain/account.ts';
import { now, secondMs } from '../domain/clock.ts';
import { leasesOf, putLease } from '../stores/flight.ts';
import { log } from '../transport/log.ts';

/** A lease is renewed while something is in flight, and outlives a process that died by no more than this. */
const leaseMs = 70 * secondMs;
const renewalMs = 20 * secondMs;
/** Beyond this part of the limit it is tight: no more than this part can be leased and not used. */
const plentyPart = 1 / 4;

const processId = randomUUID();

/** A delivery that may be made. */
export interface Slot {
  /** To be called when it is over; resolves to whether others may be waiting for what was given back. */
  readonly release: () => Promise<boolean>;
}

/** What this process has in flight of one account. */
class Flight {
  readonly #accountId: string;
  #running = 0;
  #slots = 0;
  #until = 0;
  #isTight = false;
  #waiting: ((slot: Slot | undefined) => void)[] = [];
  #raising: Promise<void> | undefined;
  #renewal: NodeJS.Timeout | undefined;
  /** What is written is written in turn, so that the lease in the table is never less than the one that is used. */
  #turn: Promise<unknown> = Promise.resolve();

  constructor(accountId: string) {
    this.#accountId = accountId;
  }

  /** @returns undefined when there is no room */
  async take(limit: number): Promise<Slot | undefined> {
    if (this.#running < Math.min(this.#slots, limit) && now() < this.#until - renewalMs) return this.#start();
    const slot = new Promise<Slot | undefined>((resolve) => this.#waiting.push(resolve));
    this.#raising ??= this.#raise(limit).finally(() => {
      this.#raising = undefined;
    });
    await this.#raising;
    return slot;
  }

  /** Asks for all that wait at once. Those who come meanwhile have a turn of their own. */
  async #raise(limit: number): Promise<void> {
    try {
      await setImmediate();
      while (this.#waiting.length > 0) {
        const waiting = this.#waiting.splice(0);
        let isLeased = false;
        try {
          await this.#inTurn(() => this.#lease(Math.min(limit, this.#running + waiting.length), limit));
          isLeased = true;
        } finally {
          for (const resolve of waiting) {
            resolve(isLeased && this.#running < this.#slots ? this.#start() : undefined);
          }
        }
        await setImmediate();
      }
    } finally {
      for (const resolve of this.#waiting.splice(0)) resolve(undefined);
    }
  }

  async #lease(wanted: number, limit: number): Promise<void> {
    const until = now() + leaseMs;
    this.#slots = this.#running;
    await this.#put(wanted, until);
    const leases = await leasesOf(this.#accountId, now());
    const others = leases.reduce((sum, lease) => sum + (lease.processId === processId ? 0 : lease.slots), 0);
    const granted = Math.max(this.#running, Math.min(wanted, limit - others));
    this.#isTight = others + wanted > limit * plentyPart;
    // What is given back is not used any more while it is.
    this.#slots = granted;
    this.#until = until;
    if (granted < wanted) await this.#put(granted, until);
  }

  #put(slots: number, until: number): Promise<void> {
    return putLease(this.#accountId, { processId, slots, until });
  }

  #start(): Slot {
    this.#running += 1;
    this.#renewal ??= setInterval(() => void this.#report(() => this.#renew()), renewalMs).unref();
    let isOver = false;
    return {
      release: async () => {
        if (isOver) return false;
        isOver = true;
        this.#running -= 1;
        if (this.#running === 0) {
          clearInterval(this.#renewal);
          this.#renewal = undefined;
        }
        if (!this.#isTight) return false;
        await this.#report(() => this.#giveBack());
        return true;
      },
    };
  }

  async #giveBack(): Promise<void> {
    if (this.#slots <= this.#running) return;
    this.#slots = this.#running;
    await this.#put(this.#slots, this.#until);
  }

  async #renew(): Promise<void> {
    const until = now() + leaseMs;
    await this.#put(this.#slots, until);
    this.#until = until;
  }

  #inTurn(work: () => Promise<void>): Promise<void> {
    const done = this.#turn.then(work);
    this.#turn = done.catch(() => undefined);
    return done;
  }

  /** A lease that could not be written holds as it was, and ends by itself. */
  async #report(write: () => Promise<void>): Promise<void> {
    try {
      await this.#inTurn(write);
    } catch (error) {
      log.warn('A lease could not be written', { accountId: this.#accountId, error: String(error) });
    }
  }

  get isIdle(): boolean {
    return this.#running === 0 && this.#raising === undefined;
  }
}

const capacity = 1_000;
const flights = new Map<string, Flight>();

function flightOf(accountId: string): Flight {
  const flight = flights.get(accountId) ?? new Flight(accountId);
  flights.delete(accountId);
  flights.set(accountId, flight);
  for (const [id, oldest] of flights) {
    if (flights.size <= capacity) break;
    if (oldest.isIdle) flights.delete(id);
  }
  return flight;
}

/** @returns undefined when the account has as many deliveries in flight as it may */
export const takeSlot = (account: Account): Promise<Slot | undefined> =>
  flightOf(account.id).take(limitsOf(account).max_global_parallelism);

/** How many more deliveries of an account may be in flight. */
export async function roomOf(account: Account): Promise<number> {
  const leases = await leasesOf(account.id, now());
  const leased = leases.reduce((sum, { slots }) => sum + slots, 0);
  return Math.max(0, limitsOf(account).max_global_parallelism - leased);
}
