import { beforeEach, describe, expect, it } from 'vitest';
import { itAtEachDeath } from '../../../support/faults.ts';
import { attemptsIn, openRunActs, type RunActs } from '../../../support/runActs.ts';
import { openRunLogs, stepsOf } from '../../../support/runLogs.ts';
import { endpoint, openRunScene, resultOf, type RunScene } from '../../../support/runScene.ts';
import { useWorld } from '../../../support/useWorld.ts';
import { type World } from '../../../support/world.ts';

/** A step's call is made once, and its answer comes to the endpoint, whichever process dies. */

let world: World;
let scene: RunScene;
let acts: RunActs;
let bodyOf: (messageId: string) => Promise<string>;
useWorld(async (opened) => {
  world = opened;
  scene = await openRunScene(world);
  acts = await openRunActs(world);
  const { loadBody } = await import('../../../../lambdas/message/bodies.ts');
  bodyOf = async (messageId) => {
    const history = await world.loadMessage({ accountId: world.account.id, messageId });
    if (history === undefined) throw new Error(`There is no message ${messageId}.`);
    return Buffer.from(await loadBody(messageId, history.body)).toString('utf8');
  };
});
beforeEach(() => world.drain());

const third = 'https://third.example/';

describe('a call', () => {
  itAtEachDeath(
    'whose process dies at any of its AWS calls is made once when it is submitted again',
    async (fate) => {
      const runId = `wfr_call_${fate.name}`;
      await scene.start(runId);
      await world.drain();
      const [first, second] = await acts.twice(fate, () => acts.call(runId, 1, third));
      expect((await acts.records(runId)).map(({ kind }) => kind)).toEqual(['start', 'call']);
      if (first !== undefined) expect(second).toEqual({ messageId: first.messageId, isDuplicate: true });
      expect(attemptsIn(await world.drain())).toEqual([second.messageId]);
      expect(await bodyOf(second.messageId)).toBe('asked');
    },
    { every: { ordinary: 1, thorough: 1 } },
  );

  it('keeps what was asked first, whatever is asked the second time', async () => {
    await scene.start('wfr_first');
    const { messageId } = await acts.call('wfr_first', 1, third, { body: 'one' });
    expect(await acts.call('wfr_first', 1, third, { body: 'x'.repeat(20_000) })).toEqual({
      messageId,
      isDuplicate: true,
    });
    expect(await bodyOf(messageId)).toBe('one');
  });

  it('of a step that has its result is not made, and answers an id all the same', async () => {
    await scene.start('wfr_done');
    const [result] = await scene.submit('wfr_done', [resultOf(1)]);
    await world.drain();
    expect(await acts.call('wfr_done', 1, third)).toEqual({
      messageId: result?.messageId,
      isDuplicate: true,
    });
    expect(await world.drain()).toEqual([]);
    const { messageId } = await acts.call('wfr_done', 2, third);
    await scene.submit('wfr_done', [resultOf(2)]);
    expect(await acts.call('wfr_done', 2, third)).toEqual({ messageId, isDuplicate: true });
  });

  it('of a step that is not the next one, or of a run that has ended, is refused', async () => {
    await scene.start('wfr_no');
    await expect(acts.call('wfr_no', 2, third)).rejects.toMatchObject({ status: 412 });
    await acts.end('wfr_no');
    await expect(acts.call('wfr_no', 1, third)).rejects.toMatchObject({ status: 400 });
  });

  it('shows nothing that its run does not show', async () => {
    const redaction = { body: true, headers: [] };
    const settings = { maxRetries: 3, labels: [], timeoutMs: 30_000, redaction };
    await scene.start('wfr_secret', { details: { settings } });
    const { messageId } = await acts.call('wfr_secret', 1, third);
    const history = await world.loadMessage({ accountId: world.account.id, messageId });
    expect(history?.message.redaction).toEqual(redaction);
    expect(history?.message.callback?.redaction).toEqual(redaction);
  });
});

describe('the answer to a call', () => {
  it('is followed by the log of its run while the endpoint does not take it', async () => {
    const asked = world.receiver.inbox((_delivery, response) => response.end('x'.repeat(200_000)));
    const answers = world.receiver.inbox((_delivery, response) => response.writeHead(500).end());
    const runId = 'wfr_answer_log';
    await scene.start(runId, {
      details: {
        url: endpoint,
        settings: { maxRetries: 3, retryDelay: '3600000', labels: [], timeoutMs: 30_000 },
      },
    });
    await world.drain();
    await acts.call(runId, 1, asked.url, { callback: answers.url });
    await world.work();
    expect(answers.deliveries).toHaveLength(1);
    const [, step] = stepsOf(await (await openRunLogs(world)).runOf(runId));
    expect(step).toMatchObject({ callType: 'fromCallback', state: 'STEP_RETRY', callResponseStatus: 200 });
  });

  itAtEachDeath('comes to the endpoint though a worker dies at any of its AWS calls', async (fate) => {
    const answers = world.receiver.inbox();
    const asked = world.receiver.inbox((_delivery, response) => response.writeHead(503).end('no'));
    const runId = `wfr_answer_${fate.name}`;
    await scene.start(runId, { details: { url: endpoint } });
    await world.drain();
    await acts.call(runId, 1, asked.url, { callback: answers.url });
    await world.work(fate);
    expect(asked.deliveries.length).toBeLessThanOrEqual(2);
    const ids = new Set(answers.deliveries.map(({ headers }) => headers['upstash-message-id']));
    expect(ids.size).toBe(1);
    const [answer] = answers.deliveries;
    expect(answer?.headers).toMatchObject({
      'upstash-workflow-runid': runId,
      'upstash-workflow-calltype': 'fromCallback',
      'x-tenant': 'acme',
    });
    expect(JSON.parse(String(answer?.body))).toMatchObject({ status: 503, retried: 0, maxRetries: 0 });
    expect((await scene.snapshotOf(runId)).state).toBe('RUN_STARTED');
  });
});
