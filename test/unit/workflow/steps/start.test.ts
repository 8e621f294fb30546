import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { StartDraft, Started } from '../../../../lambdas/workflow/steps/start.ts';
import { attemptsIn, openRunActs, type RunActs } from '../../../support/runActs.ts';
import { openRunScene, resultOf, startSettings, type RunScene } from '../../../support/runScene.ts';
import { useWorld } from '../../../support/useWorld.ts';
import type { World } from '../../../support/world.ts';

/** A start makes one run, however often it is sent, and whichever process dies meanwhile. */

let world: World;
let scene: RunScene;
let acts: RunActs;
let startRun: (draft: Partial<StartDraft> & { readonly runId: string }) => Promise<Started>;
useWorld(async (opened) => {
  world = opened;
  scene = await openRunScene(world);
  acts = await openRunActs(world);
  const lambdas = await import('../../../../lambdas/workflow/steps/start.ts');
  startRun = (draft) =>
    lambdas.startRun(world.account, {
      start: startSettings(),
      payload: Buffer.from('{}'),
      notBefore: Date.now(),
      ...draft,
    });
});
beforeEach(() => acts.drainAhead());

const ended = { kind: 'end', at: 0, state: 'RUN_SUCCESS' } as const;

describe('a start', () => {
  it('makes six AWS calls', async () => {
    world.reset();
    await scene.start('wfr_counted');
    // The job that checks the start; the newest run of the id; its record; the list; the message and its job.
    expect(world.operations()).toEqual({
      QueryCommand: 1,
      PutItemCommand: 2,
      BatchWriteItemCommand: 1,
      SendMessageBatchCommand: 2,
    });
  });

  it('costs its check one read where it was finished', async () => {
    const { messageId } = await scene.start('wfr_looked');
    await world.drain();
    world.reset();
    await acts.checkStart('wfr_looked', messageId);
    // The account is read once in ten seconds.
    expect(world.operations()).toEqual({ GetItemCommand: 1, BatchGetItemCommand: 1 });
    expect(attemptsIn(await world.drain())).toEqual([]);
  });

  it('of an id that is started twice at once makes one run, and answers its id to both', async () => {
    const both = await Promise.all([scene.start('wfr_race'), scene.start('wfr_race')]);
    expect(new Set(both.map(({ messageId }) => messageId)).size).toBe(1);
    expect(both.map(({ isDuplicate }) => isDuplicate).toSorted()).toEqual([false, true]);
    expect(await acts.records('wfr_race')).toHaveLength(1);
  });

  it('of an id whose run has ended makes another one, later than that one', async () => {
    const one = await scene.start('wfr_again');
    await scene.append('wfr_again', ended);
    const other = await scene.start('wfr_again');
    expect(other.isDuplicate).toBe(false);
    expect(other.createdAt).toBeGreaterThan(one.createdAt);
    expect((await scene.snapshotOf('wfr_again')).startSeq).toBe(2);
  });

  it('of an id whose run is not kept any more makes another one, whatever is left of that one', async () => {
    await scene.start('wfr_expired');
    const { keptUntil } = await scene.snapshotOf('wfr_expired');
    vi.spyOn(Date, 'now').mockReturnValue(keptUntil + 1);
    expect(await scene.start('wfr_expired')).toMatchObject({ isDuplicate: false });
    expect((await scene.snapshotOf('wfr_expired')).startSeq).toBe(1);
  });
});

describe('a start that is fixed', () => {
  const fixed = { messageId: 'msg_01JDAAAAAAAAAAAAAAAAAAAAAA', createdAt: Date.now() };

  it('is known again when its run has ended, and when another run of its id came after it', async () => {
    const runId = 'wfr_fixed';
    const first = await startRun({ runId, fixed });
    expect(first).toMatchObject({ ...fixed, isDuplicate: false, isOther: false });
    await scene.append(runId, ended);
    expect(await startRun({ runId, fixed })).toMatchObject({ ...fixed, isDuplicate: true, isOther: false });
    await scene.start(runId);
    const known = await startRun({ runId, fixed });
    expect(known).toMatchObject({ messageId: fixed.messageId, createdAt: first.createdAt, isOther: false });
    expect((await acts.records(runId)).map(({ kind }) => kind)).toEqual(['start', 'end', 'start']);
  });

  it('is not mistaken for another start of its id that came first', async () => {
    const runId = 'wfr_foreign';
    await scene.start(runId);
    expect(await startRun({ runId, fixed })).toMatchObject({ isDuplicate: true, isOther: true });
    await scene.append(runId, ended);
    expect(await startRun({ runId, fixed })).toMatchObject({
      messageId: fixed.messageId,
      isDuplicate: false,
    });
  });
});

describe('the endpoint of an unknown client', () => {
  const unknown = { isUnknownClient: true, sdkVersion: undefined };
  const upgrade = (runId: string) => startRun({ runId, isUpgrade: true });

  it('upgrades its run once, however many of its deliveries do', async () => {
    await scene.start('wfr_up', { details: unknown });
    const ids = (await Promise.all([upgrade('wfr_up'), upgrade('wfr_up')])).map(({ messageId }) => messageId);
    expect(new Set(ids).size).toBe(1);
    // One of the start, and one of the upgrade.
    expect((await world.drain()).filter(({ kind }) => kind === 'attempt')).toHaveLength(2);
    expect((await acts.records('wfr_up')).map(({ kind }) => kind)).toEqual(['start', 'upgrade']);
  });

  it('upgrades no run that has steps', async () => {
    const { messageId } = await scene.start('wfr_steps', { details: unknown });
    await scene.submit('wfr_steps', [resultOf(1)]);
    expect(await upgrade('wfr_steps')).toMatchObject({ messageId, isDuplicate: true });
    expect((await acts.records('wfr_steps')).map(({ kind }) => kind)).toEqual(['start', 'steps']);
  });

  it('starts no other run when its own has ended', async () => {
    await scene.start('wfr_gone', { details: unknown });
    await acts.end('wfr_gone', { cancel: true });
    await expect(upgrade('wfr_gone')).rejects.toMatchObject({ status: 400 });
    expect((await acts.records('wfr_gone')).map(({ kind }) => kind)).toEqual(['start', 'end']);
  });
});
