import { deflateRawSync } from 'node:zlib';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { imported } from '../../../support/imported.ts';
import { fixture, runFixture, useRuns } from '../../../support/useRuns.ts';
import * as z from 'zod/mini';
import type { StepsRecord } from '../../../../lambdas/workflow/rules/journal.ts';
import { resultOf } from '../../../support/runFixture.ts';

/** Deliveries of a run read its journal once in a process, and still see all that was written before. */

let rowsRead = 0;
useRuns(() => {
  fixture.dynamodb.middlewareStack.add(
    (next) => async (args) => {
      const result = await next(args);
      const { input } = args;
      if ('TableName' in input && input.TableName === fixture.settings.workflowsTable) {
        const { output } = result;
        if ('Items' in output) rowsRead += output.Items?.length ?? 0;
      }
      return result;
    },
    { step: 'initialize', name: 'rowsRead' },
  );
});
const lambdas = imported(async () => ({
  ...(await import('../../../../lambdas/workflow/runs/knownRuns.ts')),
  ...(await import('../../../../lambdas/workflow/runs/changeRun.ts')),
  ...(await import('../../../../lambdas/workflow/runs/listBody.ts')),
  ...(await import('../../../../lambdas/workflow/runs/loadRun.ts')),
  ...(await import('../../../../lambdas/workflow/runs/entryBodies.ts')),
  ...(await import('../../../../lambdas/message/bodies.ts')),
  ...(await import('../../../../lambdas/aws/resources.ts')),
}));
beforeEach(() => {
  rowsRead = 0;
});

const load = (runId: string, startSeq = 0) => lambdas.loadRunList(runFixture.keyOf(runId), startSeq);
const entriesOf = async (runId: string): Promise<number | undefined> => (await load(runId))?.list.entries;

/** Returns the list as read without the process’s memory. */
async function wholeList(runId: string): Promise<string> {
  const run = await lambdas.loadRun(runFixture.keyOf(runId), 0);
  return lambdas.listBody(await lambdas.loadEntryBodies(run?.entries ?? [])).toString();
}
const knownList = async (runId: string): Promise<string | undefined> => {
  const run = await load(runId);
  return (await run?.list.bodyOf(run.list.entries))?.toString();
};

/** Their bodies are in the list’s text, in their record, and in the bucket. */
const texts = ['"small"', JSON.stringify('ü'.repeat(4_000)), JSON.stringify(noise(60_000)), '"last"'];

function noise(length: number): string {
  const bytes = Array.from({ length }, (_, index) => (index * 2_654_435_761) >>> 24);
  return Buffer.from(bytes).toString('base64').slice(0, length);
}

describe('a run that is read again', () => {
  it('costs only the records that were written since', async () => {
    await runFixture.start('wfr_since');
    for (let stepId = 1; stepId <= 5; stepId += 1) await runFixture.submit('wfr_since', [resultOf(stepId)]);
    rowsRead = 0;
    expect(await entriesOf('wfr_since')).toBe(6);
    expect(rowsRead).toBe(6);
    expect(await entriesOf('wfr_since')).toBe(6);
    expect(rowsRead).toBe(6);
    await runFixture.append('wfr_since', { kind: 'kept', at: Date.now() });
    rowsRead = 0;
    expect(await entriesOf('wfr_since')).toBe(6);
    expect(rowsRead).toBe(1);
  });

  it('shows each beginning of its list exactly, wherever the bodies are stored', async () => {
    await runFixture.start('wfr_beginnings', { payload: 'not JSON ü' });
    for (const [index, text] of texts.entries()) {
      await runFixture.submit('wfr_beginnings', [resultOf(index + 1, text)]);
      expect(await knownList('wfr_beginnings')).toBe(await wholeList('wfr_beginnings'));
    }
    const run = await load('wfr_beginnings');
    const all = z.array(z.unknown()).parse(JSON.parse((await knownList('wfr_beginnings')) ?? ''));
    for (let entries = 1; entries <= all.length; entries += 1) {
      const body = await run?.list.bodyOf(entries);
      expect(body?.toString()).toBe(JSON.stringify(all.slice(0, entries)));
      expect(run?.list.bytesOf(entries)).toBe(body?.length);
    }
  });

  it('includes everything that was written before the call, even while others read it', async () => {
    await runFixture.start('wfr_turns');
    const calls: Promise<number | undefined>[] = [];
    for (let stepId = 1; stepId <= 10; stepId += 1) {
      calls.push(entriesOf('wfr_turns'));
      await runFixture.submit('wfr_turns', [resultOf(stepId)]);
      const entries = await Promise.all([entriesOf('wfr_turns'), entriesOf('wfr_turns')]);
      expect(entries).toEqual([stepId + 1, stepId + 1]);
    }
    await Promise.all(calls);
  });

  it('is read once for many simultaneous callers', async () => {
    await runFixture.start('wfr_together');
    for (let stepId = 1; stepId <= 3; stepId += 1)
      await runFixture.submit('wfr_together', [resultOf(stepId)]);
    rowsRead = 0;
    const queries = fixture.callsOf('QueryCommand');
    const entries = await Promise.all(Array.from({ length: 50 }, () => entriesOf('wfr_together')));
    expect(new Set(entries)).toEqual(new Set([4]));
    expect(rowsRead).toBe(4);
    expect(fixture.callsOf('QueryCommand') - queries).toBe(1);
  });

  it('is missing once it has ended, or if its id belongs to another run', async () => {
    await runFixture.start('wfr_over');
    expect(await entriesOf('wfr_over')).toBe(1);
    await runFixture.append('wfr_over', { kind: 'end', at: Date.now(), state: 'RUN_CANCELED' });
    expect(await load('wfr_over')).toBeUndefined();
    await runFixture.start('wfr_over', { payload: 'second' });
    const { startSeq } = await runFixture.snapshotOf('wfr_over');
    expect(await load('wfr_over')).toBeUndefined();
    expect((await load('wfr_over', startSeq))?.list.entries).toBe(1);
  });

  it('has the latest settings, and the payload’s place for the message that delivers it again', async () => {
    const { messageId } = await runFixture.start('wfr_upgrade', { details: { isUnknownClient: true } });
    const before = await load('wfr_upgrade');
    if (before === undefined) throw new Error('The run is not there.');
    const start = { ...before.start, isUnknownClient: false };
    await runFixture.append('wfr_upgrade', {
      kind: 'upgrade',
      at: Date.now(),
      start,
      messageId: 'msg_again',
    });
    const after = await load('wfr_upgrade');
    expect([before.start.isUnknownClient, after?.start.isUnknownClient]).toEqual([true, false]);
    expect(after?.placeOf('msg_again')).toEqual({ entries: 1, forwarded: [] });
    expect(after?.placeOf('msg_again')).toEqual(after?.placeOf(messageId));
  });

  it('is read from its beginning if its bodies were moved by an extension', async () => {
    await runFixture.start('wfr_moved', { payload: noise(60_000) });
    const key = runFixture.keyOf('wfr_moved');
    const [first] = (await lambdas.loadRun(key, 0))?.entries ?? [];
    if (first === undefined) throw new Error('The payload is not there.');
    const list = await knownList('wfr_moved');
    const until = (await runFixture.snapshotOf('wfr_moved')).keptUntil + 100 * 86_400_000;
    const part = { role: 'list', runId: 'wfr_moved', createdAt: 0, startSeq: 0 } as const;
    await lambdas.extendRunFor(key.accountId, part, until);
    await lambdas.deleteBody(first.messageId, first.body);
    expect(await knownList('wfr_moved')).toBe(list);
  });

  it('is read from its beginning after a minute without use', async () => {
    const time = Date.now();
    const clock = vi.spyOn(Date, 'now').mockReturnValue(time);
    await runFixture.start('wfr_idle');
    await runFixture.submit('wfr_idle', [resultOf(1)]);
    await entriesOf('wfr_idle');
    clock.mockReturnValue(time + 59_000);
    rowsRead = 0;
    await entriesOf('wfr_idle');
    expect(rowsRead).toBe(0);
    clock.mockReturnValue(time + 59_000 + 61_000);
    await entriesOf('wfr_idle');
    expect(rowsRead).toBe(2);
  });
});

describe('the runs in a process’s memory', () => {
  const bodyBytes = 4_096;
  const entriesOfRecord = 300;
  const bytes = deflateRawSync(Buffer.alloc(bodyBytes));
  const record = (name: string): StepsRecord => ({
    kind: 'steps',
    at: Date.now(),
    entries: Array.from({ length: entriesOfRecord }, (_, index) => ({
      messageId: `msg_${name}_${index}`,
      url: 'https://flow.example/',
      createdAt: 0,
      notBefore: 0,
      body: { at: 'here', bytes, deflated: true },
      bodyBytes,
    })),
  });

  it('do not exceed their memory limit: the least recently used ones are removed', async () => {
    // Each takes more than a third of the memory.
    const records = Math.ceil(lambdas.knownRunsBytes / 3 / (entriesOfRecord * bodyBytes * (4 / 3)));
    const names = ['wfr_a', 'wfr_b', 'wfr_c'];
    for (const name of names) {
      await runFixture.start(name);
      for (let count = 0; count < records; count += 1) {
        await runFixture.append(name, record(`${name}_${count}`));
      }
    }
    for (const name of names) await load(name);
    rowsRead = 0;
    await load('wfr_c');
    await load('wfr_b');
    expect(rowsRead).toBe(0);
    await load('wfr_a');
    expect(rowsRead).toBe(records + 1);
  });
});
