import { setTimeout } from 'node:timers/promises';
import { now } from '../../shared/clock.ts';

/**
 * Waits until the clock has come to a moment, Unix milliseconds. A timer may end a moment before the clock says so, and then
 * waits for the rest.
 */
export async function waitUntil(dueAt: number): Promise<void> {
  for (let leftMs = dueAt - now(); leftMs > 0; leftMs = dueAt - now()) await setTimeout(leftMs);
}
