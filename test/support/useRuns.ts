import { failedRunsIn, type FailedRuns } from './failedRuns.ts';
import type { Fixture } from './fixture.ts';
import type { InProcessOptions } from './inProcess.ts';
import { openRunActs, type RunActs } from './runActs.ts';
import { openRunFixture, type RunFixture } from './runFixture.ts';
import { useFixture } from './useFixture.ts';
import { openWaitFixture, type WaitFixture } from './waitFixture.ts';

/** Set before the first test of a file that calls {@link useRuns}, {@link useWaits} or {@link useFailedRuns}. */
export let fixture: Fixture;
export let runFixture: RunFixture;
export let acts: RunActs;
export let waitFixture: WaitFixture;
export let runs: FailedRuns;

/** Opens a fixture for runs. */
export function useRuns(onOpen?: () => Promise<void> | void, options?: InProcessOptions): void {
  useFixture(async (opened) => {
    fixture = opened;
    [runFixture, acts] = await Promise.all([openRunFixture(opened), openRunActs(opened)]);
    await onOpen?.();
  }, options);
}

/** Opens a fixture for runs that wait for events. */
export function useWaits(onOpen?: () => Promise<void> | void): void {
  useFixture(async (opened) => {
    fixture = opened;
    waitFixture = await openWaitFixture(opened);
    await onOpen?.();
  });
}

/** Opens a fixture for failed runs. */
export function useFailedRuns(): void {
  useFixture(async (opened) => {
    fixture = opened;
    runs = await failedRunsIn(opened);
  });
}
