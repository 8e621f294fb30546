import { log } from './log.ts';

/**
 * Waits for a result that is not essential, and logs a failure.
 *
 * @returns undefined after a failure
 */
export async function logAndContinue<T>(wanted: Promise<T>): Promise<T | undefined> {
  try {
    return await wanted;
  } catch (error) {
    log.error('Something could not be read or noted; the work continues without it', {
      error: error instanceof Error ? error : String(error),
    });
    return undefined;
  }
}
