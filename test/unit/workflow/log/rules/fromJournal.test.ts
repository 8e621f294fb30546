import { describe, expect, it } from 'vitest';
import type { JournalRecord, ListedEntry } from '../../../../../lambdas/workflow/rules/journal.ts';
import { type KnownMessages, runMessagesOf } from '../../../../../lambdas/workflow/log/rules/fromJournal.ts';
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
const failure = { status: 500, error: 'no', headers: [], body: '', time: 1 } as const;

const messagesOf = (records: readonly JournalRecord[], known: Partial<KnownMessages> = {}) =>
  runMessagesOf(start, records, {
    histories: new Map(),
    texts: new Map(),
    calls: new Map(),
    invoked: new Map(),
    headersOf: (headers) => headers.map(([name, value]) => [name, `shown ${value}`]),
    ...known,
  });

const ofRun = { maxRetries: 3, retryDelay: '1000' };
const runHeaders = [
  ['x-tenant', 'shown acme'],
  ['x-trace', 'shown of the run'],
];

describe('an entry of the list', () => {
  it('is the payload if it has no step, and is due when it may be delivered', () => {
    expect(messagesOf([started], { texts: new Map([['init', '{"n":1}']]) })).toEqual([
      {
        kind: 'initial',
        messageId: 'init',
        createdAt: at,
        ...ofRun,
        headers: runHeaders,
        failures: [],
        nextDeliveryAt: notBefore,
        payload: '{"n":1}',
      },
    ]);
  });

  it('has its message’s history once there is a message', () => {
    for (const history of [
      { failures: [failure], nextDeliveryAt: 9_000 },
      { failures: [], end: 'DELIVERED' },
    ] as const) {
      const [message] = messagesOf([started], { histories: new Map([['init', history]]) });
      expect(message).toMatchObject(history);
      expect(message?.nextDeliveryAt).toBe('nextDeliveryAt' in history ? history.nextDeliveryAt : undefined);
    }
    const untouched = new Map([['init', { failures: [] }]]);
    expect(messagesOf([started], { histories: untouched })[0]?.nextDeliveryAt).toBe(notBefore);
  });

  it('is a plan or a result, and prefers its own headers and settings to the run’s', () => {
    const forwarded = [['x-trace', 'of the step']] as const;
    const records: readonly JournalRecord[] = [
      {
        kind: 'steps',
        at,
        entries: [
          entry('plan', { step: { kind: 'plan', ...step(1), sleepFor: 1.5 } }),
          entry('result', {
            step: {
              kind: 'result',
              ...step(2),
              sleepUntil: 1.2345678,
              waitEventId: 'paid',
              waitTimeout: true,
              webhookId: 'not shown',
            },
            forwarded,
            settings: { maxRetries: 1, retryDelay: '7', labels: [] },
          }),
        ],
      },
    ];
    expect(messagesOf(records, { texts: new Map([['result', '"out"']]) })).toEqual([
      {
        kind: 'plan',
        messageId: 'plan',
        createdAt: at,
        ...ofRun,
        headers: runHeaders,
        failures: [],
        nextDeliveryAt: notBefore,
        step: step(1),
        sleepFor: 1_500,
      },
      {
        kind: 'result',
        messageId: 'result',
        createdAt: at,
        maxRetries: 1,
        retryDelay: '7',
        headers: [
          ['x-tenant', 'shown acme'],
          ['x-trace', 'shown of the step'],
        ],
        failures: [],
        nextDeliveryAt: notBefore,
        step: step(2),
        sleepUntil: 1_235,
        out: '"out"',
        waitEventId: 'paid',
        waitTimeout: true,
      },
    ]);
  });

  it('after the end of its run is never delivered', () => {
    const late = entry('late', { step: { kind: 'result', ...step(1) } });
    expect(messagesOf([started, { kind: 'lateResult', at, entry: late }])[1]).toMatchObject({
      kind: 'result',
      messageId: 'late',
      end: 'DELIVERED',
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

  it('has the failures of both deliveries, and continues like the second one', () => {
    const histories = new Map([
      ['init', { failures: [failure], end: 'DELIVERED' }],
      ['again', { failures: [{ ...failure, error: 'again' }], nextDeliveryAt: 9_000 }],
    ] as const);
    const messages = messagesOf([started, next, upgrade], { histories });
    expect(messages.map(({ messageId }) => messageId)).toEqual(['init', 'result']);
    expect(messages[0]).toMatchObject({
      kind: 'initial',
      failures: [failure, { ...failure, error: 'again' }],
      end: undefined,
      nextDeliveryAt: 9_000,
    });
  });

  it('is delivered again at once', () => {
    const histories = new Map([['init', { failures: [], end: 'DELIVERED' }]] as const);
    const [first] = messagesOf([started, upgrade], { histories });
    expect(first).toMatchObject({ end: undefined, nextDeliveryAt: 7_000 });
    expect(messagesOf([upgrade])).toEqual([]);
  });
});

describe('a step that ends elsewhere', () => {
  it('is a call, with the facts known about it', () => {
    const call: JournalRecord = { kind: 'call', at, step: step(1), messageId: 'call' };
    expect(messagesOf([call])).toEqual([
      {
        kind: 'call',
        messageId: 'call',
        step: step(1),
        createdAt: at,
        ...ofRun,
        headers: [],
        failures: [],
      },
    ]);
    const known = {
      maxRetries: 0,
      headers: [['a', 'b']],
      url: 'https://third.example/',
      method: 'PUT',
    } as const;
    const histories = new Map([['call', { failures: [failure], end: 'FAILED' }]] as const);
    const [shown] = messagesOf([call], { histories, calls: new Map([['call', known]]) });
    expect(shown).toMatchObject({ ...known, failures: [failure], end: 'FAILED' });
    expect(shown).not.toHaveProperty('retryDelay');
  });

  it('is a wait, with the headers with which its event is delivered', () => {
    const wait: JournalRecord = {
      kind: 'wait',
      at,
      step: step(1),
      messageId: 'wait',
      eventId: 'paid',
      url: start.url,
      timeout: '7d',
      deadline: 9_000,
      timeoutUrl: start.url,
      forwarded: [['x-a', 'b']],
      timeoutForwarded: [],
      headers: [],
      timeoutHeaders: [],
    };
    expect(messagesOf([wait])).toEqual([
      {
        kind: 'wait',
        messageId: 'wait',
        step: step(1),
        createdAt: at,
        ...ofRun,
        headers: [['x-a', 'shown b']],
        failures: [],
        eventId: 'paid',
        timeout: '7d',
        deadline: 9_000,
      },
    ]);
  });

  it('is an invoked run, with the facts known about its start', () => {
    const invoke: JournalRecord = {
      kind: 'invoke',
      at,
      step: step(1),
      messageId: 'invoke',
      runId: 'wfr_child',
      createdAt: 1_100,
      url: 'https://flow.example/child',
    };
    const shown = {
      kind: 'invoke',
      messageId: 'invoke',
      step: step(1),
      createdAt: at,
      ...ofRun,
      failures: [],
      runId: 'wfr_child',
      url: 'https://flow.example/child',
      startedAt: 1_100,
    };
    expect(messagesOf([invoke])).toEqual([{ ...shown, headers: [] }]);
    const invoked = new Map([['invoke', { body: 'payload', headers: [['a', 'b']] as const }]]);
    expect(messagesOf([invoke], { invoked })).toEqual([{ ...shown, body: 'payload', headers: [['a', 'b']] }]);
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
