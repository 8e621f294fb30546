/**
 * Runs before each file of tests. Files follow each other in one process, in which Node.js, the SDK and other packages are warm;
 * but each file has its own modules of the project, as in a process of its own.
 */
import { afterAll, vi } from 'vitest';

vi.resetModules();
const environment = { ...process.env };

// Hooks of the end run in reverse order: this one comes after the file's own.
afterAll(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  for (const name of Object.keys(process.env)) {
    if (!(name in environment)) Reflect.deleteProperty(process.env, name);
  }
  Object.assign(process.env, environment);
});
