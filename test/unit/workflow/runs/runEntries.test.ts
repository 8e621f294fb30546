import { describe, expect, it } from 'vitest';
import { imported } from '../../../support/imported.ts';
import { fixture, runFixture, useRuns } from '../../../support/useRuns.ts';
import type { Entry } from '../../../../lambdas/workflow/rules/entry.ts';
import { resultOf } from '../../../support/runFixture.ts';

useRuns();
const lambdas = imported(async () => ({
  ...(await import('../../../../lambdas/workflow/runEntries.ts')),
  ...(await import('../../../../lambdas/workflow/runs/entryBodies.ts')),
  ...(await import('../../../../lambdas/workflow/runs/loadRun.ts')),
  ...(await import('../../../../lambdas/workflow/runs/listBody.ts')),
  ...(await import('../../../../lambdas/wire/answerSize.ts')),
}));

const read = (runId: string) => lambdas.runEntries(fixture.account, runId);
const textOf = (base64: string | undefined): string => Buffer.from(base64 ?? '', 'base64').toString();

describe('the list of a run', () => {
  it('has the payload and each step exactly as a delivery shows them, wherever their bodies are stored', async () => {
    const outs = ['"small"', JSON.stringify('a'.repeat(5_000)), JSON.stringify(randomText(60_000))];
    const { messageId } = await runFixture.start('wfr_list', { payload: 'not JSON ü' });
    for (const [index, out] of outs.entries())
      await runFixture.submit('wfr_list', [resultOf(index + 1, out)]);

    const found = await read('wfr_list');
    expect(found[0]).toMatchObject({ messageId, callType: 'step' });
    expect(textOf(found[0]?.body)).toBe('not JSON ü');
    expect(found.slice(1).map(({ body }) => textOf(body))).toEqual(
      outs.map((out, index) => JSON.stringify(resultOf(index + 1, out))),
    );
    const loaded = await lambdas.loadRun(runFixture.keyOf('wfr_list'), 0);
    const delivered = lambdas.listBody(await lambdas.loadEntryBodies(loaded?.entries ?? []));
    expect(JSON.stringify(found)).toBe(delivered.toString());
  });

  it('is the active run’s if its id has had others', async () => {
    await runFixture.start('wfr_again', { payload: 'first' });
    await runFixture.append('wfr_again', { kind: 'end', at: Date.now(), state: 'RUN_CANCELED' });
    await runFixture.start('wfr_again', { payload: 'second' });
    expect((await read('wfr_again')).map(({ body }) => textOf(body))).toEqual(['second']);
  });

  it('is missing if the run has ended or never existed', async () => {
    await runFixture.start('wfr_ended');
    await runFixture.append('wfr_ended', { kind: 'end', at: Date.now(), state: 'RUN_SUCCESS' });
    for (const runId of ['wfr_ended', 'wfr_unknown', 'x'.repeat(3_000), 'a#b']) {
      await expect(read(runId)).rejects.toMatchObject({ status: 404 });
    }
    expect(await lambdas.loadRun(runFixture.keyOf('wfr_unknown'), 0)).toBeUndefined();
    expect(await lambdas.loadRun(runFixture.keyOf('wfr_ended'), 1)).toBeUndefined();
  });

  it('is refused if it is too long for an answer', async () => {
    await runFixture.start('wfr_long', { payload: randomText(4_000_000) });
    await runFixture.submit('wfr_long', [resultOf(1, randomText(200_000))]);
    expect(await read('wfr_long')).toHaveLength(2);
    await runFixture.submit('wfr_long', [resultOf(2, randomText(2_000_000))]);
    await expect(read('wfr_long')).rejects.toMatchObject({ status: 413 });
  });
});

describe('the limit of an answer', () => {
  const entryOf = (bytes: number): Entry => ({
    messageId: 'msg_01K0000000000000000000000',
    body: Buffer.alloc(bytes),
  });
  /** Lambda returns the list as a string within JSON. */
  const payloadOf = (entries: readonly Entry[]): number =>
    Buffer.byteLength(JSON.stringify(lambdas.listBody(entries).toString()));

  it.each([1, 3, 1_000])('is reached by %i entries', (count) => {
    let [fits, not] = [0, 10_000_000];
    const listOf = (bytes: number) => [
      entryOf(bytes),
      ...Array.from({ length: count - 1 }, () => entryOf(3)),
    ];
    while (not - fits > 1) {
      const middle = Math.floor((fits + not) / 2);
      if (lambdas.fitsIntoAnswer(lambdas.listBytes(listOf(middle)), count)) fits = middle;
      else not = middle;
    }
    expect(payloadOf(listOf(fits))).toBeLessThanOrEqual(lambdas.largestText);
    expect(payloadOf(listOf(not))).toBeGreaterThan(lambdas.largestText);
  });
});

/** Returns a text that hardly compresses, so it is stored according to its length. */
function randomText(length: number): string {
  return Buffer.from(
    Array.from({ length: Math.ceil(length / 4) * 3 }, (_, index) => (index * 2_654_435_761) >>> 24),
  )
    .toString('base64')
    .slice(0, length);
}
