/** A run with many parallel steps. A branch's cost must not grow with their number. */
import { batchOf, endpointHeaders, planOf, resultOf } from '../branchSteps.ts';
import { apiEvent, queueEvent } from '../events.ts';
import type { Fixture } from '../fixture.ts';
import { openAccount } from './backlogs.ts';
import { costOf, type Growth, type OnFilling } from './grow.ts';

const batchSize = 10;
const runId = 'wfr_branches';

/**
 * Counts a run for each number of branches: its start, plans, results, and deliveries.
 *
 * @param levels up to 4,999
 */
export async function measureBranches(
  fixture: Fixture,
  levels: readonly number[],
  onFilling: OnFilling,
): Promise<readonly Growth[]> {
  const growths: Growth[] = [];
  const backlog = 'branches of one run';
  for (const level of levels) {
    onFilling(backlog, level);
    fixture.purge();
    growths.push({ backlog, there: level, ...(await costOfRun(fixture, level)) });
  }
  return growths;
}

async function costOfRun(fixture: Fixture, branches: number) {
  const { token } = await openAccount(fixture);
  const { url } = fixture.receiver.inbox((_delivery, response) =>
    response.writeHead(200, endpointHeaders).end(),
  );
  const eventOf = (isInit: boolean, bodies: readonly object[]): object => {
    const body = Buffer.from(batchOf({ url, runId, isInit }, bodies));
    return apiEvent({ token, route: '/v2/batch', pathParameters: {}, body });
  };
  const all = Array.from({ length: branches }, (_, index) => index + 1);
  return costOf(fixture, branches, async (invoke) => {
    const deliver = async (count: number): Promise<void> => {
      for (let left = count; left > 0; left -= batchSize)
        await invoke('deliver', queueEvent(await fixture.takeAttempts(Math.min(batchSize, left))));
    };
    await invoke('publish', eventOf(true, [{ order: 'ord_8f3a91c27d' }]));
    await deliver(1);
    const plans = all.map((stepId) => planOf(stepId, branches));
    await invoke('publish', eventOf(false, plans));
    await deliver(branches);
    for (const stepId of all) await invoke('publish', eventOf(false, [resultOf(stepId, branches)]));
    await deliver(branches);
  });
}
