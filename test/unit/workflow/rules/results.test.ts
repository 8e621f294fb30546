import { describe, expect, it } from 'vitest';
import { invokeResult, invokeResultBytes, parseInvoke } from '../../../../lambdas/workflow/rules/invoking.ts';
import { parseStep, type StepIdentity } from '../../../../lambdas/workflow/rules/step.ts';
import { hookEvent, parseWait } from '../../../../lambdas/workflow/requestedWait.ts';

/** Tests results that the service makes for steps that end outside of their endpoint. */

const json = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));
const read = (bytes: Uint8Array): unknown => JSON.parse(Buffer.from(bytes).toString());
const waiting: StepIdentity = { stepId: 2, stepName: 'wait', stepType: 'Wait', concurrent: 1 };
const url = 'https://endpoint.example/';

describe('a wait', () => {
  it('is read with its timeout and the headers for its end', () => {
    const body = {
      url,
      timeout: '1.5s',
      timeoutUrl: `${url}late`,
      timeoutHeaders: { 'Upstash-Workflow-Runid': ['wfr_1'], 'X-Two': ['a', 'b'], ['__proto__']: ['c'] },
      step: { ...waiting, targetStep: undefined },
    };
    expect(parseWait(json(body))).toEqual({
      url,
      timeout: '1.5s',
      timeoutMs: 1_500,
      timeoutUrl: `${url}late`,
      timeoutHeaders: [
        ['upstash-workflow-runid', 'wfr_1'],
        ['x-two', 'a'],
        ['x-two', 'b'],
        ['__proto__', 'c'],
      ],
      step: waiting,
    });
  });

  it('for a webhook may have a timeout in seconds or none', () => {
    const step = { ...waiting, stepType: 'WaitForWebhook' };
    expect(parseWait(json({ url, timeout: 90, step }))).toMatchObject({ timeoutMs: 90_000, timeoutUrl: url });
    expect(parseWait(json({ url, step })).timeoutMs).toBe(7 * 24 * 3_600_000);
  });

  it.each([
    ['of another step', { url, step: { ...waiting, stepType: 'Run' } }, 'step.stepType is Run'],
    [
      'with a long name',
      { url, step: { ...waiting, stepName: 'x'.repeat(400_000) } },
      'step.stepName: allowed',
    ],
    ['with half a name', { url, step: { ...waiting, stepName: '\ud83d' } }, 'step.stepName: it has half'],
    ['with half a header', { url, step: waiting, timeoutHeaders: { a: '\ud83d' } }, 'timeoutHeaders.a'],
    ['without an end', { url, step: waiting, timeout: 1e308 }, 'timeout is "1e+308"'],
    ['without a URL', { step: waiting }, 'url'],
    ['with an unreadable time', { url, step: waiting, timeout: 'soon' }, 'timeout is "soon"'],
    ['with unreadable headers', { url, step: waiting, timeoutHeaders: { a: {} } }, 'timeoutHeaders.a'],
  ])('is refused with 412: %s', (_name, body, text) => {
    expect(() => parseWait(json(body))).toThrow(expect.objectContaining({ status: 412 }));
    expect(() => parseWait(json(body))).toThrow(text);
  });
});

describe('a request to a webhook', () => {
  const request = {
    method: 'POST',
    body: Buffer.from('ü'),
    proto: 'https',
    host: 'hooks.example',
    url: '/a?b=1',
  };

  it('is reported with its headers, except those of the connection and of gateways', () => {
    // The client passes the values to `new Request`, which takes only Latin-1.
    const utf8 = Buffer.from('東京').toString('latin1');
    const headers = [
      ['stripe-signature', 't=1'],
      ['accept', 'a'],
      ['accept', 'b'],
      ['x-city', utf8],
      ['connection', 'close'],
      ['host', 'hooks.example'],
      ['x-forwarded-for', '192.0.2.1'],
    ] as const;
    expect(read(hookEvent({ ...request, headers }))).toEqual({
      method: 'POST',
      header: { 'Stripe-Signature': ['t=1'], Accept: ['a', 'b'], 'X-City': [utf8] },
      body: request.body.toString('base64'),
      proto: 'https',
      host: 'hooks.example',
      url: '/a?b=1',
    });
  });
});

describe('an invoke', () => {
  const step: StepIdentity = { ...waiting, stepType: 'Invoke' };
  const body = {
    body: '{"for":"child"}',
    headers: { 'Upstash-Workflow-Runid': ['wfr_1'] },
    workflowRunId: 'wfr_1',
    workflowRunCreatedAt: 1_790_000_000_000,
    workflowUrl: url,
    step,
  };

  it('has a payload for the invoked run, and names the invoker', () => {
    expect(parseInvoke(json(body))).toEqual({
      payload: Buffer.from('{"for":"child"}'),
      invoker: {
        runId: 'wfr_1',
        createdAt: 1_790_000_000_000,
        url,
        step,
        headers: [['upstash-workflow-runid', 'wfr_1']],
      },
    });
    const { payload, invoker } = parseInvoke(json({ ...body, body: undefined, headers: undefined }));
    expect(payload).toHaveLength(0);
    expect(invoker.headers).toEqual([]);
  });

  it.each([undefined, null])(
    'of a client before 1.1.1 lacks the time of its invoker’s start: %s',
    (given) => {
      const { invoker } = parseInvoke(json({ ...body, workflowRunCreatedAt: given }));
      expect(invoker).toMatchObject({ runId: 'wfr_1', step });
      expect(invoker.createdAt).toBeUndefined();
    },
  );

  it.each([
    [
      { state: 'RUN_SUCCESS', response: '{"a":1}' },
      { body: '{"a":1}', isFailed: false, isCanceled: false },
    ],
    [
      { state: 'RUN_SUCCESS', response: undefined },
      { isFailed: false, isCanceled: false },
    ],
    [{ state: 'RUN_FAILED' }, { isFailed: true, isCanceled: false }],
    [
      { state: 'RUN_FAILED', reason: 'It cannot be "read".' },
      { body: JSON.stringify('It cannot be "read".'), isFailed: true, isCanceled: false },
    ],
    [{ state: 'RUN_CANCELED' }, { isFailed: false, isCanceled: true }],
    [
      { state: 'RUN_SUCCESS', response: '"\\\u0001\né😀' },
      { body: '"\\\u0001\né😀', isFailed: false, isCanceled: false },
    ],
  ] as const)('has the result of its run’s end: %j', (end, out) => {
    const result = parseStep(invokeResult(step, end));
    expect(result).toMatchObject({ kind: 'result', ...step });
    expect(result.kind === 'result' && JSON.parse(result.out ?? '')).toEqual(out);
    expect(invokeResultBytes(step, end)).toBe(invokeResult(step, end).length);
  });
});
