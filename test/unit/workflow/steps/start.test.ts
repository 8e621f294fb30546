import { beforeEach, describe, expect, it, vi } from 'vitest';
import { acts, fixture, runFixture, useRuns } from '../../../support/useRuns.ts';
import type { StartDraft, Started } from '../../../../lambdas/workflow/steps/start.ts';
import { attemptsIn } from '../../../support/runActs.ts';
import { resultOf } from '../../../support/runFixture.ts';
import { startSettings } from '../../../support/startSettings.ts';

/** A start makes one run, however often it is sent and whichever process dies. */

let startRun: (draft: Partial<StartDraft> & { readonly runId: string }) => Promise<Started>;
useRuns(async () => {
  const lambdas = await import('../../../../lambdas/workflow/steps/start.ts');
  startRun = (draft) =>
    lambdas.startRun(fixture.account, {
      start: startSettings(),
      payload: Buffer.from('{}'),
      notBefore: Date.now(),
      ...draft,
    });
});
beforeEach(() => acts.drainAhead());

const ended = { kind: 'end', at: 0, state: 'RUN_SUCCESS' } as const;

describe('a start', () => {
  it('costs one read for its check if it was finished', async () => {
    const { messageId } = await runFixture.start('wfr_looked');
    await fixture.drain();
    fixture.reset();
    await acts.checkStart('wfr_looked', messageId);
    // The account is read once in ten seconds.
    expect(fixture.operations()).toEqual({ GetItemCommand: 1, BatchGetItemCommand: 1 });
    expect(attemptsIn(await fixture.drain())).toEqual([]);
  });

  it('of an id that is started twice at once makes one run, and answers its id to both', async () => {
    const both = await Promise.all([runFixture.start('wfr_race'), runFixture.start('wfr_race')]);
    expect(new Set(both.map(({ messageId }) => messageId)).size).toBe(1);
    expect(both.map(({ isDuplicate }) => isDuplicate).toSorted()).toEqual([false, true]);
    expect(await acts.records('wfr_race')).toHaveLength(1);
  });

  it('of an id whose run has ended makes another run with a later start', async () => {
    const one = await runFixture.start('wfr_again');
    await runFixture.append('wfr_again', ended);
    const other = await runFixture.start('wfr_again');
    expect(other.isDuplicate).toBe(false);
    expect(other.createdAt).toBeGreaterThan(one.createdAt);
    expect((await runFixture.snapshotOf('wfr_again')).startSeq).toBe(2);
  });

  it('of an id whose run has expired makes another one, even if rows of the old run are left', async () => {
    await runFixture.start('wfr_expired');
    const { keptUntil } = await runFixture.snapshotOf('wfr_expired');
    vi.spyOn(Date, 'now').mockReturnValue(keptUntil + 1);
    expect(await runFixture.start('wfr_expired')).toMatchObject({ isDuplicate: false });
    expect((await runFixture.snapshotOf('wfr_expired')).startSeq).toBe(1);
  });
});

describe('a start with a fixed key', () => {
  const fixed = { messageId: 'msg_01JDAAAAAAAAAAAAAAAAAAAAAA', createdAt: Date.now() };

  it('is recognized after its run has ended, and after another run of its id', async () => {
    const runId = 'wfr_fixed';
    const first = await startRun({ runId, fixed });
    expect(first).toMatchObject({ ...fixed, isDuplicate: false, isOther: false });
    await runFixture.append(runId, ended);
    expect(await startRun({ runId, fixed })).toMatchObject({ ...fixed, isDuplicate: true, isOther: false });
    await runFixture.start(runId);
    const known = await startRun({ runId, fixed });
    expect(known).toMatchObject({ messageId: fixed.messageId, createdAt: first.createdAt, isOther: false });
    expect(await acts.kinds(runId)).toEqual(['start', 'end', 'start']);
  });

  it('is not confused with an earlier start of its id', async () => {
    const runId = 'wfr_foreign';
    await runFixture.start(runId);
    expect(await startRun({ runId, fixed })).toMatchObject({ isDuplicate: true, isOther: true });
    await runFixture.append(runId, ended);
    expect(await startRun({ runId, fixed })).toMatchObject({
      messageId: fixed.messageId,
      isDuplicate: false,
    });
  });
});

describe('the endpoint of an unknown client', () => {
  const unknown = { isUnknownClient: true, sdkVersion: undefined };
  const upgrade = (runId: string) => startRun({ runId, isUpgrade: true });

  it('upgrades its run once, however many of its deliveries ask for it', async () => {
    await runFixture.start('wfr_up', { details: unknown });
    const ids = (await Promise.all([upgrade('wfr_up'), upgrade('wfr_up')])).map(({ messageId }) => messageId);
    expect(new Set(ids).size).toBe(1);
    // One for the start, and one for the upgrade.
    expect((await fixture.drain()).filter(({ kind }) => kind === 'attempt')).toHaveLength(2);
    expect(await acts.kinds('wfr_up')).toEqual(['start', 'upgrade']);
  });

  it('upgrades no run that has steps', async () => {
    const { messageId } = await runFixture.start('wfr_steps', { details: unknown });
    await runFixture.submit('wfr_steps', [resultOf(1)]);
    expect(await upgrade('wfr_steps')).toMatchObject({ messageId, isDuplicate: true });
    expect(await acts.kinds('wfr_steps')).toEqual(['start', 'steps']);
  });

  it('starts no other run if its own has ended', async () => {
    await runFixture.start('wfr_gone', { details: unknown });
    await acts.end('wfr_gone', { cancel: true });
    await expect(upgrade('wfr_gone')).rejects.toMatchObject({ status: 400 });
    expect(await acts.kinds('wfr_gone')).toEqual(['start', 'end']);
  });
});
