import { describe, expect, it } from 'vitest';
import type { HookRequest } from '../../../../lambdas/domain/workflow/waiting.ts';
import { openWaitScene, type WaitScene } from '../../../support/waitScene.ts';
import { useWorld } from '../../../support/useWorld.ts';
import type { World } from '../../../support/world.ts';

let world: World;
let scene: WaitScene;
useWorld(async (opened) => {
  world = opened;
  scene = await openWaitScene(world);
});

const requestOf = (more: Partial<HookRequest> = {}): HookRequest => ({
  method: 'PUT',
  headers: [
    ['content-type', 'text/plain'],
    ['x-two', 'a'],
    ['x-two', 'b'],
    ['connection', 'close'],
  ],
  body: Buffer.from('grüß'),
  proto: 'https',
  host: 'api.example.com',
  url: '/base/v2/workflows/hooks/acct/wfr_1/evt_1?a=1',
  ...more,
});

const refused = (status: number): unknown => expect.objectContaining({ status });

describe('a request to a webhook', () => {
  it('is the event of its run, as it came, before the wait or after it', async () => {
    const runId = await scene.start();
    const call = (request: HookRequest) =>
      scene.callHook({ accountId: world.account.id, runId, eventId: 'evt_1', request });
    await call(requestOf());
    await scene.wait(runId, 'evt_1', { stepType: 'WaitForWebhook' });
    await scene.wait(runId, 'evt_1', { stepType: 'WaitForWebhook', stepId: 2 });
    await call(requestOf({ method: 'GET', body: new Uint8Array() }));
    const results = await scene.resultsOf(runId);
    const events = results.map(({ event = '' }): unknown => JSON.parse(event));
    expect(events).toEqual([
      {
        method: 'PUT',
        header: { 'Content-Type': ['text/plain'], 'X-Two': ['a', 'b'] },
        body: Buffer.from('grüß').toString('base64'),
        proto: 'https',
        host: 'api.example.com',
        url: '/base/v2/workflows/hooks/acct/wfr_1/evt_1?a=1',
      },
      expect.not.objectContaining({ body: expect.anything() as unknown }),
    ]);
  });

  it('finds none where the run has ended or is not known, or the account is not served here', async () => {
    const runId = await scene.start();
    const call = (accountId: string, run = runId) =>
      scene.callHook({ accountId, runId: run, eventId: 'evt_1', request: requestOf() });
    await expect(call(world.account.id, 'wfr_unknown')).rejects.toThrow(refused(404));
    await expect(call('')).rejects.toThrow(refused(404));
    await expect(call('nobody')).rejects.toThrow(refused(404));
    await expect(call('apiHost#eu-central-1#messaging')).rejects.toThrow(refused(404));
    await expect(call('x'.repeat(5_000))).rejects.toThrow(refused(404));
    await world.saveAccount({ ...world.account, id: 'suspended', state: 'passive' }, undefined);
    await expect(call('suspended')).rejects.toThrow(refused(404));
    await scene.endRun(world.account, { runId }, { state: 'RUN_CANCELED' });
    await expect(call(world.account.id)).rejects.toThrow(refused(404));
  });

  it('is held to the limits of its account', async () => {
    const limits = { max_message_size: 10, max_requests_per_second: 1 };
    await world.saveAccount({ ...world.account, id: 'small', limits }, undefined);
    const call = (body: Buffer) =>
      scene.callHook({
        accountId: 'small',
        runId: 'wfr_1',
        eventId: 'evt_1',
        request: requestOf({ body }),
      });
    await expect(call(Buffer.alloc(11))).rejects.toThrow(refused(413));
    const all = await Promise.allSettled(Array.from({ length: 20 }, () => call(Buffer.alloc(1))));
    expect(all).toContainEqual({ status: 'rejected', reason: refused(429) });
  });
});

describe('a notification', () => {
  it('counts as the message that it makes, and wakes nobody where that is one too many', async () => {
    const limits = { max_requests_per_day_hard: 1 };
    const account = { ...world.account, id: 'counted', limits };
    await world.saveAccount(account, undefined);
    const runs = [await scene.start({ account }), await scene.start({ account })];
    for (const runId of runs) await scene.wait(runId, 'counted', { account });
    const [first = '', second = ''] = runs;
    // What nobody waits for makes no message.
    expect(await scene.notify(account, 'nobody', Buffer.from('x'))).toEqual([]);
    await scene.notifyRun(account, { runId: first, eventId: 'later' }, Buffer.from('x'));
    expect(
      await scene.notifyRun(account, { runId: first, eventId: 'counted' }, Buffer.from('x')),
    ).toHaveLength(1);
    await expect(scene.notify(account, 'counted', Buffer.from('x'))).rejects.toThrow(refused(429));
    await expect(
      scene.notifyRun(account, { runId: second, eventId: 'counted' }, Buffer.from('x')),
    ).rejects.toThrow(refused(429));
    expect(await scene.listWaiters(account, 'counted')).toHaveLength(1);
  });

  it('is no larger than a message of its account', async () => {
    const account = { ...world.account, limits: { max_message_size: 10 } };
    const runId = await scene.start();
    const large = Buffer.alloc(11);
    await expect(scene.notify(account, 'large', large)).rejects.toThrow(refused(413));
    await expect(scene.notifyRun(account, { runId, eventId: 'large' }, large)).rejects.toThrow(refused(413));
    await expect(scene.notify(account, 'e'.repeat(257), Buffer.from('x'))).rejects.toThrow(refused(412));
  });
});
