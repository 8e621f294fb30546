import { afterAll, afterEach, beforeAll, beforeEach, vi } from 'vitest';
import { openWorld, type World } from './world.ts';

/**
 * Opens a world around a file's tests. Before each test no call is counted and no process dies; after each, spies are gone and
 * the clock is right.
 *
 * @param onOpen gets the world before the first test. What it imports of `lambdas/` must not be imported before
 */
export function useWorld(onOpen: (world: World) => Promise<void>): void {
  let world: World | undefined;
  beforeAll(async () => {
    world = await openWorld();
    await onOpen(world);
  });
  beforeEach(() => {
    world?.reset();
  });
  afterEach(() => {
    vi.restoreAllMocks();
  });
  afterAll(() => world?.close());
}
