/**
 * Deliveries in flight, held to the account's `max_global_parallelism`.
 *
 * Each process has a lease of so many slots. It raises its lease before it uses it, and then reads the leases of all: what
 * goes beyond the limit it gives back before it starts anything. Of two that raise at once, whoever reads last sees the
 * other's, so together they never have more than the limit. While there is plenty, a process keeps its lease for a minute,
 * and a delivery costs no call; when it gets tight, what is not used is given back at once, for those who wait.
 */
import { randomUUID } from 'node:crypto';
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import { limitsOf, type Account } from '../domain/account.ts';
import { now, secondMs } from '../domain/clock.ts';
import { leasesOf, putLease, removeLease, type Lease } from '../stores/flight.ts';
import { log } from '../transport/log.ts';

/** A lease is renewed while something is in flight, and outlives a process that died by no more than this. */
const leaseMs = 70 * secondMs;
const renewalMs = 20 * secondMs;
/** Beyond this part of the limit it is tight: no more than this part can be leased and not used. */
const plentyPart = 1 / 4;

/** How long a message waits in its process for another to be over, before it goes into the line. */
const patienceMs = 3 * secondMs;
/** What becomes free within this time is given back together. */
const togetherMs = 20;
/** Of so many slots that a process hands from one message to the next, one is the line's turn. */
const linesTurn = 4;

/** Time to live is slow: leases of processes that died are removed by those who read them, so many at a time. */
const mostRemoved = 10;

const processId = randomUUID();

const slotsOf = ({ slots, until }: Lease): number => (until > now() ? slots : 0);

/** A delivery that may be made. */
export interface Slot {
  /** To be called when it is over; resolves to how many of those that wait in the line may go. */
  readonly release: () => Promise<number>;
}

type Waiting = (slot: Slot | undefined) => void;

/** What this process has in flight of one account. */
class Flight {
  readonly #accountId: string;
  /** The account's, as it was last heard of. */
  #limit = 0;
  #running = 0;
  #slots = 0;
  #until = 0;
  #isTight = false;
  /** Those that wait for a slot, in the order in which they came. */
  readonly #waiting = new Set<Waiting>();
  #handedOn = 0;
  #raising: Promise<void> | undefined;
  #freeing: Promise<number> | undefined;
  #renewal: NodeJS.Timeout | undefined;
  /** What is written is written in turn, so that the lease in the table is never less than the one that is used. */
  #turn: Promise<unknown> = Promise.resolve();

  constructor(accountId: string) {
    this.#accountId = accountId;
  }

  /** @returns undefined when there is no room */
  take(limit: number): Promise<Slot | undefined> | Slot {
    this.#limit = limit;
    if (this.#hasRoom() && now() < this.#until - renewalMs) return this.#start();
    return new Promise<Slot | undefined>((resolve, reject) => {
      const end = (): boolean => {
        clearTimeout(patience);
        return this.#waiting.delete(waiting);
      };
      const waiting: Waiting = (given) => {
        end();
        resolve(given);
      };
      const patience = setTimeout(waiting, patienceMs, undefined);
      this.#waiting.add(waiting);
      this.#raising ??= this.#raise();
      // Who has a slot by then keeps it, and gives it back.
      this.#raising.catch((error: unknown) => {
        if (end()) reject(error instanceof Error ? error : new Error(String(error)));
      });
    });
  }

  #hasRoom(): boolean {
    return this.#running < Math.min(this.#slots, this.#limit);
  }

  /** Asks for all that wait at once, and for those who come meanwhile, as long as it gets all that it asks for. */
  async #raise(): Promise<void> {
    await setImmediate();
    try {
      for (let isGranted = true; isGranted && this.#waiting.size > 0;) {
        await this.#inTurn(() => this.#lease());
        isGranted = this.#handOn() > 0 && this.#slots < this.#limit;
      }
      // Where nothing is in flight here, nothing here will make room.
      if (this.#running === 0) this.#sendAway();
    } finally {
      this.#raising = undefined;
    }
  }

  /** Gives slots to those that wait, as far as there are any; to how many. */
  #handOn(): number {
    let given = 0;
    for (const waiting of this.#waiting) {
      if (!this.#hasRoom()) break;
      waiting(this.#start());
      given += 1;
    }
    return given;
  }

  #sendAway(): void {
    for (const waiting of this.#waiting) waiting(undefined);
  }

  async #lease(): Promise<void> {
    const limit = this.#limit;
    const until = now() + leaseMs;
    this.#slots = this.#running;
    // A limit that was lowered ends nothing that is in flight.
    const wanted = Math.max(this.#running, Math.min(limit, this.#running + this.#waiting.size));
    await this.#put(wanted, until);
    const leases = await leasesOf(this.#accountId);
    const others = leases.reduce(
      (sum, lease) => sum + (lease.processId === processId ? 0 : slotsOf(lease)),
      0,
    );
    await Promise.all(
      leases
        .filter((lease) => lease.until < now() - leaseMs)
        .slice(0, mostRemoved)
        .map((lease) => removeLease(this.#accountId, lease.processId)),
    );
    const granted = Math.max(this.#running, Math.min(wanted, limit - others));
    this.#isTight = others + wanted > limit * plentyPart;
    // What is given back is not used any more while it is.
    this.#slots = granted;
    this.#until = until;
    if (granted < wanted) await this.#put(granted, until);
  }

  #put(slots: number, until: number): Promise<void> {
    return slots === 0
      ? removeLease(this.#accountId, processId)
      : putLease(this.#accountId, { processId, slots, until });
  }

  #start(): Slot {
    this.#running += 1;
    this.#renewal ??= setInterval(() => void this.#report(() => this.#renew()), renewalMs).unref();
    let isOver = false;
    return {
      release: async () => {
        if (isOver) return 0;
        isOver = true;
        return this.#end();
      },
    };
  }

  async #end(): Promise<number> {
    this.#running -= 1;
    const [next] = this.#waiting;
    if (next !== undefined && this.#hasRoom()) {
      next(this.#start());
      this.#handedOn += 1;
      return this.#handedOn % linesTurn === 0 ? 1 : 0;
    }
    if (this.#running === 0) {
      clearInterval(this.#renewal);
      this.#renewal = undefined;
    }
    if (!this.#isTight) return 0;
    if (this.#freeing !== undefined) {
      await this.#freeing;
      return 0;
    }
    this.#freeing = this.#free().finally(() => {
      this.#freeing = undefined;
    });
    return this.#freeing;
  }

  /** Gives back what is not used, a moment later; resolves to how much that was. */
  async #free(): Promise<number> {
    await sleep(togetherMs);
    let freed = 0;
    await this.#report(async () => {
      if (this.#slots <= this.#running) return;
      freed = this.#slots - this.#running;
      this.#slots = this.#running;
      await this.#put(this.#slots, this.#until);
    });
    return freed;
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
export const takeSlot = async (account: Account): Promise<Slot | undefined> =>
  flightOf(account.id).take(limitsOf(account).max_global_parallelism);

/** How many more deliveries of an account may be in flight. */
export async function roomOf(account: Account): Promise<number> {
  const leases = await leasesOf(account.id);
  const leased = leases.reduce((sum, lease) => sum + slotsOf(lease), 0);
  return Math.max(0, limitsOf(account).max_global_parallelism - leased);
}
