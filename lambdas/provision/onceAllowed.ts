import { setTimeout } from 'node:timers/promises';
import { secondMs } from '../shared/clock.ts';

/** A deployment gives a right a moment before the right is needed, and IAM takes some seconds until AWS knows it everywhere. */
const tries = 10;
const pauseMs = 3 * secondMs;

/** Tries what AWS denies again for half a minute. */
export async function onceAllowed<T>(act: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await act();
    } catch (error) {
      const isDenied = error instanceof Error && /^AccessDenied/.test(error.name);
      if (!isDenied || attempt === tries) throw error;
      await setTimeout(pauseMs);
    }
  }
}
