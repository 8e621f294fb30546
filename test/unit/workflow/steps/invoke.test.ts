import { beforeEach, describe, expect, it } from 'vitest';
import { imported } from '../../../support/imported.ts';
import { acts, fixture, runFixture, useRuns } from '../../../support/useRuns.ts';
import { parseStep } from '../../../../lambdas/workflow/rules/step.ts';
import { itAtEachDeath } from '../../../support/faults.ts';
import { attemptsIn } from '../../../support/runActs.ts';
import { resultOf } from '../../../support/runFixture.ts';

/** An invoking run gets the end once, whichever process dies and whichever run ends first. */

useRuns();
const lambdas = imported(() => import('../../../../lambdas/message/bodies.ts'));
beforeEach(() => acts.drainAhead());

let runs = 0;
async function pair() {
  runs += 1;
  const [parent, child] = [`wfr_parent_${runs}`, `wfr_child_${runs}`];
  const { createdAt } = await runFixture.start(parent);
  await fixture.drain();
  return { parent, child, invoke: (runId = child) => acts.invoke({ runId: parent, createdAt }, 1, runId) };
}

async function toldTo(runId: string): Promise<readonly unknown[]> {
  const told: unknown[] = [];
  for (const record of await acts.records(runId)) {
    const entries =
      record.kind === 'steps' ? record.entries : record.kind === 'lateResult' ? [record.entry] : [];
    for (const { messageId, body } of entries) {
      const step = parseStep(await lambdas.loadBody(messageId, body));
      told.push(step.kind === 'result' ? JSON.parse(step.out ?? 'null') : step.kind);
    }
  }
  return told;
}

describe('an invoke', () => {
  itAtEachDeath('starts one run where it dies, whatever id it names the second time', async (fate) => {
    await acts.drainAhead();
    const { parent, child, invoke } = await pair();
    const ids = [child, `${child}_other`];
    const [first, second] = await acts.twice(fate, () => invoke(ids.shift()));
    expect(await acts.kinds(parent)).toEqual(['start', 'invoke']);
    if (first !== undefined) expect(second).toEqual({ ...first, isDuplicate: true });
    await acts.checkStart(second.runId, second.messageId);
    expect(attemptsIn(await fixture.drain())).toEqual([second.messageId]);
    const started = await Promise.all([child, `${child}_other`].map(acts.kinds));
    expect(started.flat()).toEqual(['start']);
    await acts.end(second.runId, { body: '5' });
    expect(await toldTo(parent)).toEqual([{ body: '5', isFailed: false, isCanceled: false }]);
  });

  it('of an id with another active run is refused, with the same reason each time', async () => {
    const { child, invoke } = await pair();
    await runFixture.start(child);
    await expect(invoke()).rejects.toMatchObject({ status: 412 });
    await expect(invoke()).rejects.toMatchObject({ status: 412 });
  });

  it('that is repeated after the end of its run starts no other', async () => {
    const { parent, child, invoke } = await pair();
    const first = await invoke();
    await acts.end(child);
    expect(await invoke()).toEqual({ ...first, isDuplicate: true });
    expect(await acts.kinds(child)).toEqual(['start', 'end']);
    expect(await toldTo(parent)).toEqual([{ isFailed: false, isCanceled: false }]);
  });

  it('of a step with a result, or of an ended run, is refused', async () => {
    const { parent, invoke } = await pair();
    await runFixture.submit(parent, [resultOf(1)]);
    await expect(invoke()).rejects.toMatchObject({ status: 412 });
    await acts.end(parent);
    await expect(invoke()).rejects.toMatchObject({ status: 400 });
  });
});

describe('the end of an invoked run', () => {
  itAtEachDeath(
    'is told once, even if the process that ends it dies at any of its AWS calls',
    async (fate) => {
      await acts.drainAhead();
      const { parent, child, invoke } = await pair();
      await invoke();
      await fixture.drain();
      await acts.twice(fate, () => acts.end(child, { body: '"out"' }));
      expect(await toldTo(parent)).toEqual([{ body: '"out"', isFailed: false, isCanceled: false }]);
      expect(await acts.listed(child)).toEqual(['RUN_SUCCESS']);
      const [record] = (await acts.records(parent)).slice(-1);
      const told = record?.kind === 'steps' ? record.entries.map(({ messageId }) => messageId) : [];
      expect(attemptsIn(await fixture.drain())).toEqual(told);
    },
  );

  it('is reported by the job that was sent before it, even if its id belongs to another run by then', async () => {
    const { parent, child, invoke } = await pair();
    const { followUpEnd } = await import('../../../../lambdas/workflow/steps/end.ts');
    await invoke();
    const { startSeq } = await runFixture.snapshotOf(child);
    // The process died right after it wrote the end.
    await runFixture.append(child, { kind: 'end', at: Date.now(), state: 'RUN_CANCELED' });
    await runFixture.start(child);
    await followUpEnd(fixture.account, { runId: child, startSeq });
    await followUpEnd(fixture.account, { runId: child, startSeq });
    expect(await toldTo(parent)).toEqual([{ isFailed: false, isCanceled: true }]);
    expect(await acts.listed(child)).toEqual(['RUN_CANCELED', 'RUN_STARTED']);
  });

  it('that comes after its invoker’s end is shown in the invoker’s log and not delivered', async () => {
    const { parent, child, invoke } = await pair();
    await invoke();
    await acts.end(parent, { cancel: true });
    await fixture.drain();
    await acts.end(child, { body: '1' });
    await acts.end(child, { body: '1' });
    expect(await acts.kinds(parent)).toEqual(['start', 'invoke', 'end', 'lateResult']);
    expect(attemptsIn(await fixture.drain())).toEqual([]);
    expect((await runFixture.snapshotOf(parent)).state).toBe('RUN_CANCELED');
  });

  it('is not reported if the invoker’s id belongs to another run', async () => {
    const { parent, child, invoke } = await pair();
    await invoke();
    await acts.end(parent);
    await runFixture.start(parent);
    await acts.end(child, { body: '1' });
    expect(await acts.kinds(parent)).toEqual(['start', 'invoke', 'end', 'start']);
  });
});
