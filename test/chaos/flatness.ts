/** Whether a process keeps what it has used. */
import type { Measure } from './stageMessages.ts';

/**
 * The factor and the addition by which a figure may be larger in the last third of a run than in the second, under the same
 * traffic: what waits, and how many connections a burst of calls has opened, is more or less by chance. The first third has
 * what is loaded and filled once.
 */
const bounds = {
  heapMb: { factor: 1.3, more: 15, what: 'MB of heap' },
  descriptors: { factor: 1.5, more: 100, what: 'descriptors' },
} as const satisfies Partial<Record<keyof Measure, object>>;

/** A function's modules, and what it remembers of accounts and lanes. */
const mostThreadHeapMb = 90;

/** In the end nothing is under way: sockets of each function's clients are kept, at both of their ends, and there are some files. */
const mostDescriptorsPerThread = 40;
const mostOwnDescriptors = 150;

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
  return (['heapMb', 'descriptors'] as const).flatMap((name) => {
    const { factor, more, what } = bounds[name];
    const before = median(measures.slice(third, 2 * third).map((measure) => measure[name]));
    const after = median(measures.slice(-third).map((measure) => measure[name]));
    return after > before * factor + more
      ? [`The stage went from ${before.toFixed(1)} to ${after.toFixed(1)} ${what} under the same traffic.`]
      : [];
  });
}

function remains({ descriptors, threads, threadHeapMb }: Measure): readonly string[] {
  const found: string[] = [];
  const most = mostOwnDescriptors + threads * mostDescriptorsPerThread;
  if (descriptors > most) {
    found.push(
      `${descriptors} descriptors are open in the end, with ${threads} functions; at most ${most} may be.`,
    );
  }
  if (threadHeapMb > mostThreadHeapMb) {
    found.push(
      `A function keeps ${threadHeapMb.toFixed(1)} MB in the end; at most ${mostThreadHeapMb} MB may be.`,
    );
  }
  return found;
}
