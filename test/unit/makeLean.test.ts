import {
  ConditionalCheckFailedException,
  DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  type DynamoDBClientConfig,
} from '@aws-sdk/client-dynamodb';
import { CreateScheduleCommand, DeleteScheduleCommand, SchedulerClient } from '@aws-sdk/client-scheduler';
import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { NO_RETRY_INCREMENT, StandardRetryStrategy } from '@smithy/core/retry';
import { HttpResponse, type HttpRequest } from '@smithy/core/transport';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { clientOptions } from '../../lambdas/aws/clientOptions.ts';
import { makeLean } from '../../lambdas/aws/makeLean.ts';

let server: Server;
let url: string;
/** The answers to the requests, one after the other; the last answers all that follow. */
let answers: RequestListener[] = [];
/** The headers of the requests that came. */
let requests: IncomingHttpHeaders[] = [];
beforeAll(async () => {
  server = createServer((request, response) => {
    requests.push(request.headers);
    (answers.length > 1 ? answers.shift() : answers[0])?.(request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});
beforeEach(() => {
  requests = [];
  answers = [ok({})];
});
afterEach(() => {
  vi.unstubAllEnvs();
});

const answer =
  (status: number, body: object, headers: Readonly<Record<string, string>> = {}): RequestListener =>
  (request, response) => {
    request.resume().on('end', () => {
      response.writeHead(status, { 'content-type': 'application/x-amz-json-1.0', ...headers });
      response.end(JSON.stringify(body));
    });
  };
const ok = (body: object): RequestListener => answer(200, body);
const refusal = (status: number, name: string, more: object = {}, headers = {}): RequestListener =>
  answer(status, { __type: `com.amazonaws.dynamodb.v20120810#${name}`, message: 'No.', ...more }, headers);

const credentials = { accessKeyId: 'any', secretAccessKey: 'any' };
const region = 'eu-central-1';
const clientOf = (config: DynamoDBClientConfig = {}) =>
  makeLean(new DynamoDBClient({ ...clientOptions('quick'), endpoint: url, region, credentials, ...config }));
const get = () => new GetItemCommand({ TableName: 'table', Key: { id: { S: '1' } } });
const put = () => new PutItemCommand({ TableName: 'table', Item: { id: { S: '1' } } });

describe('a lean client', () => {
  it('reads what the service answers', async () => {
    answers = [
      (request, response) => {
        request.resume();
        response.writeHead(200, { 'content-type': 'application/x-amz-json-1.0', 'x-amzn-requestid': 'id' });
        response.end(
          JSON.stringify({ Item: { n: { N: '1' }, b: { B: 'AQI=' }, l: { L: [{ B: 'AQ==' }] } } }),
        );
      },
    ];
    const { Item, $metadata } = await clientOf().send(get());
    expect(Item).toEqual({
      n: { N: '1' },
      b: { B: Uint8Array.of(1, 2) },
      l: { L: [{ B: Uint8Array.of(1) }] },
    });
    expect($metadata).toMatchObject({ httpStatusCode: 200, requestId: 'id', attempts: 1 });
  });

  it.each<[string, RequestListener]>([
    ['has too much to do', refusal(400, 'ThrottlingException')],
    ['has too much to do for one table', refusal(400, 'ProvisionedThroughputExceededException')],
    ['fails', refusal(500, 'InternalServerError')],
    ['is not there', answer(503, {})],
    ['hangs up', (request) => request.socket.destroy()],
    [
      'hangs up within its answer',
      (_request, response) => {
        response.writeHead(200, { 'content-type': 'application/x-amz-json-1.0', 'content-length': 1_000 });
        response.write('{', () => response.destroy());
      },
    ],
  ])('asks again where the service %s', async (_, failing) => {
    answers = [failing, failing, ok({})];
    const { $metadata } = await clientOf().send(put());
    expect($metadata.attempts).toBe(3);
    expect(requests.map((headers) => headers['amz-sdk-request'])).toEqual([
      undefined,
      'attempt=2; max=4',
      'attempt=3; max=4',
    ]);
    const [first, second, third] = requests.map((headers) => headers['amz-sdk-invocation-id']);
    expect(first).toBeUndefined();
    expect(second).toMatch(/^[0-9a-f-]{36}$/);
    expect(third).toBe(second);
    expect(requests.every(({ authorization }) => authorization?.includes('Credential=any/'))).toBe(true);
  });

  it('asks again where there is no answer in time, and gives up after all tries', async () => {
    answers = [() => undefined];
    const client = clientOf({
      requestHandler: { requestTimeout: 20, throwOnRequestTimeout: true, socketTimeout: 20 },
    });
    await expect(client.send(put())).rejects.toMatchObject({
      name: 'TimeoutError',
      $metadata: { attempts: 4 },
    });
    expect(requests).toHaveLength(4);
  });

  it('has a budget for tries, to which each success gives something back, the first try of a call included', async () => {
    answers = [answer(503, {})];
    const retryStrategy = new StandardRetryStrategy({ maxAttempts: 4, baseDelay: 1 });
    const client = clientOf({ retryStrategy });
    const whole = retryStrategy.getCapacity();
    await expect(client.send(put())).rejects.toMatchObject({ $metadata: { attempts: 4 } });
    const left = retryStrategy.getCapacity();
    expect(left).toBeLessThan(whole);
    answers = [ok({})];
    await client.send(put());
    expect(retryStrategy.getCapacity()).toBe(left + NO_RETRY_INCREMENT);
  });

  it('asks once for what is refused, and raises the class and the fields of the refusal', async () => {
    answers = [
      refusal(400, 'ConditionalCheckFailedException', { Item: { id: { S: '1' }, body: { B: 'AQI=' } } }),
    ];
    const error: unknown = await clientOf()
      .send(put())
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ConditionalCheckFailedException);
    expect(error).toMatchObject({
      name: 'ConditionalCheckFailedException',
      message: 'No.',
      $fault: 'client',
      Item: { id: { S: '1' }, body: { B: Uint8Array.of(1, 2) } },
      $metadata: { httpStatusCode: 400, attempts: 1 },
    });
    expect(requests).toHaveLength(1);
  });

  it('asks again by the clock of the service where its own is wrong, and goes by that from then on', async () => {
    const hourMs = 3_600_000;
    const there = Date.now() + hourMs;
    const date = { date: new Date(there).toUTCString() };
    answers = [refusal(400, 'InvalidSignatureException', {}, date), answer(200, {}, date)];
    const client = clientOf();
    await client.send(put());
    await client.send(put());
    const at = requests.map((headers) =>
      Date.parse(String(headers['x-amz-date']).replace(/^(....)(..)(..T..)(..)(..Z)$/, '$1-$2-$3:$4:$5')),
    );
    expect(at).toHaveLength(3);
    expect(there - (at[0] ?? 0)).toBeGreaterThan(hourMs - 2_000);
    // The headers' dates are in whole seconds.
    for (const later of at.slice(1)) expect(later).toBeGreaterThanOrEqual(there - 2_000);
  });

  it('takes new credentials when its own have expired', async () => {
    const identities = ['first', 'second'].map((accessKeyId) => ({
      accessKeyId,
      secretAccessKey: 'any',
      sessionToken: `token of ${accessKeyId}`,
      expiration: new Date(Date.now() + 3_600_000),
    }));
    const next = vi.fn<() => Promise<(typeof identities)[number]>>();
    for (const identity of identities) next.mockResolvedValueOnce(identity);
    const client = clientOf({ credentials: () => next() });
    await client.send(put());
    identities[0]?.expiration.setTime(Date.now());
    await client.send(put());
    await client.send(put());
    expect(requests.map((headers) => headers.authorization?.match(/Credential=(\w+)/)?.[1])).toEqual([
      'first',
      'second',
      'second',
    ]);
    expect(requests.map((headers) => headers['x-amz-security-token'])).toEqual([
      'token of first',
      'token of second',
      'token of second',
    ]);
  });

  it('keeps the data of calls apart that are made at the same time', async () => {
    answers = [
      (request, response) => {
        const parts: Buffer[] = [];
        request.on('data', (part: Buffer) => parts.push(part));
        request.on('end', () => {
          const { Key } = JSON.parse(Buffer.concat(parts).toString()) as { Key: object };
          response.writeHead(200, { 'content-type': 'application/x-amz-json-1.0' });
          response.end(JSON.stringify({ Item: Key }));
        });
      },
    ];
    const client = clientOf();
    const keys = Array.from({ length: 20 }, (_, number) => ({ id: { S: String(number) } }));
    const items = await Promise.all(
      keys.map((Key) => client.send(new GetItemCommand({ TableName: 'table', Key }))),
    );
    expect(items.map(({ Item }) => Item)).toEqual(keys);
  });

  it('takes a step that is added after its first call, and none that is taken out', async () => {
    const client = clientOf();
    const calls: string[] = [];
    await client.send(get());
    client.middlewareStack.add(
      (next, context) => (args) => {
        calls.push(context.commandName ?? '');
        return next(args);
      },
      { step: 'initialize', name: 'added' },
    );
    await client.send(get());
    await client.send(put());
    await client.send(get());
    expect(client.middlewareStack.remove('added')).toBe(true);
    await client.send(get());
    await client.send(put());
    expect(calls).toEqual(['GetItemCommand', 'PutItemCommand', 'GetItemCommand']);
  });

  it('puts the steps of a command together once', async () => {
    const client = clientOf();
    const resolved = vi.spyOn(GetItemCommand.prototype, 'resolveMiddleware');
    for (let call = 0; call < 5; call += 1) await client.send(get());
    expect(resolved).toHaveBeenCalledTimes(1);
  });

  it('has all of the steps that matter, and no other', () => {
    const stepsOf = (client: { middlewareStack: { identify: () => string[] } }) =>
      client.middlewareStack.identify().map((step) => step.split(' - ')[0]);
    const json = [
      'serializerMiddleware',
      'contentLengthMiddleware',
      'hostHeaderMiddleware',
      'recursionDetectionMiddleware',
      'retryMiddleware',
      'signing',
      'deserializerMiddleware',
    ];
    const untraced = json.filter((step) => step !== 'recursionDetectionMiddleware');
    const options = { region, credentials };
    expect(stepsOf(makeLean(new DynamoDBClient(options)))).toEqual(untraced);
    expect(stepsOf(makeLean(new SQSClient(options)))).toEqual(json);
    expect(stepsOf(makeLean(new SchedulerClient(options)))).toEqual(json);
    expect(stepsOf(makeLean(new SecretsManagerClient(options)))).toEqual(json);
  });

  it('refuses a client that lacks a step it knows: another version of the SDK', () => {
    const client = new DynamoDBClient({ region, credentials });
    client.middlewareStack.remove('loggerMiddleware');
    expect(() => makeLean(client)).toThrow('The SDK has no steps loggerMiddleware.');
  });
});

/** Keeps requests instead of sending them. */
function keeper() {
  const kept: HttpRequest[] = [];
  const handle = (request: HttpRequest) => {
    kept.push(request);
    return Promise.resolve({
      response: new HttpResponse({ statusCode: 200, headers: {}, body: Buffer.from('{}') }),
    });
  };
  return { kept, requestHandler: { handle } };
}

describe('a request of a lean client', () => {
  const sendAll = async (options: { endpoint?: string }) => {
    const { kept, requestHandler } = keeper();
    const config = { region, credentials, requestHandler, ...options };
    await makeLean(new DynamoDBClient(config)).send(get());
    await makeLean(new SQSClient({ ...config, useQueueUrlAsEndpoint: false, md5: false })).send(
      new SendMessageCommand({ QueueUrl: 'https://other.example/0/queue', MessageBody: 'text' }),
    );
    const scheduler = makeLean(new SchedulerClient(config));
    await scheduler.send(
      new CreateScheduleCommand({
        Name: 'name',
        ScheduleExpression: 'at(2026-11-22T10:00:00)',
        FlexibleTimeWindow: { Mode: 'OFF' },
        Target: { Arn: 'arn', RoleArn: 'arn' },
      }),
    );
    await scheduler.send(new DeleteScheduleCommand({ GroupName: 'a group', Name: 'name', ClientToken: 't' }));
    await makeLean(new SecretsManagerClient(config)).send(new GetSecretValueCommand({ SecretId: 'id' }));
    return kept.map(({ protocol, method, hostname, port, path, query, headers }) => {
      const [, scope] =
        /Credential=[^/]+\/\d{8}\/(\S+)\/aws4_request/.exec(headers['Authorization'] ?? '') ?? [];
      const to = `${protocol}//${headers['host']}`;
      expect(headers['host']).toBe(port === undefined ? hostname : `${hostname}:${port}`);
      return [`${method} ${to}${path}`, query, scope];
    });
  };

  it('goes to the endpoint of its region', async () => {
    expect(await sendAll({})).toEqual([
      ['POST https://dynamodb.eu-central-1.amazonaws.com/', {}, 'eu-central-1/dynamodb'],
      ['POST https://sqs.eu-central-1.amazonaws.com/', {}, 'eu-central-1/sqs'],
      ['POST https://scheduler.eu-central-1.amazonaws.com/schedules/name', {}, 'eu-central-1/scheduler'],
      [
        'DELETE https://scheduler.eu-central-1.amazonaws.com/schedules/name',
        { groupName: 'a group', clientToken: 't' },
        'eu-central-1/scheduler',
      ],
      ['POST https://secretsmanager.eu-central-1.amazonaws.com/', {}, 'eu-central-1/secretsmanager'],
    ]);
  });

  it('goes to the endpoint of the account where the credentials tell it, as the SDK has it', async () => {
    const { kept, requestHandler } = keeper();
    const config = { region, requestHandler, credentials: { ...credentials, accountId: '123456789012' } };
    await makeLean(new DynamoDBClient(config)).send(get());
    await new DynamoDBClient(config).send(get());
    const host = '123456789012.ddb.eu-central-1.amazonaws.com';
    expect(kept.map(({ hostname }) => hostname)).toEqual([host, host]);
  });

  it.each([
    ['the environment names for all services', () => vi.stubEnv('AWS_ENDPOINT_URL', 'http://127.0.0.1:4566')],
    [
      'the environment names for one service',
      () => {
        vi.stubEnv('AWS_ENDPOINT_URL', 'http://127.0.0.1:1');
        for (const service of ['DYNAMODB', 'SQS', 'SCHEDULER', 'SECRETS_MANAGER'])
          vi.stubEnv(`AWS_ENDPOINT_URL_${service}`, 'http://127.0.0.1:4566');
      },
    ],
    ['its options name', () => undefined],
  ])('goes to the endpoint that %s', async (name, prepare) => {
    prepare();
    const sent = await sendAll(name === 'its options name' ? { endpoint: 'http://127.0.0.1:4566' } : {});
    expect(sent.map(([to]) => to)).toEqual([
      'POST http://127.0.0.1:4566/',
      'POST http://127.0.0.1:4566/',
      'POST http://127.0.0.1:4566/schedules/name',
      'DELETE http://127.0.0.1:4566/schedules/name',
      'POST http://127.0.0.1:4566/',
    ]);
  });

  it('carries the trace to SQS, by which Lambda finds functions that call each other in a circle', async () => {
    vi.stubEnv('AWS_LAMBDA_FUNCTION_NAME', 'deliver');
    vi.stubEnv('_X_AMZN_TRACE_ID', 'Root=1-6737c1a1-2f6b6d0e4b7a8c9d0e1f2a3b;Lineage=1:a:0');
    const { kept, requestHandler } = keeper();
    const config = { region, credentials, requestHandler };
    const sqs = makeLean(new SQSClient({ ...config, useQueueUrlAsEndpoint: false, md5: false }));
    await sqs.send(
      new SendMessageCommand({ QueueUrl: 'https://other.example/0/queue', MessageBody: 'text' }),
    );
    await makeLean(new DynamoDBClient(config)).send(put());
    expect(kept.map(({ headers }) => headers['X-Amzn-Trace-Id'])).toEqual([
      'Root=1-6737c1a1-2f6b6d0e4b7a8c9d0e1f2a3b;Lineage=1:a:0',
      undefined,
    ]);
  });

  it('looks for its endpoint again where that failed', async () => {
    const regions = [Promise.reject(new Error('No region yet.')), Promise.resolve(region)];
    regions[0]?.catch(() => undefined);
    const { kept, requestHandler } = keeper();
    const client = makeLean(
      new DynamoDBClient({
        credentials,
        requestHandler,
        region: () => regions.shift() ?? Promise.resolve(region),
      }),
    );
    await expect(client.send(get())).rejects.toThrow('No region yet.');
    await client.send(get());
    expect(kept.map(({ hostname }) => hostname)).toEqual(['dynamodb.eu-central-1.amazonaws.com']);
  });
});
