import { afterAll, afterEach, beforeAll, beforeEach, vi } from 'vitest';
import type { InProcessOptions } from './inProcess.ts';
import { openFixture, type Fixture } from './fixture.ts';

/**
 * Opens a fixture for a file's tests. Before each test the queues are empty, the counts are 0 and no process dies; after each,
 * spies are removed and the clock is restored.
 *
 * @param onOpen gets the fixture before the first test. The modules of `lambdas/` that it imports must not have been imported
 * before
 */
export function useFixture(
  onOpen: (fixture: Fixture) => Promise<void> | void,
  options?: InProcessOptions,
): void {
  let fixture: Fixture | undefined;
  beforeAll(async () => {
    fixture = await openFixture(options);
    await onOpen(fixture);
  });
  beforeEach(() => fixture?.startTest());
  afterEach(() => {
    vi.restoreAllMocks();
  });
  afterAll(() => fixture?.close());
}
