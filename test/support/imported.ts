import { beforeAll } from 'vitest';

/**
 * Imports modules of `lambdas/` before the first test. Call it after the fixture's own hook, because the modules read the
 * environment that the fixture sets.
 */
export function imported<T extends object>(load: () => Promise<T>): T {
  let modules: T | undefined;
  beforeAll(async () => {
    modules = await load();
  });
  return new Proxy<T>(Object.create(null) as T, {
    get: (_, name): unknown => Reflect.get(modules ?? {}, name),
  });
}
