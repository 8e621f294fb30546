import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import type { LambdaFunctionURLEvent } from 'aws-lambda';
import type { Invocation } from '../../../../lambdas/delivery/client/invocation.ts';
import { close, listen } from '../../../../local/http.ts';
import { isolate, setVariables } from '../../../../local/lambda/environment.ts';
import { Refusal, Returned, startFunctions } from '../../../support/functions.ts';

const events: unknown[] = [];
const functions = new Map<string, (event: unknown) => unknown>([
  ['ok', (event) => ({ statusCode: 201, body: String(events.push(event)) })],
  ['ok:live', () => 'alive'],
  ['fails', () => Promise.reject(new TypeError('no such order'))],
  ['streams', () => new Returned(Buffer.from(`{"statusCode":202}${'\0'.repeat(8)}body`))],
  ['hangs', () => new Promise(() => undefined)],
  [
    'throttled',
    () =>
      Promise.reject(
        new Refusal(
          429,
          'TooManyRequestsException',
          { Reason: 'ReservedFunctionConcurrentInvocationLimitExceeded', message: 'Rate Exceeded.' },
          { 'Retry-After': '7' },
        ),
      ),
  ],
  [
    'forbidden',
    () => Promise.reject(new Refusal(403, 'AccessDeniedException', { Message: 'not authorized to perform' })),
  ],
  ['large', () => Promise.reject(new Refusal(413, 'RequestTooLargeException'))],
  [
    'odd',
    () => Promise.reject(new Refusal(502, 'KMSDisabledException', { Message: 'The key is disabled.' })),
  ],
]);
let server: Awaited<ReturnType<typeof startFunctions>>;
let invokeFunction: (invocation: Invocation) => Promise<unknown>;

beforeAll(async () => {
  isolate();
  server = await startFunctions(functions);
  setVariables({ AWS_REGION: 'eu-central-1', AWS_ENDPOINT_URL_LAMBDA: server.url });
  ({ invokeFunction } = await import('../../../../lambdas/delivery/client/invocation.ts'));
});
afterAll(async () => {
  Reflect.deleteProperty(process.env, 'AWS_ENDPOINT_URL_LAMBDA');
  await server.close();
});

const arnOf = (name: string) => `arn:aws:lambda:eu-central-1:123456789012:function:${name}`;
const invoke = (name: string, more: Partial<Invocation> = {}) =>
  invokeFunction({
    arn: arnOf(name),
    messageId: 'msg_1',
    method: 'POST',
    headers: [
      ['content-type', 'application/octet-stream'],
      ['x-twice', '1'],
      ['x-twice', '2'],
      ['cookie', 'a=1; b=2'],
      ['user-agent', 'Svc-Queue'],
    ],
    body: Buffer.from([0, 255, 10]),
    callerIp: '192.0.2.1',
    timeoutMs: 30_000,
    maxResponseBytes: 1_000_000,
    ...more,
  });

it('A function gets the event of a function URL, with the time of the invocation', async () => {
  vi.setSystemTime('2026-11-25T08:09:10Z');
  expect(await invoke('ok')).toMatchObject({ status: 201 });
  const event = events.at(-1) as LambdaFunctionURLEvent;
  vi.useRealTimers();
  expect(event).toMatchObject({
    cookies: ['a=1', 'b=2'],
    requestContext: { requestId: 'msg_1', timeEpoch: Date.parse('2026-11-25T08:09:10Z') },
    body: 'AP8K',
  });
});

it('The largest message fits into an invocation, within Lambda’s 6 MB', async () => {
  const body = Buffer.alloc(4 * 1_024 * 1_024, 1);
  await invoke('ok', { body });
  const event = events.at(-1) as LambdaFunctionURLEvent;
  expect(Buffer.from(event.body ?? '', 'base64').equals(body)).toBe(true);
  expect(Buffer.byteLength(JSON.stringify(event))).toBeLessThan(6 * 1_024 * 1_024);
});

it('An alias is called as a separate function', async () => {
  expect(await invoke('ok:live')).toMatchObject({ status: 200, body: Buffer.from('"alive"') });
});

it('A streamed answer of a function is read whole', async () => {
  expect(await invoke('streams')).toMatchObject({ status: 202, body: Buffer.from('body') });
});

it.each([
  ['fails', 500, 'The function failed. TypeError: no such order'],
  ['throttled', 429, 'Lambda throttles the function: ReservedFunctionConcurrentInvocationLimitExceeded.'],
  [
    'forbidden',
    0,
    `The deployment may not invoke the function ${arnOf('forbidden')}: not authorized to perform`,
  ],
  ['missing', 0, `There is no function ${arnOf('missing')}.`],
  ['large', 0, 'The message with its headers has more than the 6 MB that a function accepts.'],
  ['odd', 0, 'The function was not invoked: KMSDisabledException: The key is disabled.'],
])('Lambda’s error %s becomes the status %i and a sentence', async (name, status, error) => {
  expect(await invoke(name)).toMatchObject({ status, error });
});

it('A throttle says when the function may be invoked again', async () => {
  expect(await invoke('throttled')).toMatchObject({ headers: [['retry-after', '7']] });
});

it('A function that does not return in time times out', async () => {
  const error = 'The function did not answer within 0.2 s.';
  expect(await invoke('hangs', { timeoutMs: 200 })).toMatchObject({ status: 0, error });
});

it('A call whose connection closes at once is repeated on a new one', async () => {
  let connections = 0;
  const closing = await listen((request, response) => {
    connections += 1;
    if (connections === 1) request.socket.resetAndDestroy();
    else response.end('"again"');
  });
  vi.stubEnv('AWS_ENDPOINT_URL_LAMBDA', closing.url);
  try {
    const arn = arnOf('any').replace('eu-central-1', 'eu-west-1');
    expect(await invoke('any', { arn })).toMatchObject({ status: 200, body: Buffer.from('"again"') });
    expect(connections).toBe(2);
  } finally {
    vi.unstubAllEnvs();
    await close(closing.server);
  }
});
