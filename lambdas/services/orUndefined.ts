import { log } from '../transport/log.ts';

/** What can be done without when it cannot be had: its failure is in the log, and it is undefined. */
export async function orUndefined<T>(wanted: Promise<T>): Promise<T | undefined> {
  try {
    return await wanted;
  } catch (error) {
    log.error('Something could not be read, and is done without', {
      error: error instanceof Error ? error : String(error),
    });
    return undefined;
  }
}
