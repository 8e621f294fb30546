/**
 * Runs before each test file. Files of a process share warm packages such as the SDK, but each has separate modules of the
 * project.
 */
import { afterAll, vi } from 'vitest';

vi.resetModules();
const environment = { ...process.env };

// Hooks run in reverse order at the end, so this one comes after the file's own.
afterAll(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  for (const name of Object.keys(process.env)) {
    if (!(name in environment)) Reflect.deleteProperty(process.env, name);
  }
  Object.assign(process.env, environment);
});
