import { describe, expect, it } from 'vitest';
import { fixture, runFixture, useRuns } from '../../../support/useRuns.ts';
import { jsonBytes, largestAnswer } from '../../../../lambdas/wire/answerSize.ts';
import type { ListedEntry } from '../../../../lambdas/workflow/rules/journal.ts';
import {
  idsOf,
  newMessageId,
  openRunLogs,
  outlineOf,
  stepsOf,
  type RunLogs,
} from '../../../support/runLogs.ts';
import { resultOf } from '../../../support/runFixture.ts';
import { endpoint, startSettings } from '../../../support/startSettings.ts';

let logs: RunLogs;
useRuns(async () => {
  logs = await openRunLogs(fixture);
});

const entryOf = (stepId: number, out: string): ListedEntry => {
  const { stepName, stepType: _type, ...step } = resultOf(stepId, out);
  const bytes = Buffer.from(JSON.stringify(resultOf(stepId, out)));
  return {
    messageId: newMessageId(),
    url: endpoint,
    createdAt: Date.now(),
    notBefore: Date.now(),
    body: { at: 'here', bytes, deflated: false },
    bodyBytes: bytes.length,
    step: { kind: 'result', stepName, stepType: 'Run', stepId: step.stepId, concurrent: step.concurrent },
  };
};

async function addSteps(runId: string, count: number, out: string): Promise<void> {
  const perRecord = 40;
  for (let first = 1; first <= count; first += perRecord) {
    const length = Math.min(perRecord, count - first + 1);
    const entries = Array.from({ length }, (_, index) => entryOf(first + index, out));
    await runFixture.append(runId, { kind: 'steps', at: Date.now(), entries });
  }
}

describe('the log of a large run', () => {
  it('of 1,000 steps is read with few calls', async () => {
    await runFixture.start('wfr_thousand');
    await addSteps('wfr_thousand', 1_000, '"done"');
    fixture.reset();
    const run = await logs.runOf('wfr_thousand');
    expect(stepsOf(run)).toHaveLength(1_001);
    expect(stepsOf(run).at(-1)).toMatchObject({ stepId: 1_000, out: '"done"' });
    expect(outlineOf(run).at(-1)).toBe('next STEP_PROGRESS');
    expect(fixture.calls()).toBeLessThan(50);
  });

  it('shortens its texts if they do not all fit into an answer', async () => {
    await runFixture.start('wfr_texts', { payload: 'p'.repeat(100_000) });
    await addSteps('wfr_texts', 800, JSON.stringify('x'.repeat(7_000)));
    const run = await logs.runOf('wfr_texts');
    expect(jsonBytes(run)).toBeLessThanOrEqual(largestAnswer);
    expect(stepsOf(run).map(({ out }) => out?.length)).toEqual([
      4_096,
      ...Array.from({ length: 800 }, () => 4_096),
    ]);
    expect(stepsOf(run)[0]?.headers).toEqual({
      'Upstash-Workflow-Sdk-Version': ['1'],
      'X-Tenant': ['acme'],
      'Content-Type': ['application/json'],
    });
  });

  it('leaves out its headers and last steps if texts are not what makes it large', async () => {
    const forwarded = [...startSettings().forwarded, ['x-long', 'h'.repeat(5_000)]] as const;
    await runFixture.start('wfr_headers', { details: { forwarded } });
    await addSteps('wfr_headers', 1_000, '"done"');
    const run = await logs.runOf('wfr_headers');
    expect(jsonBytes(run)).toBeLessThanOrEqual(largestAnswer);
    expect(stepsOf(run)).toHaveLength(1_001);
    expect(stepsOf(run)[0]?.headers).toEqual({});

    await runFixture.start('wfr_names');
    const named = (stepId: number): ListedEntry => {
      const entry = entryOf(stepId, '"done"');
      if (entry.step === undefined) throw new Error('It is no step.');
      return { ...entry, step: { ...entry.step, stepName: 'n'.repeat(50_000) } };
    };
    for (let stepId = 1; stepId <= 120; stepId += 4) {
      const entries = [0, 1, 2, 3].map((index) => named(stepId + index));
      await runFixture.append('wfr_names', { kind: 'steps', at: Date.now(), entries });
    }
    const cut = await logs.runOf('wfr_names');
    expect(jsonBytes(cut)).toBeLessThanOrEqual(largestAnswer);
    const ids = stepsOf(cut).map(({ stepId = 0 }) => stepId);
    expect(ids.length).toBeGreaterThan(50);
    expect(ids).toEqual(ids.map((_, index) => index));
  });

  it('does not hide later runs from the next pages', async () => {
    const labels = ['large'];
    const details = { settings: { maxRetries: 3, timeoutMs: 30_000, labels } };
    for (const runId of ['wfr_a', 'wfr_b']) {
      await runFixture.start(runId, { details });
      await addSteps(runId, 400, JSON.stringify('x'.repeat(7_000)));
    }
    const found: string[] = [];
    let pages = 0;
    for (let cursor: string | undefined; cursor !== ''; pages += 1) {
      const page = await logs.page(
        ['label', 'large'],
        ...(cursor === undefined ? [] : [['cursor', cursor] as const]),
      );
      expect(jsonBytes(page)).toBeLessThanOrEqual(largestAnswer);
      found.push(...idsOf(page.runs));
      ({ cursor } = page);
    }
    expect(found).toEqual(['wfr_b', 'wfr_a']);
    expect(pages).toBe(2);
  });
});

describe('a page of runs', () => {
  it('is read with about three calls for each run', async () => {
    const callerIp = '203.0.113.77';
    for (let index = 0; index < 20; index += 1) {
      await runFixture.start(`wfr_many${index}`, { details: { callerIp } });
    }
    fixture.reset();
    expect((await logs.page(['callerIp', callerIp])).runs).toHaveLength(20);
    expect(fixture.calls()).toBeLessThan(80);
  });
});
