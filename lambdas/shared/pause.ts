/** Waits of a process between two calls of AWS. A test that moves the clock by itself puts jumps of the clock in their place. */
import { setTimeout } from 'node:timers/promises';
import { now } from './clock.ts';

/** Waits so many milliseconds. */
export const pause = (ms: number): Promise<void> => setTimeout(ms);

/**
 * Waits until the clock has come to a moment, Unix milliseconds. A timer may end a moment before the clock says so, and then
 * waits for the rest.
 */
export async function waitUntil(dueAt: number): Promise<void> {
  for (let leftMs = dueAt - now(); leftMs > 0; leftMs = dueAt - now()) await pause(leftMs);
}
