import { once } from 'node:events';
import { createServer } from 'node:http';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Job } from '../../../../lambdas/job/job.ts';
import type * as bodiesModule from '../../../../lambdas/message/bodies.ts';
import type * as memoryModule from '../../../../lambdas/workflow/delivery/memory.ts';
import { invokeResult, invokeResultBytes } from '../../../../lambdas/workflow/rules/invoking.ts';
import { functionMemoryMb, largeWorkBytes } from '../../../../lambdas/aws/resources.ts';
import { openRunActs, stepOf, type RunActs } from '../../../support/runActs.ts';
import { openRunFixture, type RunFixture } from '../../../support/runFixture.ts';
import { useFixture } from '../../../support/useFixture.ts';
import type { Fixture } from '../../../support/fixture.ts';

const mebibyte = 1_048_576;
let fixture: Fixture;
let runFixture: RunFixture;
let acts: RunActs;
let loadBody: typeof bodiesModule.loadBody;
let memory: typeof memoryModule.memory;
useFixture(async (opened) => {
  fixture = opened;
  runFixture = await openRunFixture(fixture);
  acts = await openRunActs(fixture);
  ({ loadBody } = await import('../../../../lambdas/message/bodies.ts'));
  ({ memory } = await import('../../../../lambdas/workflow/delivery/memory.ts'));
});
beforeEach(async () => {
  await fixture.drain();
});

describe('the size of an invoke’s result', () => {
  it.each([
    { state: 'RUN_SUCCESS', response: undefined },
    { state: 'RUN_SUCCESS', response: '"\\\u0001\né😀' },
    { state: 'RUN_FAILED' },
    { state: 'RUN_CANCELED' },
    { state: 'RUN_FAILED', reason: 'It "failed".' },
  ] as const)('is counted exactly: %j', (end) => {
    const step = { ...stepOf(3, 'Invoke'), stepName: 'é"\n' };
    expect(invokeResultBytes(step, end)).toBe(invokeResult(step, end).length);
  });
});

describe('results of invoked runs', () => {
  it('that do not fit into the run fail their step, with the size and the limit', async () => {
    const { createdAt } = await runFixture.start('wfr_room');
    // 4 MiB that become 28 MiB in the JSON of a step.
    const body = '\u0001'.repeat(4 * mebibyte);
    const outs: unknown[] = [];
    for (const stepId of [1, 2]) {
      await acts.invoke({ runId: 'wfr_room', createdAt }, stepId, `wfr_room_${stepId}`);
      await acts.end(`wfr_room_${stepId}`, { body });
      const last = (await acts.records('wfr_room')).at(-1);
      if (last?.kind !== 'steps') throw new Error('The run was not told.');
      for (const { messageId, body: stored } of last.entries) {
        const step = JSON.parse(Buffer.from(await loadBody(messageId, stored)).toString()) as { out: string };
        outs.push(JSON.parse(step.out));
      }
    }
    expect(outs[0]).toEqual({ body, isFailed: false, isCanceled: false });
    expect(outs[1]).toMatchObject({ isFailed: true, isCanceled: false });
    expect((outs[1] as { body: string }).body).toMatch(/has 29360\d+ bytes as JSON, but .* 33554432 bytes/);
    expect((await runFixture.snapshotOf('wfr_room')).bodyBytes).toBeLessThanOrEqual(32 * mebibyte);
  });
});

async function startCounting() {
  let open = 0;
  let most = 0;
  const got: number[] = [];
  const server = createServer((request, response) => {
    const bytes = Number(request.headers['content-length']);
    open += bytes;
    most = Math.max(most, open);
    request.resume().on('end', () => {
      // Gives others that fit the time to arrive. Without a limit, all would.
      setTimeout(() => {
        got.push(bytes);
        open -= bytes;
        response.writeHead(200, { 'upstash-workflow-sdk-version': '1' }).end();
      }, 200);
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return { url: `http://127.0.0.1:${port}/flow`, got, most: () => most, close: () => server.close() };
}

/** Three fit at once. */
const deliveries = 5;

describe('deliveries of 39 MB that one worker gets at once', () => {
  it('are all made, and never more at a time than fit into its memory', { timeout: 120_000 }, async () => {
    const counting = await startCounting();
    const body = '\u0001'.repeat(4 * mebibyte);
    const large: Job[] = [];
    for (let count = 0; count < deliveries; count += 1) {
      const runId = `wfr_large_${count}`;
      const { createdAt } = await runFixture.start(runId, { details: { url: counting.url } });
      await acts.invoke({ runId, createdAt }, 1, `${runId}_child`, counting.url);
      await fixture.drain();
      await acts.end(`${runId}_child`, { body });
      large.push(...(await fixture.drain()).filter(({ kind }) => kind === 'attempt'));
    }
    expect(large).toHaveLength(deliveries);
    await Promise.all(large.map((job) => fixture.perform(job, { isAgain: false })));
    await fixture.doJobs();
    counting.close();
    expect(counting.got.filter((bytes) => bytes > 39_000_000)).toHaveLength(deliveries);
    expect(counting.most()).toBeGreaterThan(39_000_000);
    expect(counting.most()).toBeLessThanOrEqual(largeWorkBytes(functionMemoryMb));
    expect(memory.held.most).toBeLessThanOrEqual(largeWorkBytes(functionMemoryMb));
    expect(memory.held.now).toBe(0);
  });
});
