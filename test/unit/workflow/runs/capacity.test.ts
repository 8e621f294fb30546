import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { imported } from '../../../support/imported.ts';
import { setClockAhead } from '../../../support/clockAhead.ts';
import { acts, fixture, runFixture, useRuns } from '../../../support/useRuns.ts';
import type { Job } from '../../../../lambdas/job/job.ts';
import { largeWorkBytes } from '../../../../lambdas/aws/resources.ts';
import { stepOf } from '../../../support/runActs.ts';

const mebibyte = 1_048_576;
/** A quarter of a function's memory, so that smaller deliveries fill it. */
const memoryMb = 128;
process.env['AWS_LAMBDA_FUNCTION_MEMORY_SIZE'] = String(memoryMb);
useRuns();
const lambdas = imported(async () => ({
  ...(await import('../../../../lambdas/message/bodies.ts')),
  ...(await import('../../../../lambdas/workflow/delivery/memory.ts')),
}));

describe('the result of an invoked run', () => {
  it('that does not fit into the run fails its step, with the size and the limit', async () => {
    const { createdAt } = await runFixture.start('wfr_room');
    const [start] = await acts.records('wfr_room');
    if (start?.kind !== 'start') throw new Error('The journal begins with no start.');
    const step = { ...stepOf(1, 'Run'), kind: 'result' } as const;
    const entry = { ...start.entry, step, bodyBytes: 31 * mebibyte };
    await runFixture.append('wfr_room', { kind: 'steps', at: Date.now(), entries: [entry] });
    const outs: unknown[] = [];
    for (const [stepId, bytes] of [
      [2, 100_000],
      [3, 150_000],
    ] as const) {
      await acts.invoke({ runId: 'wfr_room', createdAt }, stepId, `wfr_room_${stepId}`);
      // A byte that takes seven in the JSON of a step.
      await acts.end(`wfr_room_${stepId}`, { body: '\u0001'.repeat(bytes) });
      const last = (await acts.records('wfr_room')).at(-1);
      if (last?.kind !== 'steps') throw new Error('The run was not told.');
      for (const { messageId, body: stored } of last.entries) {
        const told = JSON.parse(Buffer.from(await lambdas.loadBody(messageId, stored)).toString()) as {
          out: string;
        };
        outs.push(JSON.parse(told.out));
      }
    }
    expect(outs).toEqual([
      { body: '\u0001'.repeat(100_000), isFailed: false, isCanceled: false },
      {
        body: expect.stringMatching(/has 1050\d+ bytes as JSON, but .* 33554432 bytes/) as string,
        isFailed: true,
        isCanceled: false,
      },
    ]);
  });
});

/** An endpoint that answers its first request when the test says so, and tells when another one comes before. */
async function startHolding() {
  const got: number[] = [];
  let held: ServerResponse | undefined;
  let tell = (): void => undefined;
  const second = new Promise<undefined>((resolve) => {
    tell = () => {
      resolve(undefined);
    };
  });
  const answer = (response: ServerResponse | undefined) =>
    response?.writeHead(200, { 'upstash-workflow-sdk-version': '1' }).end();
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      if (got.push(Number(request.headers['content-length'])) === 1) held = response;
      else answer(response);
      if (got.length > 1) tell();
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}/flow`;
  return { url, got, second, answerFirst: () => answer(held), close: () => server.close() };
}

describe('deliveries of 9.8 MB that one worker gets at once', () => {
  it('are all made, and none while its body would not fit into the memory beside that of another', async () => {
    const endpoint = await startHolding();
    const body = '\u0001'.repeat(mebibyte);
    const settings = { maxRetries: 0, labels: [], timeoutMs: 600_000 };
    const large: Job[] = [];
    for (let count = 0; count < 2; count += 1) {
      const runId = `wfr_large_${count}`;
      const { createdAt } = await runFixture.start(runId, { details: { url: endpoint.url, settings } });
      await acts.invoke({ runId, createdAt }, 1, `${runId}_child`, endpoint.url);
      await fixture.drain();
      await acts.end(`${runId}_child`, { body });
      large.push(...(await fixture.drain()).filter(({ kind }) => kind === 'attempt'));
    }
    expect(large).toHaveLength(2);
    const performed = large.map((job) => fixture.perform(job, { isAgain: false }));
    // The second job waits for memory until its time is up, and is sent again.
    await Promise.race([...performed, endpoint.second]);
    expect(endpoint.got).toHaveLength(1);
    expect(lambdas.memory.held.now).toBe(endpoint.got[0]);
    endpoint.answerFirst();
    await Promise.all(performed);
    setClockAhead(60_000);
    await fixture.doJobs();
    endpoint.close();
    expect(endpoint.got.filter((bytes) => bytes > 9_700_000)).toHaveLength(2);
    expect(lambdas.memory.held.now).toBe(0);
    expect(lambdas.memory.held.most).toBeLessThanOrEqual(largeWorkBytes(memoryMb));
  });
});
