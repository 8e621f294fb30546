/** Whether a process keeps what it has used. */
import type { Measure } from './stageMessages.ts';

/** Under the same traffic the heap may be so much larger in the end: what waits is more or less by chance. */
const mostGrowth = 1.4;
const mostGrowthMb = 20;

/** Sockets of each thread's clients, of the gateway's clients, and files. */
const mostDescriptorsPerThread = 30;
const mostOwnDescriptors = 120;

const median = (numbers: readonly number[]): number =>
  numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0;

/**
 * @param measures of one process under traffic, after collections of garbage
 * @param last when all was done
 */
export function flatness(measures: readonly Measure[], last: Measure): readonly string[] {
  const found: string[] = [];
  const third = Math.floor(measures.length / 3);
  if (third >= 3) {
    // The first third has what is loaded and filled once.
    const before = median(measures.slice(third, 2 * third).map(({ heapMb }) => heapMb));
    const after = median(measures.slice(-third).map(({ heapMb }) => heapMb));
    if (after > before * mostGrowth + mostGrowthMb) {
      found.push(`The heap grew from ${before.toFixed(1)} MB to ${after.toFixed(1)} MB under the same traffic.`);
    }
  }
  const most = mostOwnDescriptors + last.threads * mostDescriptorsPerThread;
  if (last.descriptors > most) {
    found.push(`${last.descriptors} descriptors are open in the end, with ${last.threads} threads: ${most} are expected at most.`);
  }
  return found;
}
