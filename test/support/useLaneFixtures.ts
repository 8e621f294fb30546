import { afterEach } from 'vitest';
import { importLaneLambdas, LaneFixture, type LaneLambdas } from './laneFixture.ts';
import { useFixture } from './useFixture.ts';
import type { Fixture } from './fixture.ts';

/**
 * Opens a fixture for a file's tests. Lane fixtures in it have separate accounts, and close after their test, or when the next
 * one opens.
 *
 * @param onOpen gets the fixture, and the services that lane fixtures call, before the first test
 * @returns a function that opens a lane fixture
 */
export function useLaneFixtures(
  onOpen: (fixture: Fixture, lambdas: LaneLambdas) => void,
): (limits?: Readonly<Record<string, number>>) => Promise<LaneFixture> {
  let parts: { readonly fixture: Fixture; readonly lambdas: LaneLambdas } | undefined;
  useFixture(async (fixture) => {
    parts = { fixture, lambdas: await importLaneLambdas() };
    onOpen(parts.fixture, parts.lambdas);
  });
  let laneFixture: LaneFixture | undefined;
  afterEach(async () => {
    await laneFixture?.close();
    laneFixture = undefined;
  });
  let opened = 0;
  return async (limits) => {
    if (parts === undefined) throw new Error('The fixture is not open yet.');
    await laneFixture?.close();
    opened += 1;
    laneFixture = await LaneFixture.open(parts.fixture, parts.lambdas, `account-${opened}`, limits);
    return laneFixture;
  };
}
