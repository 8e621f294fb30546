import { describe, expect, it } from 'vitest';
import { openRunScene, resultOf, type RunScene } from '../../support/runScene.ts';
import { useWorld } from '../../support/useWorld.ts';
import type { World } from '../../support/world.ts';
import { watchWrites } from '../../support/writes.ts';

/** The cost of a run of a workflow. Neither its calls nor its writes become more as it becomes longer. */

let world: World;
let scene: RunScene;
let writes: ReturnType<typeof watchWrites>;
const importLambdas = () => import('../../../lambdas/workflow/steps/endRun.ts');
let lambdas: Awaited<ReturnType<typeof importLambdas>>;
useWorld(async (opened) => {
  world = opened;
  scene = await openRunScene(world);
  lambdas = await importLambdas();
  writes = watchWrites(world.dynamodb);
  await warmUp();
});

/** Lets the process read and lease what it has for some seconds: the account, and a slot of it. */
async function warmUp(): Promise<void> {
  await world.send(world.receiver.inbox().url);
  await world.work();
}

/** The calls of some work, and the write units of what it puts. */
async function costOf(work: () => Promise<unknown>) {
  world.reset();
  writes.reset();
  await work();
  const { workflowsTable, messagesTable } = world.settings;
  return {
    calls: world.operations(),
    units: { workflows: writes.unitsIn(workflowsTable), messages: writes.unitsIn(messagesTable) },
  };
}

/** An endpoint that answers as the published client does. */
const openEndpoint = () =>
  world.receiver.inbox((_delivery, response) =>
    response.writeHead(200, { 'Upstash-Workflow-Sdk-Version': '1' }).end(),
  );

const submission = {
  // The run's snapshot is read before the step, and again when the run is changed.
  calls: { QueryCommand: 2, PutItemCommand: 1, BatchWriteItemCommand: 1, SendMessageBatchCommand: 1 },
  units: { workflows: 1, messages: 1 },
};
/** The message with its attempts, and the journal. */
const delivery = { calls: { QueryCommand: 2, PutItemCommand: 1 }, units: { workflows: 0, messages: 1 } };

describe('a run', () => {
  it('starts with its record, its place in the list and its message', async () => {
    expect(await costOf(() => scene.start('wfr_starts'))).toEqual({
      // The job that checks the start, and the attempt.
      calls: { QueryCommand: 1, PutItemCommand: 2, BatchWriteItemCommand: 1, SendMessageBatchCommand: 2 },
      units: { workflows: 2, messages: 1 },
    });
    await world.drain();
  });

  it('ends with a record and its place in the list', async () => {
    await scene.start('wfr_ends');
    await scene.submit('wfr_ends', [resultOf(1)]);
    const end = { state: 'RUN_SUCCESS', response: Buffer.from('"done"') } as const;
    expect(await costOf(() => lambdas.endRun(world.account, { runId: 'wfr_ends' }, end))).toEqual({
      calls: { QueryCommand: 2, PutItemCommand: 1, BatchWriteItemCommand: 1 },
      units: { workflows: 2, messages: 0 },
    });
    await world.drain();
  });
});

describe('a step', () => {
  it('reads the settings of its run once in a process', async () => {
    await scene.start('wfr_facts');
    const { calls } = await costOf(() => scene.submit('wfr_facts', [resultOf(1)]));
    expect(calls).toEqual({ ...submission.calls, GetItemCommand: 1 });
    expect(await costOf(() => scene.submit('wfr_facts', [resultOf(2)]))).toEqual(submission);
    await world.drain();
  });

  it('costs as many calls and writes in a long run as in a short one', async () => {
    const { url } = openEndpoint();
    await scene.start('wfr_long', { details: { url } });
    await scene.submit('wfr_long', [resultOf(1)], {}, url);
    let submitted = 1;
    for (const step of [10, 100, 400]) {
      while (submitted < step - 1) {
        submitted += 1;
        if (submitted === step - 1) {
          // Only the last of them is delivered.
          await world.drain();
          await warmUp();
        }
        await scene.submit('wfr_long', [resultOf(submitted)], {}, url);
      }
      const { work } = await world.receiveAttempt();
      expect(await costOf(() => world.deliver(work, false))).toEqual(delivery);
      submitted += 1;
      expect(await costOf(() => scene.submit('wfr_long', [resultOf(submitted)], {}, url))).toEqual(
        submission,
      );
    }
    await world.drain();
  });

  it('has no more writes than another for an output that is in the bucket', async () => {
    await scene.start('wfr_large');
    await scene.submit('wfr_large', [resultOf(1)]);
    const large = JSON.stringify('x'.repeat(500_000));
    expect(await costOf(() => scene.submit('wfr_large', [resultOf(2, large)]))).toEqual(submission);
    await world.drain();
  });
});

describe('a parallel group', () => {
  it('is planned with one record, and one call for all of its messages', async () => {
    await scene.start('wfr_group');
    await scene.submit('wfr_group', [resultOf(1)]);
    const plans = Array.from({ length: 10 }, (_, index) =>
      resultOf(0, undefined, { concurrent: 10, targetStep: index + 2, stepName: `step ${index + 2}` }),
    );
    const planned = await costOf(() => scene.submit('wfr_group', plans));
    expect(planned.calls).toEqual(submission.calls);
    expect(planned.units.messages).toBe(10);
    await world.drain();
  });
});
