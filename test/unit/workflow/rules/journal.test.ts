import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  eventDigest,
  snapshotAfter,
  type Snapshot,
  type JournalRecord,
  type ListedEntry,
} from '../../../../lambdas/workflow/rules/journal.ts';
import { bodiesOf, entriesOf } from '../../../../lambdas/workflow/rules/entry.ts';
import { stepDetailsOf, type StepDetails } from '../../../../lambdas/workflow/rules/step.ts';
import { hasStep } from '../../../../lambdas/workflow/rules/placing.ts';
import { startSettings } from '../../../support/startSettings.ts';

const settings = startSettings();
const entryOf = (bodyBytes: number, step?: StepDetails): ListedEntry => ({
  messageId: `msg_${bodyBytes}`,
  url: settings.url,
  createdAt: 1,
  notBefore: 1,
  body: { at: 'bucket', key: `16d/acct/msg_${bodyBytes}` },
  bodyBytes,
  step,
});
const step = (stepId: number, kind: StepDetails['kind'] = 'result'): StepDetails => ({
  kind,
  stepId,
  stepName: 'step',
  stepType: 'Run',
  concurrent: 1,
});
const start: JournalRecord = { kind: 'start', at: 1_000, start: settings, entry: entryOf(10) };
const end: JournalRecord = { kind: 'end', at: 3_000, state: 'RUN_SUCCESS' };
const steps = (...entries: readonly ListedEntry[]): JournalRecord => ({ kind: 'steps', at: 2_000, entries });
const wait = (stepId: number, eventId: string): JournalRecord => ({
  kind: 'wait',
  at: 2_000,
  step: step(stepId),
  messageId: 'msg',
  eventId,
  url: settings.url,
  timeout: '7d',
  deadline: 9_000,
  timeoutUrl: settings.url,
  forwarded: [],
  timeoutForwarded: [],
  timeoutHeaders: [],
  headers: [],
});
const event = (eventId: string): JournalRecord => ({
  kind: 'event',
  at: 2_000,
  eventId,
  messageId: 'msg_event',
  body: { at: 'bucket', key: '16d/acct/msg_event' },
});

function fold(records: readonly JournalRecord[], keptUntil = 100): Snapshot {
  let snapshot: Snapshot | undefined;
  for (const record of records) snapshot = snapshotAfter(snapshot, record, keptUntil);
  if (snapshot === undefined) throw new Error('There are no records.');
  return snapshot;
}

describe('the snapshot after a record', () => {
  it('has the size of the list, and the run’s position in its journal', () => {
    const snapshot = fold([
      start,
      steps(entryOf(5, step(1))),
      steps(entryOf(1, step(2)), entryOf(2, step(3))),
    ]);
    expect(snapshot).toMatchObject({
      seq: 2,
      startSeq: 0,
      factsSeq: 0,
      createdAt: 1_000,
      state: 'RUN_STARTED',
      entries: 4,
      bodyBytes: 18,
      keptUntil: 100,
    });
    expect(snapshot.steps).toEqual({ result: '1-3' });
  });

  it('has nothing from earlier runs of its id', () => {
    const snapshot = fold([start, steps(entryOf(5, step(1))), wait(2, 'a'), event('b'), end, start]);
    expect(snapshot).toMatchObject({ seq: 5, startSeq: 5, entries: 1, steps: {}, waits: [], events: [] });
    expect([snapshot.endSeq, snapshot.failureState]).toEqual([undefined, undefined]);
  });

  it('has an upgrade’s settings, and where the run ended', () => {
    expect(fold([start, { kind: 'upgrade', at: 1, start: settings, messageId: 'msg' }]).factsSeq).toBe(1);
    const snapshot = fold([
      start,
      wait(1, 'a'),
      event('b'),
      end,
      { kind: 'failureFunction', at: 1, messageId: '' },
    ]);
    expect(snapshot).toMatchObject({ state: 'RUN_SUCCESS', seq: 4, endSeq: 3, waits: [], events: [] });
  });

  it('removes a wait with its result, and an event with the result that consumes it', () => {
    const waiting = [start, event('early'), wait(1, 'a'), wait(2, 'b')];
    expect(fold(waiting).waits.map(({ stepId }) => stepId)).toEqual([1, 2]);
    const woken = fold([...waiting, { kind: 'steps', at: 1, entries: [entryOf(1, step(1))], eventSeq: 1 }]);
    expect(woken.waits.map(({ stepId }) => stepId)).toEqual([2]);
    expect(woken.events).toEqual([]);
  });

  it('has each event and each wait by the digest of its name, which matches stored records', () => {
    expect(eventDigest('order-7')).toBe('34z4AifsMjeSLfDs');
    const snapshot = fold([start, event('early'), event('order-7'), wait(3, 'late')]);
    expect(snapshot.events).toEqual([
      { digest: eventDigest('early'), seq: 1 },
      { digest: eventDigest('order-7'), seq: 2 },
    ]);
    expect(snapshot.waits).toEqual([{ digest: eventDigest('late'), seq: 3, stepId: 3 }]);
    expect(hasStep(snapshot.steps, 'wait', 3)).toBe(true);
  });

  it('keeps events that a result does not consume, and waits that a plan does not end', () => {
    const waiting = [start, event('one'), event('two'), wait(1, 'a')];
    const woken: JournalRecord = { kind: 'steps', at: 1, entries: [entryOf(1, step(9))], eventSeq: 2 };
    expect(fold([...waiting, woken]).events).toEqual([{ digest: eventDigest('one'), seq: 1 }]);
    const planned = fold([...waiting, steps(entryOf(1, step(1, 'plan')))]);
    expect(planned.waits).toHaveLength(1);
    expect(planned.events).toHaveLength(2);
    expect(hasStep(planned.steps, 'plan', 1)).toBe(true);
  });

  it('has the started calls and invokes, so that a repeated submission starts none', () => {
    const call: JournalRecord = { kind: 'call', at: 1, step: step(1), messageId: 'msg' };
    const invoke: JournalRecord = {
      ...{ kind: 'invoke', at: 1, step: step(2), messageId: 'msg', runId: 'wfr_child' },
      ...{ createdAt: 1, url: settings.url },
    };
    const snapshot = fold([start, call, invoke]);
    expect([hasStep(snapshot.steps, 'call', 1), hasStep(snapshot.steps, 'invoke', 2)]).toEqual([true, true]);
    expect([hasStep(snapshot.steps, 'call', 2), hasStep(snapshot.steps, 'invoke', 1)]).toEqual([
      false,
      false,
    ]);
    expect(snapshot).toMatchObject({ seq: 2, entries: 1 });
  });

  it('has the run’s newest thousand webhooks until it ends', () => {
    const created = (stepId: number): ListedEntry =>
      entryOf(1, { ...step(stepId), kind: 'result', webhookId: `hook ${stepId}` });
    const two = fold([start, steps(created(1)), steps(entryOf(1, step(2)), created(3))]);
    expect(two.webhooks).toEqual([eventDigest('hook 1'), eventDigest('hook 3')]);
    const many = Array.from({ length: 1_001 }, (_, index) => created(index + 1));
    const full = fold([start, steps(...many)]).webhooks;
    expect([full.length, full[0], full.at(-1)]).toEqual([
      1_000,
      eventDigest('hook 2'),
      eventDigest('hook 1001'),
    ]);
    expect(fold([start, steps(created(1)), end]).webhooks).toEqual([]);
  });

  it('says if a run’s failure is being reported', () => {
    const failure = {
      messageId: 'msg',
      attempt: 3,
      dlqId: 'dlq',
      response: { status: 500, headers: [], body: Buffer.of() },
    };
    const failed = (requestId?: string): JournalRecord => ({
      ...{ kind: 'end', at: 1, state: 'RUN_FAILED' },
      failure: { ...failure, requestId },
    });
    expect(fold([start, failed('msg_told')]).failureState).toBe('CALLBACK_INPROGRESS');
    expect(fold([start, failed()]).failureState).toBeUndefined();
    expect(fold([start, end]).failureState).toBeUndefined();
    const told = fold([
      ...[start, failed('msg_told')],
      { kind: 'failureFunction', at: 1, state: 'CALLBACK_SUCCESS', messageId: 'msg_told' },
    ]);
    expect(told).toMatchObject({ state: 'RUN_FAILED', failureState: 'CALLBACK_SUCCESS' });
  });

  it('does not change the list for records that are shown in the log only or not at all', () => {
    const before = fold([start, end]);
    const late = snapshotAfter(before, { kind: 'lateResult', at: 1, entry: entryOf(7, step(1)) });
    expect(late).toMatchObject({ entries: 1, bodyBytes: 10, state: 'RUN_SUCCESS', endSeq: 1 });
    expect(hasStep(late.steps, 'result', 1)).toBe(true);
    expect(snapshotAfter(before, { kind: 'kept', at: 1 }, 500)).toEqual({
      ...before,
      seq: 2,
      keptUntil: 500,
    });
  });

  it('is kept as long as any record requires', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(), { minLength: 1 }), (times) => {
        let snapshot = snapshotAfter(undefined, start, 7);
        for (const keptUntil of times) snapshot = snapshotAfter(snapshot, { kind: 'kept', at: 1 }, keptUntil);
        expect(snapshot.keptUntil).toBe(Math.max(7, ...times));
      }),
    );
  });

  it('begins with a start', () => {
    expect(() => snapshotAfter(undefined, end)).toThrow('The first record of a journal is a start.');
  });
});

describe('a record', () => {
  it('has a step’s details beside its result', () => {
    const { kind: _kind, ...identity } = step(1);
    expect(stepDetailsOf({ ...identity, kind: 'result', out: 'x' })).toStrictEqual(step(1));
    const plan = { ...identity, kind: 'plan' } as const;
    expect(stepDetailsOf(plan)).toBe(plan);
  });

  it('has no body if the run returned nothing', () => {
    const ended: JournalRecord = { kind: 'end', at: 1, state: 'RUN_SUCCESS', responseId: 'msg_response' };
    expect(bodiesOf(ended)).toEqual([]);
  });

  it('locates each of its bodies', () => {
    const late: JournalRecord = { kind: 'lateResult', at: 1, entry: entryOf(3) };
    const returned: JournalRecord = {
      ...{ kind: 'end', at: 1, state: 'RUN_SUCCESS', responseId: 'msg_response' },
      response: { at: 'bucket', key: '16d/acct/msg_response' },
    };
    const records = [start, steps(entryOf(1), entryOf(2)), event('a'), late, returned, wait(1, 'a'), end];
    for (const record of records) {
      for (const { path, body } of bodiesOf(record)) {
        let at: unknown = record;
        for (const part of path)
          at = Object.entries(Object(at) as object).find(([key]) => key === String(part))?.[1];
        expect(at).toEqual(body);
      }
    }
    expect(records.map((record) => bodiesOf(record).map(({ messageId }) => messageId))).toEqual([
      ['msg_10'],
      ['msg_1', 'msg_2'],
      ['msg_event'],
      ['msg_3'],
      ['msg_response'],
      [],
      [],
    ]);
    expect(records.flatMap(entriesOf).map(({ messageId }) => messageId)).toEqual([
      'msg_10',
      'msg_1',
      'msg_2',
    ]);
  });
});
