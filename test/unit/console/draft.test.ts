import { describe, expect, it } from 'vitest';
import * as described from '../../../lambdas/options/described.ts';
import { inLabels, isOfCallback, settingHeaders } from '../../../console/src/ui/settingTexts.ts';
import {
  draftOf,
  emptyDraft,
  fieldOf,
  problemsOf,
  requestOf,
  type Draft,
} from '../../../console/src/screens/publish/draft.ts';

const request = (draft: Partial<Draft>) =>
  requestOf({ ...emptyDraft, destination: 'https://example.com/a', ...draft });

describe('the request of a draft', () => {
  it('contains the given settings and nothing else', () => {
    expect(request({})).toEqual({ path: 'v2/publish/https://example.com/a', headers: [], query: [] });
    expect(
      request({
        body: '{}',
        headers: 'X-Tenant: acme\n\n x-empty :\nSvc-Callback-Retries: 1\nX-Time: 12:30\n',
        queue: 'orders',
        settings: {
          method: 'PUT',
          delay: '10m',
          'not-before': '1900000000',
          timeout: '30s',
          retries: '2',
          'retry-delay': 'pow(2, retried)',
          circuit: 'off',
          'flow-control-key': 'tenant-7',
          parallelism: '3',
          period: '1m',
          callback: 'https://example.com/done',
          'failure-callback': 'https://example.com/failed',
          label: 'a, b',
          'redact-fields': 'body',
          'deduplication-id': 'order-1',
          'content-based-deduplication': 'true',
        },
      }),
    ).toEqual({
      path: 'v2/enqueue/orders/https://example.com/a',
      headers: [
        ['Content-Type', 'application/json'],
        ['Svc-Method', 'PUT'],
        ['Svc-Delay', '10m'],
        ['Svc-Not-Before', '1900000000'],
        ['Svc-Timeout', '30s'],
        ['Svc-Retries', '2'],
        ['Svc-Retry-Delay', 'pow(2, retried)'],
        ['Svc-Circuit', 'off'],
        ['Svc-Flow-Control-Key', 'tenant-7'],
        ['Svc-Flow-Control-Value', 'parallelism=3, period=1m'],
        ['Svc-Callback', 'https://example.com/done'],
        ['Svc-Failure-Callback', 'https://example.com/failed'],
        ['Svc-Label', 'a, b'],
        ['Svc-Redact-Fields', 'body'],
        ['Svc-Deduplication-Id', 'order-1'],
        ['Svc-Content-Based-Deduplication', 'true'],
        ['Svc-Forward-X-Tenant', 'acme'],
        ['Svc-Forward-x-empty', ''],
        ['Svc-Callback-Retries', '1'],
        ['Svc-Forward-X-Time', '12:30'],
      ],
      query: [],
      body: '{}',
    });
  });

  it.each([
    ['http://127.0.0.1:3000/a_b-c~d.e', 'http://127.0.0.1:3000/a_b-c~d.e'],
    ['orders', 'orders'],
    [
      'https://example.com/a?b=c&svc-retries=1#d',
      'https%3A%2F%2Fexample.com%2Fa%3Fb%3Dc%26svc-retries%3D1%23d',
    ],
    ['https://example.com/%2F', 'https%3A%2F%2Fexample.com%2F%252F'],
    ['https://example.com//a', 'https%3A%2F%2Fexample.com%2F%2Fa'],
    ['https://example.com/a/.', 'https%3A%2F%2Fexample.com%2Fa%2F.'],
    ['https://user:pass@example.com/ü', 'https%3A%2F%2Fuser%3Apass%40example.com%2F%C3%BC'],
  ])(
    'has the destination %s encoded in its path so that nothing on the way changes it',
    (destination, inPath) => {
      expect(request({ destination }).path).toBe(`v2/publish/${inPath}`);
    },
  );

  it('has settings in its query that do not fit into a header', () => {
    expect(request({ settings: { label: 'grün' }, headers: 'X-Name: José\nX-Tenant: acme' })).toEqual({
      path: 'v2/publish/https://example.com/a',
      headers: [['Svc-Forward-X-Tenant', 'acme']],
      query: [
        ['svc-label', 'grün'],
        ['svc-forward-x-name', 'José'],
      ],
    });
  });
});

describe('what is wrong with a draft', () => {
  it.each<[string, Partial<Draft>, keyof Draft, RegExp]>([
    ['no destination', { destination: ' ' }, 'destination', /^The destination is missing/],
    [
      'a line that is not a header',
      { headers: 'X-A: 1\nno colon' },
      'headers',
      /^“no colon” is not a header/,
    ],
    [
      'the hash of a header',
      { headers: 'X-A: REDACTED:12' },
      'headers',
      /^The value of X-A is shown only as its hash/,
    ],
    ['the hash of a body', { body: 'REDACTED:12' }, 'body', /^The body is shown only as its hash/],
  ])('is %s', (_what, draft, field, sentence) => {
    const problems = problemsOf({ ...emptyDraft, destination: 'orders', ...draft });
    expect(Object.keys(problems)).toEqual([field]);
    expect(problems[field]).toMatch(sentence);
  });

  it('is not reported if it has a destination', () => {
    expect(problemsOf({ ...emptyDraft, destination: 'orders' })).toEqual({});
  });
});

it.each([
  ['Svc-Delay is "x"; allowed is a whole number and a unit (d, h, m, s), as in "30s".', 'delay'],
  ["Svc-Retries is 6, but the account's limit max_retries is 5.", 'retries'],
  ['The rate of Svc-Flow-Control-Value is "x"; allowed is a whole number from 1 to 1000000000.', 'rate'],
  [
    'Svc-Flow-Control-Key is given without Svc-Flow-Control-Value; allowed is parallelism=<n>.',
    'flow-control-key',
  ],
  ['The destination is "x y"; allowed is a URL that starts with http:// or https://.', 'destination'],
  ['There is no URL group "orders".', 'destination'],
  ["The body has 5 bytes, but the account's limit max_message_size is 4 bytes.", 'body'],
  ['The account has sent 10 messages today.', undefined],
])('“%s” is about the field %s', (sentence, field) => {
  expect(fieldOf(sentence)).toBe(field);
});

describe('the draft of a message', () => {
  const message: Parameters<typeof draftOf>[0] = {
    messageId: 'msg_01M7W4BM2WG14BG3V1YN3YTREK',
    url: 'https://example.com/a',
    callerIP: '127.0.0.1',
    callerIp: '127.0.0.1',
    method: 'PUT',
    header: { 'Content-Type': ['text/plain'], 'X-A': ['1', '2'], 'X-Secret': ['REDACTED:ab'] },
    maxRetries: 2,
    timeout: 30,
    notBefore: 1_900_000_000_500,
    createdAt: 1_800_000_000_000,
    state: 'CREATED',
    retried: 0,
    callbackIds: [],
  };

  it('publishes the same again', () => {
    const draft = draftOf(
      {
        ...message,
        body: 'the body',
        queueName: 'orders',
        retryDelayExpression: '1000',
        flowControlKey: 'k',
        parallelism: 1,
        rate: 2,
        period: 3,
        circuit: 'on',
        callback: 'https://example.com/done',
        failureCallback: 'https://example.com/failed',
        labels: ['a', 'b'],
      },
      1_800_000_000_000,
    );
    expect(requestOf(draft)).toEqual({
      path: 'v2/enqueue/orders/https://example.com/a',
      headers: [
        ['Content-Type', 'text/plain'],
        ['Svc-Method', 'PUT'],
        ['Svc-Not-Before', '1900000001'],
        ['Svc-Timeout', '30s'],
        ['Svc-Retries', '2'],
        ['Svc-Retry-Delay', '1000'],
        ['Svc-Circuit', 'on'],
        ['Svc-Flow-Control-Key', 'k'],
        ['Svc-Flow-Control-Value', 'parallelism=1, rate=2, period=3'],
        ['Svc-Callback', 'https://example.com/done'],
        ['Svc-Failure-Callback', 'https://example.com/failed'],
        ['Svc-Label', 'a,b'],
        ['Svc-Redact-Fields', 'header[x-secret]'],
        ['Svc-Forward-X-A', '1'],
        ['Svc-Forward-X-A', '2'],
        ['Svc-Forward-X-Secret', 'REDACTED:ab'],
      ],
      query: [],
      body: 'the body',
    });
    expect(Object.keys(problemsOf(draft))).toEqual(['headers']);
  });

  it('does not wait for a time in the past', () => {
    expect(draftOf(message, message.notBefore).settings['not-before'] ?? '').toBe('');
  });

  it('has a truncated text body, and keeps a body that is not text', () => {
    expect(draftOf({ ...message, bodyBase64: btoa('a'.repeat(10)) }, 0)).toMatchObject({
      body: 'aaaaaaaaaa',
      bodyBase64: undefined,
    });
    const draft = draftOf({ ...message, bodyBase64: '/w==' }, 0);
    expect(draft).toMatchObject({ body: '', bodyBase64: '/w==' });
    expect(requestOf(draft)).toMatchObject({ bodyBase64: '/w==' });
  });
});

describe('The settings of a callback', () => {
  const { settings } = described;
  it('are those that the service accepts for callbacks', () => {
    const taken = Object.entries(settings).flatMap(([name, { scopes }]) =>
      scopes.some((scope) => scope === 'callback') && name in described.fields ? [name] : [],
    );
    expect(Object.keys(described.fields).filter(isOfCallback).toSorted()).toEqual(taken.toSorted());
  });

  it('are sent with its prefix, and their errors are shown at their fields', () => {
    const texts = { 'callback-retries': '1', 'failure-callback-parallelism': '2' };
    expect(settingHeaders(texts)).toEqual([
      ['Svc-Callback-Retries', '1'],
      ['Svc-Failure-Callback-Flow-Control-Value', 'parallelism=2'],
    ]);
    expect(fieldOf('Svc-Callback-Retries is "x".', texts)).toBe('callback-retries');
    expect(inLabels('Svc-Callback-Retries is "x".')).toBe('Callback: Retries is "x".');
  });
});
