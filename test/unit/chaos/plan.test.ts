import { expect, it } from 'vitest';
import type { AwsCall, Fault, Service } from '../../../local/aws/faultProxy.ts';
import { Chance } from '../../chaos/chance.ts';
import { callFaults, faultPlan } from '../../chaos/faults.ts';
import { flatness } from '../../chaos/flatness.ts';
import { isDoomed, misbehaviours } from '../../chaos/receivers.ts';
import type { Measure } from '../../chaos/stageMessages.ts';
import { neverStruck, struckKinds } from '../../chaos/struck.ts';

const calls = (count: number): readonly AwsCall[] =>
  Array.from({ length: count }, (_, at) => ({
    service: (['dynamodb', 'sqs', 's3'] satisfies Service[])[at % 3] ?? 'sqs',
    operation: at % 2 === 0 ? 'PutItem' : 'SendMessageBatch',
    caller: 'deliver 1',
  }));

const planOf = (seed: number, generation = 1, isStormy = true, count: (what: string) => void = () => {}) =>
  faultPlan({ seed, generation, isStormy: () => isStormy, kill: () => true, count });

function faultsOf(seed: number, generation = 1, isStormy = true): readonly (Fault['kind'] | undefined)[] {
  const plan = planOf(seed, generation, isStormy);
  return calls(30_000).map((call) => {
    const fault = plan.faultOf(call);
    if (fault !== undefined) plan.struck(call, fault);
    return fault?.kind;
  });
}

it('makes the same faults at the same calls with the same seed, and others with another', () => {
  expect(faultsOf(1)).toEqual(faultsOf(1));
  expect(faultsOf(1)).not.toEqual(faultsOf(2));
  expect(faultsOf(1)).not.toEqual(faultsOf(1, 2));
});

it('has every kind of fault at few calls, and none in calm', () => {
  const kinds = faultsOf(7).filter((kind) => kind !== undefined);
  expect(new Set(kinds)).toEqual(new Set(['refuse', 'slow', 'twice', 'reset', 'hang', 'overtaken', 'half']));
  expect(kinds.length).toBeLessThan(1_500);
  expect(faultsOf(7, 1, false).filter((kind) => kind !== undefined)).toEqual([]);
});

it('requires each kind until it has taken effect, and reports it by service and kind', () => {
  const planned = (isTold: boolean) => {
    const counts = new Map<string, number>();
    const plan = planOf(7, 1, true, (what) => counts.set(what, (counts.get(what) ?? 0) + 1));
    // Each kind of fault fits one of these calls. All kinds take effect within few calls.
    const faults = calls(2_000).flatMap((call) => {
      const fault = plan.faultOf(call);
      if (fault !== undefined && isTold) plan.struck(call, fault);
      return fault ?? [];
    });
    return { faults, counts };
  };
  const { faults, counts } = planned(true);
  const kinds = new Set([...counts.keys()].map((what) => what.split(' ')[1]));
  expect(kinds).toEqual(new Set(callFaults.filter((kind) => kind !== 'away')));
  expect([...counts.values()].reduce((sum, one) => sum + one, 0)).toBe(faults.length);
  expect(planned(false).faults.length).toBeGreaterThan(2 * faults.length);
});

it('finds a kind of fault that never took effect', () => {
  const all = {
    ofStage: Object.fromEntries<number>([
      ...callFaults.map((kind) => [`sqs ${kind}`, 1] as const),
      ['function: killed', 2],
      ['function: invoked twice', 3],
    ]),
    ofDestinations: new Map(misbehaviours.map((kind) => [kind, 1])),
    ofEndpoint: 1,
    restarts: 1,
    powerLosses: 1,
    jumps: 1,
    refused: 1,
    branches: 1,
  };
  expect(neverStruck(all)).toEqual([]);
  expect(neverStruck({ ...all, powerLosses: 0 })).toEqual([
    'No fault of the kind "stage: power lost" has struck.',
  ]);
  // Without a compiler, writes cannot be watched.
  expect(neverStruck({ ...all, powerLosses: undefined })).toEqual([]);
  expect(neverStruck({ ...all, ofStage: { ...all.ofStage, 'sqs half': 0 } })).toEqual([
    'No fault of the kind "call: half" has struck.',
  ]);
  expect(
    neverStruck({
      ofStage: {},
      ofDestinations: new Map(),
      ofEndpoint: 0,
      restarts: 0,
      powerLosses: 0,
      jumps: 0,
      refused: 0,
      branches: 0,
    }),
  ).toHaveLength(struckKinds(all).size);
});

it('makes each decision independently of earlier ones in other streams', () => {
  const first = new Chance(3, 'client 1 act 4').from(0, 1e9);
  new Chance(3, 'client 1 act 3').from(0, 1e9);
  expect(new Chance(3, 'client 1 act 4').from(0, 1e9)).toBe(first);
});

it('has a few messages whose destination always fails', () => {
  const doomed = Array.from({ length: 1_000 }, (_, number) => isDoomed(1, number)).filter(Boolean).length;
  expect(doomed).toBeGreaterThan(30);
  expect(doomed).toBeLessThan(150);
});

const measure = (heapMb: number, descriptors: number): Measure => ({
  heapMb,
  descriptors,
  rssMb: 500,
  outsideMb: 200,
  connections: 300,
  threadConnections: 60,
  threads: 10,
  threadHeapMb: 20,
});
const series = (of: (at: number) => Measure): readonly Measure[] =>
  Array.from({ length: 30 }, (_, at) => of(at));

it('finds a heap and descriptors that grow under the same traffic, and accepts steady ones', () => {
  const quiet = measure(30, 200);
  expect(
    flatness(
      series(() => quiet),
      quiet,
    ),
  ).toEqual([]);
  expect(
    flatness(
      series((at) => measure(30 + 5 * at, 200)),
      quiet,
    ),
  ).toHaveLength(1);
  expect(
    flatness(
      series((at) => measure(30, 100 + 100 * at)),
      quiet,
    ),
  ).toHaveLength(1);
});

it('finds what is left at the end', () => {
  expect(flatness([], measure(30, 5_000))).toHaveLength(1);
  expect(flatness([], { ...measure(30, 100), threadHeapMb: 400 })).toHaveLength(1);
  expect(flatness([], { ...measure(30, 100), outsideMb: 2_000 })).toHaveLength(1);
  expect(flatness([], { ...measure(30, 100), threadConnections: 501 })).toHaveLength(1);
});
