import { setTimeout } from 'node:timers/promises';
import { secondMs } from '../shared/clock.ts';

/**
 * A deployment adds permissions just before they are needed. IAM takes some seconds to apply them everywhere.
 */
const tries = 10;
const pauseMs = 3 * secondMs;

/** Retries for half a minute while AWS denies access. */
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
