/** Pauses between AWS calls. Tests with a fake clock replace them. */
import { setTimeout } from 'node:timers/promises';
import { now } from './clock.ts';

export const pause = (ms: number): Promise<void> => setTimeout(ms);

/** Waits until a time. A timer may end slightly early, so it waits for the rest. */
export async function waitUntil(dueAt: number): Promise<void> {
  for (let leftMs = dueAt - now(); leftMs > 0; leftMs = dueAt - now()) await pause(leftMs);
}
