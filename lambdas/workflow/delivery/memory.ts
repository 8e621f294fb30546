import { secondMs } from '../../shared/clock.ts';
import { ByteBudget } from './byteBudget.ts';
import { TransientError } from '../../error/transientError.ts';
import { largeWorkBytes } from '../../aws/resources.ts';
import { settings } from '../../aws/settings.ts';

/** Smaller holds are not counted: a batch has at most ten messages. */
const smallBytes = 1_048_576;

/** A function of the short queue has 60 s: up to 30 s for the message's timeout, the rest for recording. */
export const memoryTimeoutMs = 10 * secondMs;

export const memory = new ByteBudget(largeWorkBytes(settings.memoryMb), smallBytes);

/** Other jobs hold the process's memory, so this job must be retried. */
export class NoMemory extends TransientError {
  override readonly name = 'NoMemory';
}

/** Holds memory during the work, which must not acquire more. @throws NoMemory */
export async function withMemory<T>(bytes: number, work: () => Promise<T>): Promise<T> {
  const hold = await memory.acquire(bytes, memoryTimeoutMs);
  if (hold === undefined) throw new NoMemory(`There was no memory for ${bytes} bytes.`);
  try {
    return await work();
  } finally {
    hold.release();
  }
}
