/** Whether a process keeps what it has used. */
import { maxSockets } from '../../lambdas/aws/clientOptions.ts';
import { services } from '../../local/aws/faultProxy.ts';
import type { Measure } from './stageMessages.ts';

/**
 * The factor and the addition by which a figure may be larger in the last third of a run than in the second, under the same
 * traffic: what waits, and how many connections a burst of calls has opened, is more or less by chance. The first third has
 * what is loaded and filled once.
 */
const bounds = {
  heapMb: { factor: 1.3, more: 15, what: 'MB of heap' },
  outsideMb: { factor: 1.3, more: 150, what: 'MB of memory in no heap' },
  descriptors: { factor: 1.5, more: 100, what: 'descriptors' },
} as const satisfies Partial<Record<keyof Measure, object>>;

/** A function's modules, and what it remembers of accounts and lanes. */
const mostThreadHeapMb = 90;

/**
 * Connections of a function to AWS. Each of its clients, of which there is one for a service, has up to 100 (`maxSockets`), and
 * keeps them for as long as the service does, which is an hour here: how many of them a burst of calls has opened is chance. A
 * function that makes a client for each invocation comes above this.
 */
const mostThreadConnections = services.length * maxSockets;

/**
 * Descriptors besides those of connections within the process: of a thread its loop's (2 of polling, 2 pipes and 1 of a file), and
 * connections to destinations, which are kept for ten seconds; of the process the connections of clients to the gateway, and some files.
 */
const mostDescriptorsPerThread = 10;
const mostOwnDescriptors = 150;

/**
 * Megabytes in no heap: of a thread its stack, its buffers and what it has compiled (10), of the process its code (75), and what
 * `malloc` keeps of the storm's bursts for later.
 */
const mostOutsidePerThreadMb = 12;
const mostOwnOutsideMb = 400;

const median = (numbers: readonly number[]): number =>
  numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0;

/**
 * @param measures of one process under traffic, after collections of garbage
 * @param last when all was done
 * @returns what is not flat, a sentence each
 */
export function flatness(measures: readonly Measure[], last: Measure): readonly string[] {
  return [...growth(measures), ...remains(last)];
}

function growth(measures: readonly Measure[]): readonly string[] {
  const third = Math.floor(measures.length / 3);
  // In half a minute there is nothing to compare.
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
