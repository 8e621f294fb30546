/** The memory of this process for large data: the bodies of deliveries of runs, and the results of invokes. */
import { secondMs } from '../../shared/clock.ts';
import { ByteBudget } from './byteBudget.ts';
import { TransientError } from '../../error/transientError.ts';
import { largeWorkBytes } from '../../aws/resources.ts';
import { settings } from '../../aws/settings.ts';

/** Bytes up to which a hold is not counted: a batch has ten messages at most. */
const smallBytes = 1_048_576;

/**
 * A wait for memory ends after this. A function of the short queue has 60 s; a message's timeout takes up to 30 s of them, and its
 * record the rest.
 */
export const memoryTimeoutMs = 10 * secondMs;

export const memory = new ByteBudget(largeWorkBytes(settings.memoryMb), smallBytes);

/** Other jobs held the memory of this process for so long that this job has to come again. */
export class NoMemory extends TransientError {
  override readonly name = 'NoMemory';
}

/**
 * Holds memory while something is done, which must not hold or wait for more itself.
 *
 * @throws NoMemory
 */
export async function withMemory<T>(bytes: number, work: () => Promise<T>): Promise<T> {
  const hold = await memory.acquire(bytes, memoryTimeoutMs);
  if (hold === undefined) throw new NoMemory(`There was no memory for ${bytes} bytes.`);
  try {
    return await work();
  } finally {
    hold.release();
  }
}
