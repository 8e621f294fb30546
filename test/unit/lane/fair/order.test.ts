import { expect, it } from 'vitest';
import { newLane, waitingIn, withLease, type Lane } from '../../../../lambdas/lane/lane.ts';
import { joinAgain, joinLine } from '../../../../lambdas/lane/rules/arrival.ts';
import { withdrawWaiting } from '../../../../lambdas/lane/rules/cancelling.ts';
import { formatEntry } from '../../../../lambdas/lane/rules/entry.ts';
import { leave } from '../../../../lambdas/lane/rules/leaving.ts';
import { LaneBusy, type Lanes } from '../../../../lambdas/lane/slots/changeLanes.ts';
import { priorities, type Priority, type Turn } from '../../../../lambdas/value/turn.ts';
import { expectFaults, Tally } from '../../../support/faults.ts';
import { FairModel } from '../../../support/fairModel.ts';
import { LanesInMemory, type Call } from '../../../support/lanesInMemory.ts';
import { sizeOf } from '../../../support/sample.ts';
import { randomOf } from '../../../support/simulatedClock.ts';

/** Compares a fair line with a model while processes die between two calls and others write the lane. Each run has a seed. */

const runs = sizeOf({ ordinary: 6, thorough: 1_000 });
const steps = 300;

const entryOf = (number: number): string =>
  formatEntry({ messageId: `msg_${String(number).padStart(26, '0')}`, attempt: 0, queue: 'short' });

class Died extends Error {}

const key = { accountId: 'acct', kind: 'key', name: 'k' } as const;

/** A change of the lane, and the same change of the model once the lane is written. */
interface Act {
  readonly to: (lane: Lane) => Lane;
  readonly inModel: (before: Lane, after: Lane) => void;
}

const faultNames = ['death before a call', 'death after a call', 'conflict', 'a long stop'] as const;

class Run {
  readonly memory = new LanesInMemory();
  readonly model = new FairModel();
  readonly granted = new Map<string, number>();
  readonly #random: () => number;
  readonly #faults: Tally<(typeof faultNames)[number]>;
  readonly #turns = new Map<string, Turn>();
  readonly #deaths: number;
  readonly #names: readonly string[];
  /** Callbacks that let stopped processes continue. */
  readonly #stopped: (() => void)[] = [];
  #count = 0;
  /** The probability that an entry joins in a step. Otherwise one leaves. */
  #tide = 0.6;

  constructor(seed: number, faults: Tally<(typeof faultNames)[number]>) {
    this.#random = randomOf(seed);
    this.#faults = faults;
    this.#deaths = this.#random() < 0.5 ? 0 : 0.03;
    const names = 1 + Math.floor(this.#random() * 14);
    this.#names = Array.from({ length: names }, (_, index) => `tenant ${index}`);
    const parallelism = 1 + Math.floor(this.#random() * 4);
    this.memory.table.put({ ...newLane(key, 0, { parallelism }), version: 1 });
  }

  #one<T>(all: readonly T[]): T | undefined {
    return all[Math.floor(this.#random() * all.length)];
  }

  /** A process may die, or stop before a call while others make many steps. */
  #process(act: Act, isSlow: boolean): Lanes {
    let isDead = false;
    let callsLeft = isSlow ? Math.floor(this.#random() * 6) : Infinity;
    const meet = async (when: 'before' | 'after'): Promise<void> => {
      // Another process may act between two calls.
      callsLeft -= 1;
      if (callsLeft === -1) {
        this.#faults.count('a long stop');
        await new Promise<void>((resolve) => this.#stopped.push(resolve));
      }
      for (let turns = Math.floor(this.#random() * 4); turns > 0; turns -= 1) await Promise.resolve();
      if (!isDead && this.#random() < this.#deaths) {
        isDead = true;
        this.#faults.count(`death ${when} a call`);
      }
      if (isDead) throw new Died();
    };
    const call: Call = async (make) => {
      await meet('before');
      const made = make();
      await meet('after');
      return made;
    };
    const { version } = this.row;
    let isMade = false;
    return this.memory.startProcess(call, (before = this.row, after) => {
      if (before.version > version) this.#faults.count('conflict');
      if (!isMade) act.inModel(before, after);
      isMade = true;
      this.#expectGrants(before, after);
    });
  }

  get row(): Lane {
    return this.memory.lane(key);
  }

  /** Expects that a write granted slots to the model’s attempts, in its order. */
  #expectGrants(before: Lane, after: Lane): void {
    const isNew = (entry: string): boolean => {
      const ticket = after.leases.get(entry)?.ticket;
      return ticket !== undefined && ticket !== before.leases.get(entry)?.ticket;
    };
    for (const entry of [...after.leases.keys()].filter(isNew)) {
      expect(entry).toBe(this.model.next());
      this.granted.set(entry, (this.granted.get(entry) ?? 0) + 1);
    }
    // Cancelled entries of a page stay in the line until their turn.
    expect(waitingIn({ ...after, cancelled: 0 })).toBe(this.model.waiting);
  }

  #join(): Act {
    const count = this.#random() < 0.1 ? 12 : 1;
    const fairKey = this.#random() < 0.3 ? undefined : this.#one(this.#names);
    const priority = this.#random() < 0.5 ? undefined : this.#one(priorities);
    const turn: Turn = { fairKey, priority };
    const entries = Array.from({ length: count }, () => entryOf((this.#count += 1)));
    for (const entry of entries) this.#turns.set(entry, turn);
    const place: readonly [string, Priority] = [fairKey ?? '', priority ?? 'normal'];
    return {
      to: (lane) => entries.reduce((joined, entry) => joinLine(joined, entry, turn), lane),
      inModel: () => {
        for (const entry of entries) this.model.join(...place, entry);
      },
    };
  }

  #end(): Act {
    const holder = this.#one([...this.row.leases.keys()]) ?? '';
    return { to: (lane) => leave(lane, holder), inModel: () => {} };
  }

  #return(): Act {
    const holder = this.#one([...this.row.leases.keys()]) ?? '';
    return {
      to: (lane) => (lane.leases.has(holder) ? joinAgain(withLease(lane, holder, undefined), holder) : lane),
      inModel: (before) => {
        if (before.leases.has(holder)) this.model.joinAgain(holder);
      },
    };
  }

  /** Cancels an entry of the line. It leaves at once, or when its turn comes. */
  #cancel(): Act {
    const entry = this.#one([...this.#turns.keys()]) ?? '';
    const turn = this.#turns.get(entry);
    return {
      to: (lane) => (this.model.has(entry) ? withdrawWaiting(lane, entry, turn) : lane),
      inModel: (before, after) => {
        const isCounted = after.cancelled > before.cancelled;
        if (!before.leases.has(entry) && !isCounted) this.model.leave(entry);
      },
    };
  }

  #act(): Act {
    const chance = this.#random();
    if (chance < this.#tide) return this.#join();
    if (chance < 0.9) return this.#end();
    return chance < 0.95 ? this.#return() : this.#cancel();
  }

  async #make(act: Act, isSlow: boolean): Promise<void> {
    await this.#process(act, isSlow)
      .update(key, act.to)
      .catch((error: unknown) => {
        if (!(error instanceof Died || error instanceof LaneBusy)) throw error;
      });
  }

  async run(): Promise<void> {
    const slow: Promise<void>[] = [];
    for (let step = 0; step < steps; step += 1) {
      if (step % 50 === 0) this.#tide = this.#random();
      const together = Array.from({ length: 1 + Math.floor(this.#random() * 3) }, () => this.#act());
      const made = together.map((act, place) => this.#make(act, place > 0 && this.#random() < 0.1));
      slow.push(...made.slice(1));
      await made[0];
      if (this.#random() < 0.1) this.#stopped.shift()?.();
    }
    while (this.#stopped.length > 0) this.#stopped.shift()?.();
    await Promise.all(slow);
    // The remaining entries leave, too.
    for (let left = Infinity; left > 0; left = this.model.waiting + this.row.leases.size) {
      const lanes = this.memory.startProcess(undefined, (before = this.row, after) => {
        this.#expectGrants(before, after);
      });
      await lanes.update(key, (lane) => ({ ...lane, leases: new Map() }));
    }
  }
}

it(`grants slots in the order of the model in ${runs} runs, though processes die and write at the same time`, async () => {
  const faults = new Tally<(typeof faultNames)[number]>(faultNames);
  for (let seed = 1; seed <= runs; seed += 1) {
    const run = new Run(seed, faults);
    await run.run().catch((error: unknown) => {
      throw new Error(`Seed ${seed}`, { cause: error });
    });
    expect(run.row.fair, `seed ${seed}`).toBeUndefined();
    expect(waitingIn(run.row), `seed ${seed}`).toBe(0);
  }
  expectFaults(`${runs} fair lines`, faults, true);
});
