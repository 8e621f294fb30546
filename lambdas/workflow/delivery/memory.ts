import { secondMs } from '../../shared/clock.ts';
import { ByteBudget } from './byteBudget.ts';
import { TransientError } from '../../error/transientError.ts';
import { largeWorkBytes } from '../../aws/resources.ts';
import { settings } from '../../aws/settings.ts';

const smallBytes = 1_048_576;

/**
 * How long a job waits for memory. A function of the short queue has 60 s: up to 30 s for the request, and
 * some for recording.
 */
export const memoryTimeoutMs = 10 * secondMs;

export const memory = new ByteBudget(largeWorkBytes(settings.memoryMb), smallBytes);

/** Other jobs use the process's memory, so this job must be retried. */
export class NoMemory extends TransientError {
  override readonly name = 'NoMemory';
}

/**
 * Reserves memory for work, which must not reserve more.
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
