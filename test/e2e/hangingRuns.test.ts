import { beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { api, ok, unique } from '../support/api.ts';
import { checkAnswer } from '../support/contract.ts';
import { eventually } from '../support/eventually.ts';
import { logOfRaw, returnRaw, runIdOf, startRaw, submitRaw, waitRaw } from '../support/rawRuns.ts';
import type { Answer } from '../support/publish.ts';
import type { Delivery } from '../support/receiver.ts';
import { clockStage } from '../support/clockStage.ts';
import type { Stage } from '../support/stage.ts';
import { useReceiver } from '../support/useReceiver.ts';

/** Runs hang if their endpoints answer without submitting anything. */

const receiver = useReceiver();

/** A stage whose clock is set forward, because a run hangs only after a minute. */
let stage: Stage;
beforeAll(async () => {
  stage = await clockStage();
});

const minuteMs = 60_000;

const attention = z.object({
  hangingRuns: z.array(
    z.object({ workflowRunId: z.string(), workflowUrl: z.string(), since: z.number(), status: z.number() }),
  ),
  isWhole: z.boolean(),
});

async function hangingNow() {
  const answer = await api('GET', '/v2/stats/attention', { url: stage.url, token: stage.token });
  checkAnswer('GET /v2/stats/attention', answer);
  return attention.parse(answer.json).hangingRuns;
}

const endpoint = (act: (delivery: Delivery, before: number) => Promise<unknown>) =>
  receiver.inbox((delivery, response, before) => {
    void act(delivery, before).then(
      () => response.writeHead(200).end(),
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  });

const nothing = (): Promise<void> => Promise.resolve();

/** Waits until the log has this number of requests, which are in the order of their ends. */
const requested = (run: { readonly runId: string }, count: number) =>
  eventually(
    () => logOfRaw(stage, run),
    ({ requests = [] }) => requests.length === count,
  );

const one = { stepId: 1, stepName: 'reserve' };

async function hang(next: (runId: string, before: number) => Promise<unknown> = nothing) {
  const inbox = endpoint(async (delivery, before) => {
    const run = { runId: runIdOf(delivery), url: inbox.url };
    if (before === 0) await ok(submitRaw(stage, run, [one]));
    if (before > 1) await next(run.runId, before);
  });
  const run = await startRaw(stage, inbox);
  await inbox.received(2);
  await requested(run, 2);
  await stage.advance(minuteMs);
  return { inbox, run };
}

describe('a run whose endpoint answers 200 without submitting anything', () => {
  it('is shown with the time and the answer, after a minute without a submission', async () => {
    const inbox = endpoint((delivery, before) =>
      before === 0
        ? ok(submitRaw(stage, { runId: runIdOf(delivery), url: inbox.url }, [one]))
        : requested({ runId: runIdOf(delivery) }, before),
    );
    const run = await startRaw(stage, inbox);
    await inbox.received(2);
    const before = await requested(run, 2);
    expect([before.hanging, await hangingNow()]).toEqual([undefined, []]);
    await stage.advance(minuteMs);
    const log = await logOfRaw(stage, run);
    expect(log.requests).toMatchObject([
      { status: 200, retried: 0, submitted: ['reserve'] },
      { status: 200, retried: 0, submitted: [] },
    ]);
    const [, last] = log.requests ?? [];
    expect(log.hanging).toMatchObject({
      since: last?.['endedAt'],
      messageId: last?.['messageId'],
      requestedAt: last?.['startedAt'],
      status: 200,
    });
    expect(await hangingNow()).toEqual([
      expect.objectContaining({
        workflowRunId: run.runId,
        workflowUrl: run.url,
        since: log.hanging?.since,
        status: 200,
      }),
    ]);
    // A late submission continues the run.
    await ok(submitRaw(stage, run, [{ stepId: 2, stepName: 'charge' }]));
    await inbox.received(3);
    expect((await logOfRaw(stage, run)).hanging).toBeUndefined();
    await ok(api('DELETE', `/v2/workflows/runs/${run.runId}`, { url: stage.url, token: stage.token }));
    await stage.advance(minuteMs);
    expect(await hangingNow()).toEqual([]);
  });

  it('shows its last refusal if its endpoint may not submit', async () => {
    let refused: Answer | undefined;
    const inbox = endpoint(async (delivery) => {
      const run = { runId: runIdOf(delivery), url: inbox.url };
      refused = await submitRaw({ url: stage.url, token: stage.readOnlyToken }, run, [one]);
    });
    const run = await startRaw(stage, inbox);
    await requested(run, 1);
    expect(refused?.status).toBe(403);
    await stage.advance(minuteMs);
    const refusal = {
      code: 'token_read_only',
      message: z.object({ error: z.string() }).parse(refused?.json).error,
      time: expect.any(Number) as number,
    };
    expect(await logOfRaw(stage, run)).toMatchObject({
      hanging: { status: 200, refusal },
      requests: [{ submitted: [], refusal }],
    });
    await ok(api('DELETE', `/v2/workflows/runs/${run.runId}`, { url: stage.url, token: stage.token }));
  });

  it('is resumed with its steps: one new run replaces it, however often that is requested', async () => {
    const { inbox, run } = await hang((runId, before) =>
      before === 2
        ? ok(submitRaw(stage, { runId, url: inbox.url }, [{ stepId: 2, stepName: 'charge' }]))
        : requested({ runId }, 1).then(() => ok(returnRaw(stage, { runId }))),
    );
    const resume = () =>
      api('POST', `/v2/workflows/runs/${run.runId}/resume`, { url: stage.url, token: stage.token });
    const first = await resume();
    checkAnswer('POST /v2/workflows/runs/{runId}/resume', first);
    expect(first.status).toBe(200);
    expect((await resume()).json).toEqual(first.json);
    const { workflowRunId: runId } = z.object({ workflowRunId: z.string() }).parse(first.json);
    const fresh = await eventually(
      () => logOfRaw(stage, { runId }),
      ({ workflowState, requests = [] }) => workflowState === 'RUN_SUCCESS' && requests.length === 2,
    );
    expect(fresh.resumedFrom).toEqual({ workflowRunId: run.runId, workflowRunCreatedAt: run.createdAt });
    expect(fresh.steps.flatMap(({ steps }) => steps)).toMatchObject([
      { stepName: 'init' },
      { stepName: 'reserve', kept: true },
      { stepName: 'charge' },
    ]);
    expect(fresh.steps.flatMap(({ steps }) => steps.map(({ kept }) => kept))).toEqual([
      undefined,
      true,
      undefined,
    ]);
    expect(fresh.requests).toMatchObject([{ submitted: ['charge'] }, { submitted: [], returned: true }]);
    const old = await logOfRaw(stage, run);
    expect([old.workflowState, old.resumedAs?.workflowRunId]).toEqual(['RUN_CANCELED', runId]);
    expect(inbox.deliveries.filter((delivery) => runIdOf(delivery) === runId)).not.toHaveLength(0);
  });

  it('is restarted once from its payload, even for simultaneous requests', async () => {
    const { run, inbox } = await hang();
    const path = `/v2/workflows/runs/${run.runId}/restart`;
    const answers = await Promise.all(
      [1, 2, 3].map(() => api('POST', path, { url: stage.url, token: stage.token })),
    );
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    for (const answer of answers) checkAnswer('POST /v2/workflows/runs/{runId}/restart', answer);
    const ids = new Set(answers.map(({ json }) => JSON.stringify(json)));
    expect(ids.size).toBe(1);
    const { workflowRunId: runId } = z.object({ workflowRunId: z.string() }).parse(answers[0]?.json);
    const [, , third] = await inbox.received(3);
    expect(third && runIdOf(third)).toBe(runId);
    const fresh = await logOfRaw(stage, { runId });
    expect(fresh.steps[0]?.steps[0]).toMatchObject({ stepName: 'init', out: '{"order":4711}' });
  });
});

describe('a run is not shown as hanging', () => {
  it('while it waits or works, and is neither resumed nor restarted', async () => {
    const slow: (() => void)[] = [];
    const working = receiver.inbox((_delivery, response) => {
      slow.push(() => response.writeHead(200).end());
    });
    const waits = endpoint((delivery) =>
      ok(
        waitRaw(stage, { runId: runIdOf(delivery), url: waits.url }, 'paid', { stepId: 1, stepName: 'wait' }),
      ),
    );
    const runs = [await startRaw(stage, working), await startRaw(stage, waits)] as const;
    await working.received(1);
    await requested(runs[1], 1);
    await stage.advance(minuteMs);
    for (const run of runs)
      expect(await logOfRaw(stage, run)).toMatchObject({ workflowState: 'RUN_STARTED' });
    const named = new Set((await hangingNow()).map(({ workflowRunId }) => workflowRunId));
    expect(runs.filter(({ runId }) => named.has(runId))).toEqual([]);
    for (const [index, { runId }] of runs.entries()) {
      const path = `/v2/workflows/runs/${runId}/${index === 0 ? 'resume' : 'restart'}`;
      const answer = await api('POST', path, { url: stage.url, token: stage.token });
      expect(answer).toMatchObject({ status: 400, json: { code: 'wrong_state' } });
    }
    for (const answer of slow) answer();
    const none = await api('POST', '/v2/workflows/runs/wfr_none/restart', {
      url: stage.url,
      token: stage.token,
    });
    expect(none).toMatchObject({ status: 404, json: { code: 'run_not_found' } });
  });
});

describe('the log of runs', () => {
  it('is filtered by what runs wait for', async () => {
    const listed = z.object({ runs: z.array(z.looseObject({ workflowRunId: z.string() })) });
    // Other tests of this file leave runs.
    const own = new Set<string>();
    const having = async (state: string) =>
      listed
        .parse(
          await ok(api('GET', `/v2/workflows/logs?state=${state}`, { url: stage.url, token: stage.token })),
        )
        .runs.map(({ workflowRunId }) => workflowRunId)
        .filter((id) => own.has(id));
    const begun = async (begin: (run: { runId: string; url: string }) => Promise<unknown>) => {
      const inbox = endpoint((delivery) => begin({ runId: runIdOf(delivery), url: inbox.url }));
      const run = await startRaw(stage, inbox);
      await inbox.received(1);
      await requested(run, 1);
      return run;
    };
    const { run: hanging } = await hang();
    const asleep = await begun((run) =>
      ok(
        submitRaw(stage, run, [{ ...one, stepType: 'SleepFor', sleepFor: 86_400 }], {
          'Upstash-Delay': '86400s',
        }),
      ),
    );
    const waiting = await begun((run) => ok(waitRaw(stage, run, unique('event'), one)));
    for (const { runId } of [hanging, asleep, waiting]) own.add(runId);
    expect(await having('RUN_HANGING')).toEqual([hanging.runId]);
    expect(await having('RUN_SLEEPING')).toEqual([asleep.runId]);
    expect(await having('RUN_WAITING')).toEqual([waiting.runId]);
    expect(await having('run_sleeping,RUN_WAITING')).toEqual([waiting.runId, asleep.runId]);
    for (const { runId } of [hanging, asleep, waiting])
      await ok(api('DELETE', `/v2/workflows/runs/${runId}`, { url: stage.url, token: stage.token }));
    for (const state of ['RUN_HANGING', 'RUN_SLEEPING', 'RUN_WAITING'])
      expect(await having(state)).toEqual([]);
  });
});
