/** Checks that a process does not leak resources. */
import { maxSockets } from '../../lambdas/aws/clientOptions.ts';
import { services } from './faultProxy.ts';
import type { Measure } from './stageMessages.ts';

/**
 * How much larger a figure may be in the last third of a run than in the second: a factor and an addition. The first third
 * loads and fills things.
 */
const bounds = {
  heapMb: { factor: 1.3, more: 15, what: 'MB of heap' },
  outsideMb: { factor: 1.3, more: 150, what: 'MB of memory in no heap' },
  descriptors: { factor: 1.5, more: 100, what: 'descriptors' },
} as const satisfies Partial<Record<keyof Measure, object>>;

/** A function's modules, and its caches of accounts and lanes. */
const mostThreadHeapMb = 90;

/**
 * A function's connections to AWS: each of its clients, one per service, keeps up to 100 (`maxSockets`) for an hour. Leaked
 * clients exceed this.
 */
const mostThreadConnections = services.length * maxSockets;

/**
 * Descriptors apart from connections within the process. A thread: its event loop's (2 for polling, 2 pipes, 1 file), and
 * connections to destinations, kept for ten seconds. The process: clients' connections to the gateway, and some files.
 */
const mostDescriptorsPerThread = 10;
const mostOwnDescriptors = 150;

/**
 * Megabytes outside heaps. A thread: stack, buffers and compiled code (10). The process: its code (75), and memory that
 * `malloc` keeps from bursts.
 */
const mostOutsidePerThreadMb = 12;
const mostOwnOutsideMb = 400;

const median = (numbers: readonly number[]): number =>
  numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0;

/**
 * @param measures of one process under traffic, after garbage collections
 * @param last when all was done
 * @returns the leaks, as sentences
 */
export function flatness(measures: readonly Measure[], last: Measure): readonly string[] {
  return [...growth(measures), ...remains(last)];
}

function growth(measures: readonly Measure[]): readonly string[] {
  const third = Math.floor(measures.length / 3);
  // Less than half a minute is too short for a comparison.
  if (third < 5) return [];
  return (['heapMb', 'outsideMb', 'descriptors'] as const).flatMap((name) => {
    const { factor, more, what } = bounds[name];
    const before = median(measures.slice(third, 2 * third).map((measure) => measure[name]));
    const after = median(measures.slice(-third).map((measure) => measure[name]));
    return after > before * factor + more
      ? [`The stage went from ${before.toFixed(1)} to ${after.toFixed(1)} ${what} under the same traffic.`]
      : [];
  });
}

function remains(last: Measure): readonly string[] {
  const { threads } = last;
  const most = {
    descriptors: mostOwnDescriptors + threads * mostDescriptorsPerThread,
    outsideMb: mostOwnOutsideMb + threads * mostOutsidePerThreadMb,
    threadConnections: mostThreadConnections,
    threadHeapMb: mostThreadHeapMb,
  };
  const words: Readonly<Record<keyof typeof most, string>> = {
    descriptors: `descriptors besides connections within the stage are open, with ${threads} functions`,
    outsideMb: `MB of memory are in no heap, with ${threads} functions`,
    threadConnections: 'connections to AWS are one function’s',
    threadHeapMb: 'MB of heap are one function’s',
  };
  return (['descriptors', 'outsideMb', 'threadConnections', 'threadHeapMb'] as const)
    .filter((name) => last[name] > most[name])
    .map((name) => `In the end ${last[name].toFixed(0)} ${words[name]}; at most ${most[name]} may be.`);
}
