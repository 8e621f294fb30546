import { describe, expect, it } from 'vitest';
import type { JournalRecord, ListedEntry } from '../../../../../lambdas/workflow/rules/journal.ts';
import { runMessagesOf, type ShownStep } from '../../../../../lambdas/workflow/log/rules/runMessage.ts';
import { startSettings } from '../../../../support/startSettings.ts';

const start = startSettings({
  forwarded: [
    ['x-tenant', 'acme'],
    ['x-trace', 'of the run'],
  ],
  settings: { maxRetries: 3, retryDelay: '1000', labels: [], timeoutMs: 1_000 },
});
const [at, notBefore] = [1_000, 5_000];
const step = (stepId: number) =>
  ({ stepId, stepName: `step ${stepId}`, stepType: 'Run', concurrent: 1 }) as const;
const entry = (messageId: string, more: Partial<ListedEntry> = {}): ListedEntry => ({
  messageId,
  url: start.url,
  createdAt: at,
  notBefore,
  body: { at: 'bucket', key: messageId },
  bodyBytes: 1,
  ...more,
});
const started: JournalRecord = { kind: 'start', at, start, entry: entry('init') };
const failure = { status: 500, error: 'no', headers: {}, body: '', time: 1 } as const;
const delivered = { failures: [], end: 'DELIVERED' } as const;

type Known = Parameters<typeof runMessagesOf>[2];

const messagesOf = (records: readonly JournalRecord[], known: Partial<Known> = {}) =>
  runMessagesOf(start, records, {
    histories: new Map(),
    texts: new Map(),
    others: new Map(),
    headersOf: (headers) => headers.map(([name, value]) => [name, `shown ${value}`]),
    ...known,
  });

const runHeaders = { 'X-Tenant': ['shown acme'], 'X-Trace': ['shown of the run'] };
const shown = (messageId: string, of: ReturnType<typeof step>, more: Partial<ShownStep> = {}): ShownStep => ({
  ...of,
  callType: 'step',
  state: 'STEP_PROGRESS',
  messageId,
  createdAt: at,
  headers: runHeaders,
  retries: 3,
  retryDelay: '1000',
  ...more,
});

describe('an entry of the list', () => {
  it('is the payload if it has no step, and is due when it may be delivered', () => {
    expect(messagesOf([started], { texts: new Map([['init', '{"n":1}']]) })).toEqual([
      {
        kind: 'initial',
        failures: [],
        nextDeliveryAt: notBefore,
        step: {
          ...{
            stepName: 'init',
            stepType: 'Initial',
            callType: 'step',
            concurrent: 1,
            state: 'STEP_SUCCESS',
          },
          ...{ messageId: 'init', createdAt: at, headers: runHeaders, retries: 3, retryDelay: '1000' },
          out: '{"n":1}',
        },
      },
    ]);
  });

  it('has its message’s history once there is a message', () => {
    for (const history of [{ failures: [failure], nextDeliveryAt: 9_000 }, delivered] as const) {
      const [message] = messagesOf([started], { histories: new Map([['init', history]]) });
      expect(message).toMatchObject(history);
      expect(message?.nextDeliveryAt).toBe('nextDeliveryAt' in history ? history.nextDeliveryAt : undefined);
    }
    const untouched = new Map([['init', { failures: [] }]]);
    expect(messagesOf([started], { histories: untouched })[0]?.nextDeliveryAt).toBe(notBefore);
  });

  it('is a plan or a result, and prefers its own headers and settings to the run’s', () => {
    const ended = { sleepUntil: 1.2345678, waitEventId: 'paid', waitTimeout: true, webhookId: 'not shown' };
    const entries = [
      entry('plan', { step: { kind: 'plan', ...step(1), sleepFor: 1.5 } }),
      entry('result', {
        step: { kind: 'result', ...step(2), ...ended },
        forwarded: [['x-trace', 'of the step']],
        settings: { maxRetries: 1, retryDelay: '7', labels: [] },
      }),
      entry('other', { step: { kind: 'result', ...step(3) } }),
    ];
    const texts = new Map([
      ['plan', 'not shown'],
      ['result', '"out"'],
    ]);
    const due = { failures: [], nextDeliveryAt: notBefore };
    expect(messagesOf([{ kind: 'steps', at, entries, isCopy: true }], { texts })).toEqual([
      { kind: 'plan', ...due, step: shown('plan', step(1), { sleepFor: 1_500, kept: true }) },
      {
        kind: 'result',
        ...due,
        step: shown('result', step(2), {
          ...{
            state: 'STEP_SUCCESS',
            out: '"out"',
            sleepUntil: 1_235,
            kept: true,
            retries: 1,
            retryDelay: '7',
          },
          headers: { 'X-Tenant': ['shown acme'], 'X-Trace': ['shown of the step'] },
        }),
        details: { waitEventId: 'paid', waitTimeout: true },
      },
      {
        kind: 'result',
        ...due,
        step: shown('other', step(3), { state: 'STEP_SUCCESS', kept: true }),
        details: {},
      },
    ]);
  });

  it('after the end of its run is never delivered', () => {
    const late = entry('late', { step: { kind: 'result', ...step(1) } });
    expect(messagesOf([started, { kind: 'lateResult', at, entry: late }])[1]).toMatchObject({
      kind: 'result',
      end: 'DELIVERED',
      step: { messageId: 'late' },
    });
  });
});

describe('the payload of a run with an unknown client', () => {
  const upgrade: JournalRecord = { kind: 'upgrade', at: 7_000, start, messageId: 'again' };
  const next: JournalRecord = {
    kind: 'steps',
    at,
    entries: [entry('result', { step: { kind: 'result', ...step(1) } })],
  };

  it('has the failures and requests of both deliveries, and continues like the second one', () => {
    const request = { messageId: 'again', retried: 0, startedAt: 1, endedAt: 2, status: 500 };
    const histories: Known['histories'] = new Map([
      ['init', { failures: [failure], end: 'DELIVERED' as const }],
      ['again', { failures: [{ ...failure, error: 'again' }], requests: [request], nextDeliveryAt: 9_000 }],
    ]);
    const messages = messagesOf([started, next, upgrade], { histories });
    expect(messages.map((message) => message.step.messageId)).toEqual(['init', 'result']);
    expect(messages[0]).toMatchObject({
      kind: 'initial',
      failures: [failure, { ...failure, error: 'again' }],
      requests: [request],
      end: undefined,
      nextDeliveryAt: 9_000,
    });
  });

  it('is delivered again at once', () => {
    const [first] = messagesOf([started, upgrade], { histories: new Map([['init', delivered]]) });
    expect(first).toMatchObject({ end: undefined, requests: [], nextDeliveryAt: 7_000 });
    expect(messagesOf([upgrade])).toEqual([]);
  });
});

describe('a step that ends elsewhere', () => {
  it('is a call, with the facts known about it', () => {
    const call: JournalRecord = { kind: 'call', at, step: step(1), messageId: 'call' };
    const begun = shown('call', step(1), { callType: 'toCallback', headers: {} });
    expect(messagesOf([call])).toEqual([
      { kind: 'call', failures: [], step: begun, details: { callHeaders: {} } },
    ]);
    const found = { step: { retries: 0 }, details: { callUrl: 'https://third.example/', callMethod: 'PUT' } };
    const failed = { failures: [failure], end: 'FAILED' } as const;
    const histories: Known['histories'] = new Map([['call', failed]]);
    expect(messagesOf([call], { histories, others: new Map([['call', found]]) })).toEqual([
      { kind: 'call', ...failed, step: { ...begun, retries: 0 }, details: found.details },
    ]);
    const callback = { ...delivered, messageId: 'answer' };
    expect(messagesOf([call], { others: new Map([['call', { callback }]]) })[0]).toMatchObject({
      step: { callType: 'fromCallback' },
      callback,
    });
  });

  it('is a wait, with the headers with which its event is delivered', () => {
    const wait: JournalRecord = {
      ...{ kind: 'wait', at, step: step(1), messageId: 'wait', eventId: 'paid', url: start.url },
      ...{ timeout: '7d', deadline: 9_000, timeoutUrl: start.url, forwarded: [['x-a', 'b']] },
      ...{ timeoutForwarded: [], headers: [], timeoutHeaders: [] },
    };
    expect(messagesOf([wait], { histories: new Map([['wait', delivered]]) })).toEqual([
      {
        kind: 'wait',
        failures: [],
        step: shown('wait', step(1), { headers: { 'X-A': ['shown b'] } }),
        details: { waitEventId: 'paid', waitTimeoutDuration: '7d', waitTimeoutDeadline: 9_000 },
      },
    ]);
  });

  it('is an invoked run, with the facts known about its start', () => {
    const child = { runId: 'wfr_child', createdAt: 1_100, url: 'https://flow.example/child' };
    const invoke: JournalRecord = { kind: 'invoke', at, step: step(1), messageId: 'invoke', ...child };
    const details = {
      invokedWorkflowRunId: child.runId,
      invokedWorkflowUrl: child.url,
      invokedWorkflowCreatedAt: child.createdAt,
    };
    const message = { kind: 'invoke', failures: [], step: shown('invoke', step(1), { headers: {} }) };
    expect(messagesOf([invoke])).toEqual([
      { ...message, details: { ...details, invokedWorkflowRunHeaders: {} } },
    ]);
    const known = { invokedWorkflowRunBody: 'payload', invokedWorkflowRunHeaders: { A: ['b'] } };
    expect(messagesOf([invoke], { others: new Map([['invoke', { details: known }]]) })).toEqual([
      { ...message, details: { ...details, ...known } },
    ]);
  });
});

it('An entry without a message adds nothing to the log', () => {
  const body = { at: 'bucket', key: 'event' } as const;
  expect(
    messagesOf([
      { kind: 'event', at, eventId: 'paid', messageId: 'event', body },
      { kind: 'failureFunction', at, messageId: 'failure' },
      { kind: 'kept', at },
      { kind: 'end', at, state: 'RUN_SUCCESS' },
    ]),
  ).toEqual([]);
});
