import { afterAll, beforeAll, describe, expect } from 'vitest';
import { itAtEachDeath } from '../../../support/faults.ts';
import { failedRunsIn, type FailedRuns } from '../../../support/failedRuns.ts';
import { startFleet, type Fleet } from '../../../support/fleet.ts';
import type { Inbox } from '../../../support/receiver.ts';
import { openRunActs, type RunActs } from '../../../support/runActs.ts';
import { useFixture } from '../../../support/useFixture.ts';
import { configOf, requestOf, type Fixture } from '../../../support/fixture.ts';

/**
 * Kills the process at each AWS call of a start, which is repeated or not. A recorded run is listed and delivered once, and an
 * unrecorded one is nowhere. A fleet of other processes makes the deliveries.
 */

let fixture: Fixture;
let acts: RunActs;
let runs: FailedRuns;
let fleet: Fleet;
let services: Awaited<ReturnType<typeof importServices>>;
async function importServices() {
  const [{ trigger, triggerBatch }, { publishRequests }, { resumeRun, restartRun }] = await Promise.all([
    import('../../../../lambdas/workflow/steps/trigger.ts'),
    import('../../../../lambdas/workflow/steps/publishParts.ts'),
    import('../../../../lambdas/workflow/resume.ts'),
  ]);
  return { trigger, triggerBatch, publishRequests, resumeRun, restartRun };
}
useFixture(async (opened) => {
  fixture = opened;
  [acts, runs, services] = await Promise.all([openRunActs(fixture), failedRunsIn(fixture), importServices()]);
});
beforeAll(async () => {
  fleet = await startFleet(fixture.standIns);
});
afterAll(() => fleet.close());

const minuteMs = 60_000;
/** Long enough for the check, for its jobs, and for a second read of a row. */
const afterwardsMs = 3 * minuteMs;

const openEndpoint = (): Inbox =>
  fixture.receiver.inbox((_delivery, response) =>
    response.writeHead(200, { 'Upstash-Workflow-Sdk-Version': '1', 'Upstash-Workflow-Sdk': 'v1.3.3' }).end(),
  );

const runIdIn = ({ headers }: Inbox['deliveries'][number]): string | undefined => {
  const id = headers['upstash-workflow-runid'] ?? headers['svc-workflow-runid'];
  return typeof id === 'string' ? id : undefined;
};

/** A way to start runs, with a separate endpoint. */
interface Way {
  readonly inbox: Inbox;
  readonly start: () => Promise<unknown>;
  readonly runIds: readonly string[];
}

async function expectStartedOnce({ inbox, runIds }: Way): Promise<readonly string[]> {
  const recorded: string[] = [];
  for (const runId of runIds) {
    const isRecorded = (await acts.records(runId)).length > 0;
    if (isRecorded) recorded.push(runId);
    expect(await acts.listed(runId), runId).toEqual(isRecorded ? ['RUN_STARTED'] : []);
  }
  const delivered = inbox.deliveries.map((delivery) => runIdIn(delivery) ?? '');
  expect(delivered.toSorted()).toEqual(recorded.toSorted());
  return recorded;
}

let number = 0;
const newRunId = (): string => {
  number += 1;
  return `wfr_dies_${number}`;
};

interface DyingOptions {
  readonly waitsMs?: number;
  /** An ordinary run tries one of this many deaths. */
  readonly every?: number;
}

function diesAtEachCall(open: () => Way, { waitsMs = afterwardsMs, every = 1 }: DyingOptions = {}): void {
  itAtEachDeath(
    'finishes what is recorded wherever its process dies',
    async (fate) => {
      const way = open();
      await fixture.underFate(fate, way.start);
      await fleet.advance(waitsMs);
      const recorded = await expectStartedOnce(way);
      if (fate.comesAt === undefined) expect(recorded).not.toEqual([]);
    },
    { every: { ordinary: every, thorough: 1 } },
  );

  itAtEachDeath(
    'is made once where its process dies and it is sent again',
    async (fate) => {
      const way = open();
      await fixture.underFate(fate, way.start);
      await way.start();
      await fleet.advance(waitsMs);
      expect(await expectStartedOnce(way)).not.toEqual([]);
    },
    { every: { ordinary: every + 2, thorough: 1 } },
  );
}

const started = (runId: string, more: Readonly<Record<string, string>> = {}) => ({
  'workflow-init': 'true',
  'workflow-runid': runId,
  'workflow-sdk-version': '1',
  'feature-set': 'LazyFetch,InitialBody,WF_TriggerOnConfig',
  'forward-upstash-workflow-sdk-version': '1',
  ...more,
});

describe('a run that a client starts', () => {
  const open = (config: Readonly<Record<string, string>> = {}): Way => {
    const inbox = openEndpoint();
    const runId = newRunId();
    const request = { ...requestOf(inbox.url, started(runId, config)), prefix: 'Upstash' };
    return {
      inbox,
      start: () => services.publishRequests(fixture.account, [request]),
      runIds: [runId],
    };
  };
  diesAtEachCall(() => open());
});

describe('a batch of triggers without a client', () => {
  diesAtEachCall(
    () => {
      const inbox = openEndpoint();
      const ids = [newRunId(), newRunId()];
      const items = ids.map((id) => ({ destination: inbox.url, headers: { 'Upstash-Workflow-RunId': id } }));
      const body = Buffer.from(JSON.stringify(items));
      const request = { body, prefix: 'Upstash', callerIp: '127.0.0.1', host: 'api.example.com' };
      return { inbox, start: () => services.triggerBatch(fixture.account, request), runIds: ids };
    },
    { every: 5 },
  );
});

describe.each(['resumeRun', 'restartRun'] as const)('%s', (way) => {
  /** The client cannot choose a resumed run’s id, so the list is read. */
  const open = async () => {
    let isWell = false;
    const inbox = fixture.receiver.inbox((_delivery, response) =>
      response.writeHead(isWell ? 200 : 489).end(),
    );
    const { runId } = await runs.fail(inbox.url, { steps: way === 'resumeRun' ? [{ plans: [1, 2] }] : [] });
    await fleet.advance(minuteMs);
    const [deadLetter] = await runs.deadLettersOf(inbox.url, [['workflowRunId', runId]]);
    if (deadLetter === undefined) throw new Error('The run has not failed.');
    isWell = true;
    const seen = inbox.deliveries.length;
    const { dlqId } = deadLetter;
    const request = { prefix: 'Upstash', config: configOf({}), host: 'api.example.com' };
    return { inbox, seen, dlqId, failed: runId, start: () => services[way](fixture.account, dlqId, request) };
  };
  /** A resumed run first delivers both branches of the failed group, or the payload. */
  const first = way === 'resumeRun' ? 2 : 1;

  itAtEachDeath(
    'goes on once with what the dead letter chose when its process dies at any of its AWS calls, and asks nobody',
    async (fate) => {
      const { inbox, seen, dlqId, failed, start } = await open();
      await fixture.underFate(fate, start);
      await fleet.advance(afterwardsMs);
      const isLeft = await runs.isThere(dlqId);
      const delivered = inbox.deliveries.slice(seen).map((delivery) => runIdIn(delivery) ?? '');
      expect(delivered).toHaveLength(isLeft ? 0 : first);
      expect(delivered).not.toContain(failed);
      for (const runId of new Set(delivered)) expect(await acts.listed(runId)).toEqual(['RUN_STARTED']);
      // The remaining dead letters can be requested again.
      if (isLeft) await start();
      await fleet.advance(afterwardsMs);
      expect(inbox.deliveries.slice(seen)).toHaveLength(first);
      expect(await runs.isThere(dlqId)).toBe(false);
    },
  );
});
