import { beforeEach, describe, expect, it } from 'vitest';
import type { RunStart } from '../../../../lambdas/workflow/rules/journal.ts';
import { mostFaults } from '../../../../lambdas/job/redelivery.ts';
import { fateAt, itAtEachDeath } from '../../../support/faults.ts';
import type { Inbox } from '../../../support/receiver.ts';
import { openRunActs, stepOf, type RunActs } from '../../../support/runActs.ts';
import { endpoint, openRunScene, type RunScene } from '../../../support/runScene.ts';
import { useWorld } from '../../../support/useWorld.ts';
import { type World } from '../../../support/world.ts';

/** A delivery that fails for good fails its run: visibly, once, and told to all who wait, whichever worker dies. */

let world: World;
let scene: RunScene;
let acts: RunActs;
useWorld(async (opened) => {
  world = opened;
  scene = await openRunScene(world);
  acts = await openRunActs(world);
});
beforeEach(() => world.drain());

let runs = 0;
/** A run whose endpoint fails, with all that can follow: a failure function, and a run that waits for it. */
async function failing(more: Partial<RunStart> = {}, payload = '{"n":1}') {
  runs += 1;
  const inbox = world.receiver.inbox((_delivery, response) => response.writeHead(500).end('broken'));
  const told = world.receiver.inbox();
  const [parent, runId] = [`wfr_waits_${runs}`, `wfr_fails_${runs}`];
  const { createdAt } = await scene.start(parent);
  const step = stepOf(1, 'Invoke');
  await scene.append(parent, {
    kind: 'invoke',
    at: 1,
    step,
    messageId: 'msg',
    runId,
    createdAt: 1,
    url: inbox.url,
  });
  await world.drain();
  const common = { method: 'POST', headers: [], maxRetries: 0, timeoutMs: 30_000, labels: [] } as const;
  const { messageId } = await scene.start(runId, {
    payload,
    details: {
      url: inbox.url,
      settings: { maxRetries: 1, retryDelay: '0', labels: [], timeoutMs: 30_000 },
      failureCallback: { ...common, url: told.url, delayMs: 0 },
      invoker: { runId: parent, createdAt, url: endpoint, step, headers: [] },
      ...more,
    },
  });
  return { runId, parent, messageId, inbox, told };
}

const idsAt = ({ deliveries }: Inbox): ReadonlySet<string | undefined> =>
  new Set(deliveries.map(({ headers }) => headers['upstash-message-id']));

const resultsOf = async (runId: string): Promise<number> =>
  (await acts.records(runId)).filter(({ kind }) => kind === 'steps').length;

describe('a run whose delivery fails', () => {
  it('tells the headers that it forwards, which clients before 1.0 read from there', async () => {
    const { told } = await failing({ forwarded: [['x-tenant', 'acme']] });
    await world.work();
    expect(JSON.parse(String(told.deliveries[0]?.body))).toMatchObject({
      sourceHeader: { 'X-Tenant': 'acme' },
    });
  });

  itAtEachDeath(
    'fails once, and all are told, though a worker dies at any of its AWS calls',
    async (fate) => {
      await world.drain();
      const { runId, parent, messageId, inbox, told } = await failing();
      await world.work(fate);
      expect(inbox.deliveries.length).toBeLessThanOrEqual(3);
      const kinds = (await acts.records(runId)).map(({ kind }) => kind);
      expect(kinds).toEqual(['start', 'end', 'failureFunction']);
      expect(await scene.snapshotOf(runId)).toMatchObject({
        state: 'RUN_FAILED',
        failureState: 'CALLBACK_SUCCESS',
      });
      expect(await acts.listed(runId)).toEqual(['RUN_FAILED']);
      expect(await world.deadLettersOf(messageId)).toBe(1);
      expect(idsAt(told).size).toBe(1);
      expect(JSON.parse(String(told.deliveries[0]?.body))).toMatchObject({
        status: 500,
        workflowRunId: runId,
        sourceBody: Buffer.from('{"n":1}').toString('base64'),
      });
      expect(await resultsOf(parent)).toBe(1);
    },
    { every: { ordinary: 7, thorough: 1 } },
  );

  it('is followed up though its id has another run by the time the work comes again', async () => {
    const { runId, parent, messageId, told } = await failing({ settings: onceOnly });
    // The worker dies right after the end of the run is written: its work comes again when another run has been started.
    const { work } = await world.receiveAttempt();
    const calls = await callsUntilEnd(work);
    const scene2 = await failing({ settings: onceOnly });
    const again = await world.receiveAttempt();
    await world.underFate(fateAt({ call: calls, when: 'after' }), () => world.deliver(again.work, false));
    expect((await scene.snapshotOf(scene2.runId)).state).toBe('RUN_FAILED');
    await scene.start(scene2.runId);
    await world.deliver(again.work, true);
    expect(await world.deadLettersOf(scene2.messageId)).toBe(1);
    expect(await acts.listed(scene2.runId)).toEqual(['RUN_FAILED', 'RUN_STARTED']);
    expect(await resultsOf(scene2.parent)).toBe(1);
    expect(await world.deadLettersOf(messageId)).toBe(1);
    expect(await resultsOf(parent)).toBe(1);
    expect([runId, told.deliveries.length]).toEqual([runId, 0]);
  });

  it('leaves a run as it is that ends while it fails', async () => {
    const { runId, messageId, inbox } = await failing({ settings: onceOnly });
    expect(inbox.deliveries).toHaveLength(0);
    await acts.end(runId, { body: '1' });
    await world.work();
    expect(await scene.snapshotOf(runId)).toMatchObject({ state: 'RUN_SUCCESS' });
    expect(await world.deadLettersOf(messageId)).toBe(0);
    expect(inbox.deliveries).toHaveLength(0);
  });

  it('fails visibly when the service itself fails with it, and waits for no failure function then', async () => {
    const { giveUp } = await import('../../../../lambdas/worker/perform.ts');
    const { runId, told } = await failing({ settings: onceOnly }, JSON.stringify('x'.repeat(100_000)));
    // Neither the delivery nor the message that tells of its failure can be made without it.
    await acts.loseBodies(runId);
    for (const work of await world.drain()) await giveUp(work, 'faults');
    await world.work();
    const [, end] = await acts.records(runId);
    expect(end).toMatchObject({ kind: 'end', state: 'RUN_FAILED' });
    expect((await scene.snapshotOf(runId)).failureState).toBeUndefined();
    expect(end?.kind === 'end' && end.failure?.response.error).toContain(`failed ${mostFaults} times`);
    expect(told.deliveries).toHaveLength(0);
  });
});

const onceOnly = { maxRetries: 0, labels: [], timeoutMs: 30_000 };

/** Counts the AWS calls up to the record of the end of a run, which is the second conditional put of a failed delivery. */
async function callsUntilEnd(work: Parameters<World['deliver']>[0]): Promise<number> {
  world.reset();
  let calls = 0;
  let puts = 0;
  const counting = {
    step: 'initialize',
    name: 'counting',
    priority: 'low',
    override: true,
  } as const;
  world.dynamodb.middlewareStack.add(
    (next, context) => async (args) => {
      if (context.commandName === 'PutItemCommand' && isOfJournal(args.input)) {
        puts += 1;
        if (puts === 1) calls = world.calls();
      }
      return next(args);
    },
    counting,
  );
  try {
    await world.deliver(work, false);
  } finally {
    world.dynamodb.middlewareStack.remove('counting');
  }
  return calls;
}

const isOfJournal = (input: object): boolean =>
  'TableName' in input && input.TableName === world.settings.workflowsTable;
