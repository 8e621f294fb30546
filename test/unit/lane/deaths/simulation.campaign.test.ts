import { describe, expect, it } from 'vitest';
import { isLineEmpty, type Limits } from '../../../../lambdas/lane/lane.ts';
import { priorities } from '../../../../lambdas/value/turn.ts';
import {
  quicklyMs,
  Simulation,
  simulatedFaults,
  type Observed,
  type Sent,
  type SimulatedFault,
} from '../../../support/laneSimulation.ts';
import { expectFaults, Tally } from '../../../support/faults.ts';
import { randomOf } from '../../../support/simulatedClock.ts';
import { sizeOf } from '../../../support/sample.ts';

/** Simulates workers that race, die and are late, each run from a seed. `SEED=… npx vitest run …` repeats one run. */

const seeds = process.env['SEED'] === undefined ? undefined : [Number(process.env['SEED'])];
const runs = sizeOf({ ordinary: 30, thorough: 3_000 });

const letters = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const idOf = (number: number): string =>
  `msg_${Array.from({ length: 26 }, (_, index) => letters[index < 20 ? 0 : Math.floor(number / 32 ** (25 - index)) % 32]).join('')}`;

/**
 * A message that is in flight twice counts once: if a worker dies, a job may be redelivered although its
 * attempt waits in a line.
 */
function mostAtOnce(observed: readonly Observed[], lane: string): number {
  const inFlight = new Map<string, number>();
  let most = 0;
  for (const { what, id } of observed.filter((one) => one.lane === lane)) {
    const times = (inFlight.get(id) ?? 0) + (what === 'start' ? 1 : -1);
    if (times === 0) inFlight.delete(id);
    else inFlight.set(id, times);
    most = Math.max(most, inFlight.size);
  }
  return most;
}

function mostStarts(observed: readonly Observed[], lane: string, spanMs: number): number {
  const starts = observed.filter((one) => one.lane === lane && one.what === 'start');
  let most = 0;
  for (const { at: until } of starts) {
    const within = starts.filter(({ at }) => at <= until && at > until - spanMs);
    most = Math.max(most, new Set(within.map(({ id }) => id)).size);
  }
  return most;
}

/** In some runs, SQS or the start of a function takes so long that a start is late, or misses its period. */
const quickly = [quicklyMs, quicklyMs] as const;
const behindPeriods = [1_500, 4_500] as const;

function transitOf(chance: number): readonly [number, number] {
  if (chance < 0.2) return [50, 650];
  return chance < 0.35 ? behindPeriods : quickly;
}

interface Plan {
  readonly keys: ReadonlyMap<string, Limits>;
  readonly queues: ReadonlyMap<string, number>;
  readonly accountParallelism: number;
}

/** More tenants than a lane’s row keeps. */
const tenants = Array.from({ length: 12 }, (_, index) => `tenant ${index}`);

function run(seed: number) {
  const random = randomOf(seed * 7 + 1);
  const upTo = (most: number): number => 1 + Math.floor(random() * most);
  const plan: Plan = {
    keys: new Map([
      ['a', { parallelism: upTo(3) }],
      ['b', { parallelism: upTo(4), rate: upTo(5), periodMs: 1_000 * upTo(4) }],
      ['c', { rate: upTo(6), periodMs: 1_000 }],
    ]),
    queues: new Map([
      ['one', 1],
      ['few', upTo(3)],
    ]),
    accountParallelism: upTo(12),
  };
  const simulation = new Simulation({
    seed,
    deaths: random() < 0.3 ? 0 : 0.02,
    workers: 2 + upTo(14),
    accountParallelism: plan.accountParallelism,
    transitMs: transitOf(random()),
  });
  for (const [name, parallelism] of plan.queues) simulation.makeQueue(name, parallelism);
  const count = 20 + upTo(60);
  const spreadMs = random() < 0.5 ? 200 : 4_000;
  const isFair = random() < 0.5;
  for (let number = 0; number < count; number += 1) {
    const choice = <T>(all: readonly T[]): T | undefined =>
      random() < 0.5 ? undefined : all[Math.floor(random() * all.length)];
    const key = choice([...plan.keys.keys()]);
    const madeAt = simulation.clock.now + Math.floor(random() * spreadMs);
    const message: Sent = {
      id: idOf(number),
      queue: choice([...plan.queues.keys()]),
      key,
      limits: (key !== undefined && plan.keys.get(key)) || {},
      turn: isFair ? { fairKey: choice(tenants), priority: choice(priorities) } : {},
      madeAt: simulation.clock.now,
      lastsMs: upTo(random() < 0.1 ? 3_000 : 60),
      done: false,
    };
    simulation.messages.set(message.id, message);
    simulation.send({ kind: 'attempt', id: message.id }, madeAt - simulation.clock.now);
  }
  return { plan, simulation };
}

describe('a simulation of many workers', () => {
  it(`delivers everything within every limit in ${runs} runs`, async () => {
    const faults = new Tally<SimulatedFault>(simulatedFaults);
    for (const seed of seeds ?? Array.from({ length: runs }, (_, index) => index + 1)) {
      const { plan, simulation } = run(seed);
      await simulation.clock.run();
      faults.add(simulation.faults);
      const { observed, messages, table } = simulation;
      const about = `seed ${seed}`;
      expect(
        [...messages.values()].filter(({ done }) => !done),
        about,
      ).toEqual([]);
      for (const lane of table.lanes.values()) {
        expect(isLineEmpty(lane), `${about}: the line of ${lane.kind} ${lane.name} is empty`).toBe(true);
      }
      expect(mostAtOnce(observed, 'account'), about).toBeLessThanOrEqual(plan.accountParallelism);
      for (const [key, { parallelism = Infinity, rate = Infinity, periodMs = 1_000 }] of plan.keys) {
        expect(mostAtOnce(observed, `key ${key}`), `${about}, key ${key}`).toBeLessThanOrEqual(parallelism);
        // A start is counted before its job passes the delivery queue, so two starts may be this much closer.
        const span = periodMs - Math.min(100, periodMs / 10) - 30;
        expect(mostStarts(observed, `key ${key}`, span), `${about}, key ${key}`).toBeLessThanOrEqual(rate);
      }
      for (const [queue, parallelism] of plan.queues) {
        expect(mostAtOnce(observed, `queue ${queue}`), `${about}, ${queue}`).toBeLessThanOrEqual(parallelism);
      }
    }
    expectFaults(`${runs} simulated crowds of workers`, faults, seeds === undefined);
  });

  it('keeps to a rate and uses it fully if all jobs arrive some periods late', async () => {
    for (let seed = 1; seed <= 4; seed += 1) {
      const simulation = new Simulation({
        seed,
        deaths: 0,
        workers: 50,
        accountParallelism: 1_000,
        transitMs: behindPeriods,
      });
      const limits = { rate: 3, periodMs: 1_000 };
      const startedAt = simulation.clock.now;
      for (let number = 0; number < 60; number += 1) {
        const message = { queue: undefined, key: 'a', limits, madeAt: startedAt, lastsMs: 20, done: false };
        simulation.messages.set(idOf(number), { ...message, id: idOf(number) });
        simulation.send({ kind: 'attempt', id: idOf(number) }, 0);
      }
      await simulation.clock.run();
      const { observed, messages } = simulation;
      expect([...messages.values()].filter(({ done }) => !done)).toEqual([]);
      expect(mostStarts(observed, 'key a', 1_000 - 130)).toBeLessThanOrEqual(3);
      // The rate alone takes 20 s. A late job counts its start again.
      const lastAt = Math.max(...observed.map(({ at }) => at));
      expect(lastAt - startedAt).toBeLessThan(60_000);
    }
  });
});
