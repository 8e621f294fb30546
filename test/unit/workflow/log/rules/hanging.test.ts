import { describe, expect, it } from 'vitest';
import { hangingOf, quietMs } from '../../../../../lambdas/workflow/log/rules/hanging.ts';
import type { MadeRequest, RunMessage } from '../../../../../lambdas/workflow/log/rules/runMessage.ts';
import type { JournalRecord, Snapshot } from '../../../../../lambdas/workflow/rules/journal.ts';

const snapshot: Snapshot = {
  seq: 3,
  startSeq: 0,
  factsSeq: 0,
  createdAt: 1_000,
  state: 'RUN_STARTED',
  entries: 1,
  bodyBytes: 0,
  steps: {},
  waits: [],
  events: [],
  webhooks: [],
  keptUntil: Infinity,
};

const records: readonly JournalRecord[] = [{ kind: 'kept', at: 2_000 }];

const request = (messageId: string, endedAt: number): MadeRequest => ({
  messageId,
  retried: 0,
  startedAt: endedAt - 10,
  endedAt,
  status: 200,
});

const pending = (messageId: string, stepId?: number, concurrent = 1) => ({
  failures: [],
  step: {
    stepId,
    stepName: 'step',
    stepType: 'Run' as const,
    callType: 'step' as const,
    concurrent,
    state: 'STEP_PROGRESS' as const,
    messageId,
    createdAt: 1_000,
    headers: {},
    retries: 3,
  },
});
const delivered = (messageId: string, stepId?: number, concurrent?: number, at = 2_500) => ({
  ...pending(messageId, stepId, concurrent),
  end: 'DELIVERED' as const,
  requests: [request(messageId, at)],
});
const failed = { status: 503, error: 'no', headers: {}, body: '', time: 2_000 };

const initial: RunMessage = { kind: 'initial', ...delivered('msg_0') };
const now = 2_500 + quietMs;
const hanging = (messages: readonly RunMessage[], of: Partial<Snapshot> = {}, at = now) =>
  hangingOf({ ...snapshot, ...of }, records, messages, at);

describe('a run hangs', () => {
  it('one minute after the last of its deliveries has ended', () => {
    expect(hanging([initial])).toEqual({ since: 2_500, last: request('msg_0', 2_500) });
    expect(hanging([initial], {}, now - 1)).toBeUndefined();
  });

  it('if a branch was delivered without a result, even if others have results', () => {
    const branches: RunMessage[] = [
      { kind: 'plan', ...delivered('msg_1', 1, 2) },
      { kind: 'plan', ...delivered('msg_2', 2, 2) },
      { kind: 'result', ...pending('msg_3', 2, 2) },
    ];
    const steps = { plan: '1', result: '2' };
    // A branch’s result brings no step while other branches are open, and its records may have expired.
    expect(hanging([initial, ...branches], { steps })).toMatchObject({ since: 2_500 });
  });

  it('if it was resumed within a parallel group, and the entry before it was not delivered again', () => {
    const branch: RunMessage = { kind: 'plan', ...delivered('msg_2', 2, 2) };
    const kept: RunMessage = { kind: 'result', ...pending('msg_1', 1, 2) };
    const steps = { plan: '2', result: '1' };
    expect(hanging([{ kind: 'initial', ...pending('msg_0') }, kept, branch], { steps })).toBeDefined();
  });

  it('even if the records of old deliveries have expired', () => {
    const old: RunMessage = { kind: 'initial', ...pending('msg_0') };
    const last: RunMessage = { kind: 'result', ...delivered('msg_1', 1) };
    expect(hanging([old, last], { steps: { result: '1' } })).toBeDefined();
  });

  it('if the answer to a call was delivered, and its endpoint did not submit the result', () => {
    const call: RunMessage = {
      kind: 'call',
      ...delivered('msg_1', 1, 1, 1_500),
      callback: { messageId: 'msg_2', failures: [], end: 'DELIVERED', requests: [request('msg_2', 2_700)] },
    };
    const of = hanging([initial, call], { steps: { call: '1' } }, 2_700 + quietMs);
    expect(of).toEqual({ since: 2_700, last: request('msg_2', 2_700) });
  });
});

describe('a run does not hang', () => {
  const plan: RunMessage = { kind: 'plan', ...pending('msg_1', 1, 2) };
  const call = (more: object): RunMessage => ({
    kind: 'call',
    ...delivered('msg_1', 1),
    ...more,
  });
  it.each<[string, readonly RunMessage[], Partial<Snapshot>]>([
    ['when it has ended', [initial], { state: 'RUN_SUCCESS' }],
    ['while it waits for an event', [initial], { waits: [{ digest: 'x', seq: 1, stepId: 1 }] }],
    ['while it waits for a run', [initial], { steps: { invoke: '1' } }],
    ['while a delivery is to come', [{ kind: 'initial', ...pending('msg_0') }], {}],
    ['while a branch is', [initial, plan], { steps: { plan: '1-2' } }],
    ['while an old delivery is retried', [{ ...initial, end: undefined, failures: [failed] }, plan], {}],
    ['while a call is made', [initial, call({ end: undefined })], { steps: { call: '1' } }],
    [
      'while its answer is brought',
      [initial, call({ callback: { messageId: 'msg_2', failures: [] } })],
      { steps: { call: '1' } },
    ],
  ])('%s', (_when, messages, of) => {
    expect(hanging(messages, of)).toBeUndefined();
  });
});
