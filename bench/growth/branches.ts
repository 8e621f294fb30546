/** A run with many parallel steps. A branch's cost must not grow with their number. */
import { checkAnswer } from '../answer.ts';
import { batchOf, endpointHeaders, planOf, resultOf } from '../branchSteps.ts';
import type { OnTheWay } from '../cpu.ts';
import { apiEvent, queueEvent } from '../events.ts';
import type { Fixture } from '../fixture.ts';
import { openAccount } from './backlogs.ts';
import { costOf, dropWaiting, withStoppedClock, type Growth, type Uses } from './grow.ts';
import type { CountedUse } from '../meter.ts';
import { isCounted } from '../nowAndThen.ts';

const batchSize = 10;
const runId = 'wfr_branches';

/**
 * Counts a run for each number of branches: its start, plans, results, and deliveries.
 *
 * @param levels up to 4,999
 * @param onFilling called before each run
 */
export async function measureBranches(
  fixture: Fixture,
  levels: readonly number[],
  onFilling: (backlog: string, level: number) => void,
): Promise<readonly Growth[]> {
  const growths: Growth[] = [];
  const backlog = 'branches of one run';
  for (const level of levels) {
    onFilling(backlog, level);
    dropWaiting(fixture);
    const uses = await withStoppedClock(() => countRun(fixture, level));
    growths.push({ backlog, there: level, ...costOf(uses, level), cpuMs: undefined });
  }
  return growths;
}

async function countRun(fixture: Fixture, branches: number): Promise<Uses> {
  const { token } = await openAccount(fixture);
  const uses: Record<OnTheWay, CountedUse[][]> = { publish: [], deliver: [] };
  const { url } = fixture.receiver.inbox((_delivery, response) =>
    response.writeHead(200, endpointHeaders).end(),
  );
  const submit = async (isInit: boolean, bodies: readonly object[]): Promise<void> => {
    const body = Buffer.from(batchOf({ url, runId, isInit }, bodies));
    const event = apiEvent({ token, route: '/v2/batch', pathParameters: {}, body });
    await measure('publish', event);
  };
  const measure = async (handler: OnTheWay, event: object): Promise<void> => {
    const work = async (): Promise<void> => {
      checkAnswer(await fixture[handler].invoke(event));
    };
    uses[handler].push((await fixture.meter.measure(handler, work)).filter(isCounted));
  };
  const deliver = async (count: number): Promise<void> => {
    for (let left = count; left > 0; left -= batchSize) {
      await measure('deliver', queueEvent(await fixture.takeAttempts(Math.min(batchSize, left))));
    }
  };
  const all = Array.from({ length: branches }, (_, index) => index + 1);
  await submit(true, [{ order: 'ord_8f3a91c27d' }]);
  await deliver(1);
  await submit(
    false,
    all.map((stepId) => planOf(stepId, branches)),
  );
  await deliver(branches);
  for (const stepId of all) await submit(false, [resultOf(stepId, branches)]);
  await deliver(branches);
  return uses;
}
