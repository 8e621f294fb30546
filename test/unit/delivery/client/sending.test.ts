import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import type * as sending from '../../../../lambdas/delivery/client/sending.ts';
import { close, listen } from '../../../../local/http.ts';
import { isolate, setVariables } from '../../../../local/lambda/environment.ts';
import { Refused, startAwsService, type Arrived } from '../../../support/awsServices.ts';

const arrived: Arrived[] = [];
let refusal: Refused | undefined;
const services: Awaited<ReturnType<typeof startAwsService>>[] = [];
let sendToArn: typeof sending.sendToArn;
const variables = {
  sqs: 'DESTINATION_SQS_URL',
  sns: 'AWS_ENDPOINT_URL_SNS',
  events: 'AWS_ENDPOINT_URL_EVENTBRIDGE',
} as const;

beforeAll(async () => {
  isolate();
  for (const service of ['sqs', 'sns', 'events'] as const) {
    const started = await startAwsService(service, (one) => {
      if (refusal !== undefined) throw refusal;
      arrived.push(one);
    });
    services.push(started);
    setVariables({ [variables[service]]: started.url });
  }
  setVariables({ AWS_REGION: 'eu-central-1' });
  ({ sendToArn } = await import('../../../../lambdas/delivery/client/sending.ts'));
});
afterEach(() => {
  arrived.splice(0);
  refusal = undefined;
});
afterAll(async () => {
  for (const name of Object.values(variables)) Reflect.deleteProperty(process.env, name);
  for (const service of services) await service.close();
});

const arns = {
  sqs: 'arn:aws:sqs:eu-central-1:123456789012:orders',
  sns: 'arn:aws:sns:eu-central-1:123456789012:orders',
  events: 'arn:aws:events:eu-central-1:123456789012:event-bus/orders',
} as const;

type Request = Parameters<typeof sending.sendToArn>[0];

const send = (url: string, body = 'work', more: Partial<Request> = {}) =>
  sendToArn(
    {
      method: 'POST',
      headers: [
        ['svc-message-id', 'msg_1'],
        ['svc-retried', '0'],
        ['x-tenant', 'acme'],
      ],
      body: Buffer.from(body),
      timeoutMs: 30_000,
      maxResponseBytes: 1_000,
      ...more,
    },
    {
      url,
      messageId: 'msg_1',
      accountId: 'account',
      callerIp: '192.0.2.1',
      prefix: 'Svc',
      headers: [['x-tenant', 'acme']],
    },
    { deployment: ['arn:*:orders*', 'arn:*:event-bus/*'], account: ['arn:*'] },
  );

const uuid = /^[0-9a-f-]{36}$/;
const attributes = { 'svc-message-id': 'msg_1', 'x-tenant': 'acme', 'svc-headers': '{"svc-retried":"0"}' };

describe.each([
  ['sqs', 'https://sqs.eu-central-1.amazonaws.com/123456789012/orders'],
  ['sns', arns.sns],
] as const)('%s', (service, to) => {
  it('gets the body and the attributes of a message, and answers with its id', async () => {
    const answer = await send(arns[service]);
    expect(arrived).toEqual([expect.objectContaining({ to, text: 'work', attributes, groupId: undefined })]);
    expect(answer).toMatchObject({
      status: 200,
      headers: expect.arrayContaining([['content-type', 'application/json']]) as unknown,
    });
    expect(JSON.parse(Buffer.from(answer.body).toString())).toEqual({
      MessageId: expect.stringMatching(uuid) as string,
    });
  });

  it('gets the ids of a FIFO queue or topic', async () => {
    expect(await send(`${arns[service]}.fifo`)).toMatchObject({ status: 200 });
    expect(arrived).toMatchObject([{ to: `${to}.fifo`, groupId: 'account', deduplicationId: 'msg_1' }]);
  });

  it('is sent no empty message, which fails permanently with a sentence', async () => {
    expect(await send(arns[service], '')).toMatchObject({
      status: 400,
      isFinal: true,
      error: `The message has no body; ${service.toUpperCase()} takes no message without one.`,
    });
    expect(arrived).toEqual([]);
  });
});

it('EventBridge gets an event, and answers with its id', async () => {
  const answer = await send(arns.events, '{"id":7}');
  expect(arrived).toEqual([
    expect.objectContaining({
      to: arns.events,
      source: 'svc-queue',
      detailType: 'message',
      text: '{"headers":{"svc-message-id":"msg_1","svc-retried":"0","x-tenant":"acme"},"body":{"id":7}}',
    }),
  ]);
  expect(answer).toMatchObject({ status: 200 });
  expect(JSON.parse(Buffer.from(answer.body).toString())).toEqual({
    EventId: expect.stringMatching(uuid) as string,
  });
});

it.each([
  ['sqs', 1_048_576],
  ['sns', 1_048_576],
  ['events', 1_048_576],
] as const)(
  '%s gets at most %i bytes, and a larger message fails permanently with a sentence',
  async (service, most) => {
    const arn = service === 'sns' ? `${arns.sns}-large` : arns[service];
    const around = service === 'events' ? '{"headers":{},"body":""}svc-queuemessage'.length : 0;
    const bare = { headers: [] };
    expect(await send(arn, 'x'.repeat(most - around), bare)).toMatchObject({ status: 200 });
    expect(await send(arn, 'x'.repeat(most - around + 1), bare)).toMatchObject({
      status: 413,
      isFinal: true,
      error: expect.stringContaining(`has ${most + 1} bytes; `) as string,
    });
    expect(arrived).toHaveLength(1);
  },
);

it('A topic decides itself how many bytes it takes', async () => {
  const bare = { headers: [] };
  expect(await send(arns.sns, 'x'.repeat(262_144), bare)).toMatchObject({ status: 200 });
  expect(await send(arns.sns, 'x'.repeat(262_145), bare)).toMatchObject({
    status: 413,
    isFinal: true,
    error:
      'The message is too large for the topic, whose attribute MaximumMessageSize may be raised: InvalidParameterException: Invalid parameter: Message too long',
  });
  expect(arrived).toHaveLength(1);
});

describe('an error of AWS becomes a status and a sentence', () => {
  const noRight = (what: string, action: string, arn: string) =>
    `The deployment may not send to the ${what} ${arn}: its delivery roles need ${action},`;
  it.each([
    [
      'sqs',
      new Refused(400, 'RequestThrottled', 'Slow down.'),
      429,
      'SQS throttles the queue: RequestThrottled',
    ],
    [
      'sqs',
      new Refused(403, 'AccessDeniedException', 'No.'),
      403,
      noRight('queue', 'sqs:SendMessage', arns.sqs),
    ],
    ['sqs', new Refused(400, 'QueueDoesNotExist', 'No.'), 404, `There is no queue ${arns.sqs}.`],
    ['sqs', new Refused(400, 'KmsAccessDenied', 'No.'), 403, `The key of the queue ${arns.sqs} does not let`],
    [
      'sqs',
      new Refused(400, 'InvalidParameterValue', 'Message must be shorter than 262144 bytes.'),
      413,
      'The message is too large for SQS:',
    ],
    ['sqs', new Refused(503, 'ServiceUnavailable', 'Later.'), 503, 'SQS did not take the message: '],
    ['sns', new Refused(429, 'Throttled', 'Rate exceeded'), 429, 'SNS throttles the topic: '],
    ['sns', new Refused(403, 'AuthorizationError', 'No.'), 403, noRight('topic', 'sns:Publish', arns.sns)],
    [
      'events',
      new Refused(400, 'ThrottlingException', 'Rate exceeded'),
      429,
      'EventBridge throttles the bus: ',
    ],
    [
      'events',
      new Refused(400, 'AccessDeniedException', 'No.'),
      403,
      noRight('bus', 'events:PutEvents', arns.events),
    ],
    ['events', new Refused(400, 'ResourceNotFoundException', 'No.'), 404, `There is no bus ${arns.events}.`],
    [
      'events',
      new Refused(200, 'ThrottlingException', 'Slow.', true),
      429,
      'EventBridge throttles the bus: ',
    ],
    [
      'events',
      new Refused(200, 'NotAuthorizedForSourceException', 'No.', true),
      403,
      noRight('bus', 'events:PutEvents', arns.events),
    ],
    [
      'events',
      new Refused(200, 'InternalFailure', 'Later.', true),
      500,
      'EventBridge did not take the message: ',
    ],
  ] as const)('%s: %o', async (service, said, status, sentence) => {
    refusal = said;
    const answer = await send(arns[service]);
    expect(answer).toMatchObject({ status, error: expect.stringContaining(sentence) as string });
    expect(answer.isFinal).toBe(status === 413 ? true : undefined);
  });
});

it('A destination that the deployment or the account no longer allows is not called', async () => {
  const arn = arns.sqs.replace('orders', 'other');
  expect(await send(arn)).toMatchObject({
    status: 0,
    isRefusal: true,
    error: `The destination ${arn} is refused: the setting destinations of the deployment does not have it.`,
  });
  expect(arrived).toEqual([]);
});

it('An unreachable service is reported as no answer, with a sentence', async () => {
  const { server, url } = await listen(() => undefined);
  await close(server);
  vi.stubEnv('AWS_ENDPOINT_URL_SNS', url);
  try {
    expect(await send(arns.sns.replace('eu-central-1', 'eu-west-1'))).toMatchObject({
      status: 0,
      error: expect.stringMatching(/^SNS was not reached: /) as string,
    });
  } finally {
    vi.unstubAllEnvs();
  }
});

it('A service that does not answer in time times out', async () => {
  const silent = await listen(() => undefined);
  vi.stubEnv('AWS_ENDPOINT_URL_EVENTBRIDGE', silent.url);
  try {
    const arn = arns.events.replace('eu-central-1', 'eu-west-1');
    expect(await send(arn, '{}', { timeoutMs: 200 })).toMatchObject({
      status: 0,
      error: `${arn} did not answer within 0.2 s.`,
    });
  } finally {
    vi.unstubAllEnvs();
    await close(silent.server);
  }
});
