/**
 * Runs before each test file. Files of a process share warm packages such as the SDK, and the project's modules until a file
 * changes the environment, which modules read when they are imported.
 */
import { isDeepStrictEqual } from 'node:util';
import { afterAll, vi } from 'vitest';

declare global {
  /** Whether an earlier file of this process changed what the project's modules have read. */
  var isEnvironmentOld: boolean | undefined;
}

if (globalThis.isEnvironmentOld ?? false) vi.resetModules();
globalThis.isEnvironmentOld = false;
const environment = { ...process.env };
const { now } = Date;

// Hooks run in reverse order at the end, so this one comes after the file's own.
afterAll(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  // A spy on a simulated clock brings that clock back when it is restored after it.
  Date.now = now;
  globalThis.isEnvironmentOld = !isDeepStrictEqual({ ...process.env }, environment);
  for (const name of Object.keys(process.env)) {
    if (!(name in environment)) Reflect.deleteProperty(process.env, name);
  }
  Object.assign(process.env, environment);
});
