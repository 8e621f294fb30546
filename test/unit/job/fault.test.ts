import { DynamoDBClient, GetItemCommand } from '@aws-sdk/client-dynamodb';
import { GetObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { GetScheduleCommand, SchedulerClient } from '@aws-sdk/client-scheduler';
import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { inflateRawSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { isFault } from '../../../lambdas/job/fault.ts';
import { TransientError } from '../../../lambdas/error/transientError.ts';
import { badField } from '../../../lambdas/error/httpError.ts';
import { limitForHangsMs } from '../../support/limits.ts';

/** Tests which errors of the SDK’s clients are the service’s own, and which are outages. */

let server: Server;
let answer: RequestListener;
beforeAll(async () => {
  server = createServer((request, response) => {
    answer(request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const urlOf = (of: Server): string => `http://127.0.0.1:${(of.address() as AddressInfo).port}`;

/** The time until a client gives up an unanswered call, in milliseconds. */
const briefMs = 100;

const options = (endpoint: string, timeoutMs: number) => ({
  endpoint,
  region: 'eu-central-1',
  credentials: { accessKeyId: 'any', secretAccessKey: 'any' },
  maxAttempts: 1,
  requestHandler: {
    requestTimeout: timeoutMs,
    throwOnRequestTimeout: true,
    socketTimeout: timeoutMs,
  },
});

const calls = {
  dynamodb: (endpoint: string, timeoutMs = limitForHangsMs) =>
    new DynamoDBClient(options(endpoint, timeoutMs)).send(
      new GetItemCommand({ TableName: 'table', Key: { id: { S: 'id' } } }),
    ),
  sqs: (endpoint: string, timeoutMs = limitForHangsMs) =>
    new SQSClient({ ...options(endpoint, timeoutMs), useQueueUrlAsEndpoint: false }).send(
      new SendMessageCommand({ QueueUrl: `${endpoint}/0/queue`, MessageBody: 'text' }),
    ),
  scheduler: (endpoint: string, timeoutMs = limitForHangsMs) =>
    new SchedulerClient(options(endpoint, timeoutMs)).send(new GetScheduleCommand({ Name: 'name' })),
  s3: (endpoint: string, timeoutMs = limitForHangsMs) =>
    new S3Client({ ...options(endpoint, timeoutMs), forcePathStyle: true }).send(
      new GetObjectCommand({ Bucket: 'bucket', Key: 'key' }),
    ),
  secrets: (endpoint: string, timeoutMs = limitForHangsMs) =>
    new SecretsManagerClient(options(endpoint, timeoutMs)).send(
      new GetSecretValueCommand({ SecretId: 'id' }),
    ),
} as const;
type Service = keyof typeof calls;

const errorOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => {
      throw new Error('Nothing failed.');
    },
    (error: unknown) => error,
  );

function refusing(service: Service, status: number, code: string): RequestListener {
  return (request, response) => {
    request.resume();
    if (service === 's3') {
      response.writeHead(status, { 'content-type': 'application/xml' });
      response.end(`<?xml version="1.0"?><Error><Code>${code}</Code><Message>No.</Message></Error>`);
      return;
    }
    response.writeHead(status, { 'content-type': 'application/x-amz-json-1.0', 'x-amzn-errortype': code });
    response.end(JSON.stringify({ __type: `com.amazonaws.${service}#${code}`, message: 'No.' }));
  };
}

describe('an answer of AWS', () => {
  it.each([
    ['dynamodb', 400, 'ProvisionedThroughputExceededException'],
    ['dynamodb', 400, 'ThrottlingException'],
    ['dynamodb', 400, 'RequestLimitExceeded'],
    ['dynamodb', 400, 'LimitExceededException'],
    ['dynamodb', 500, 'InternalServerError'],
    ['dynamodb', 503, 'ServiceUnavailable'],
    ['dynamodb', 400, 'AccessDeniedException'],
    ['dynamodb', 400, 'UnrecognizedClientException'],
    ['dynamodb', 400, 'ExpiredTokenException'],
    ['dynamodb', 400, 'InvalidSignatureException'],
    ['dynamodb', 400, 'IncompleteSignatureException'],
    ['dynamodb', 400, 'MissingAuthenticationTokenException'],
    ['dynamodb', 400, 'ResourceNotFoundException'],
    ['dynamodb', 400, 'TransactionConflictException'],
    ['dynamodb', 400, 'ReplicatedWriteConflictException'],
    ['sqs', 403, 'AccessDenied'],
    ['sqs', 400, 'RequestThrottled'],
    ['sqs', 400, 'KmsAccessDenied'],
    ['sqs', 400, 'KmsDisabled'],
    ['sqs', 400, 'KmsInvalidState'],
    ['sqs', 400, 'KmsThrottled'],
    ['sqs', 403, 'OverLimit'],
    ['sqs', 400, 'QueueDoesNotExist'],
    ['sqs', 403, 'InvalidClientTokenId'],
    ['scheduler', 403, 'AccessDeniedException'],
    ['scheduler', 402, 'ServiceQuotaExceededException'],
    ['scheduler', 429, 'ThrottlingException'],
    ['scheduler', 409, 'ConflictException'],
    ['scheduler', 500, 'InternalServerException'],
    ['s3', 403, 'AccessDenied'],
    ['s3', 403, 'InvalidAccessKeyId'],
    ['s3', 403, 'SignatureDoesNotMatch'],
    ['s3', 403, 'RequestTimeTooSkewed'],
    ['s3', 400, 'ExpiredToken'],
    ['s3', 400, 'RequestTimeout'],
    ['s3', 400, 'KMS.DisabledException'],
    ['s3', 404, 'NoSuchBucket'],
    ['s3', 503, 'SlowDown'],
    ['secrets', 400, 'AccessDeniedException'],
    ['secrets', 400, 'DecryptionFailure'],
    ['secrets', 400, 'InternalServiceError'],
    ['secrets', 400, 'InvalidRequestException'],
    ['secrets', 400, 'ResourceNotFoundException'],
  ] as const)('%s %d %s is an outage', async (service, status, code) => {
    answer = refusing(service, status, code);
    const error = await errorOf(calls[service](urlOf(server)));
    expect({ name: (error as Error).name, isFault: isFault(error) }).toEqual({ name: code, isFault: false });
  });

  it.each([
    ['dynamodb', 400, 'ValidationException'],
    ['dynamodb', 400, 'ConditionalCheckFailedException'],
    ['dynamodb', 400, 'SerializationException'],
    ['dynamodb', 413, 'RequestEntityTooLarge'],
    ['sqs', 400, 'InvalidMessageContents'],
    ['sqs', 400, 'InvalidParameterValue'],
    ['sqs', 400, 'MissingParameter'],
    ['scheduler', 400, 'ValidationException'],
    ['s3', 404, 'NoSuchKey'],
    ['s3', 400, 'EntityTooLarge'],
    ['s3', 400, 'InvalidArgument'],
    ['secrets', 400, 'InvalidParameterException'],
  ] as const)('%s %d %s is a fault', async (service, status, code) => {
    answer = refusing(service, status, code);
    const error = await errorOf(calls[service](urlOf(server)));
    expect({ name: (error as Error).name, isFault: isFault(error) }).toEqual({ name: code, isFault: true });
  });
});

const services = Object.keys(calls) as Service[];

describe.each(services)('%s', (service) => {
  it.each<[string, RequestListener]>([
    ['says nothing', () => undefined],
    [
      'stops within its answer',
      (_request, response) => {
        response.writeHead(200, { 'content-type': 'application/x-amz-json-1.0', 'content-length': 1_000 });
        response.write('{');
      },
    ],
    ['hangs up', (request) => request.socket.destroy()],
    [
      'hangs up within its answer',
      (_request, response) => {
        response.writeHead(200, { 'content-type': 'application/x-amz-json-1.0', 'content-length': 1_000 });
        response.write('{', () => response.destroy());
      },
    ],
    [
      'is behind a proxy that fails',
      (_request, response) => {
        response.writeHead(502, { 'content-type': 'text/html' }).end('<html>Bad Gateway</html>');
      },
    ],
  ])('that %s is an outage', async (_, listener) => {
    answer = listener;
    // An object’s answer ends only when its body is read.
    const work = calls[service](urlOf(server), briefMs).then(async (output) =>
      'Body' in output ? output.Body?.transformToByteArray() : output,
    );
    expect(isFault(await errorOf(work))).toBe(false);
  });

  it('at which nothing listens is an outage', async () => {
    const closed = createServer();
    closed.listen(0, '127.0.0.1');
    await once(closed, 'listening');
    const url = urlOf(closed);
    closed.close();
    expect(isFault(await errorOf(calls[service](url)))).toBe(false);
  });
});

const thrown = (work: () => unknown): unknown => {
  try {
    work();
  } catch (error) {
    return error;
  }
  throw new Error('Nothing failed.');
};

describe('an error of the service’s own', () => {
  it.each<[string, unknown]>([
    ['a bug', new TypeError('Cannot read properties of undefined')],
    ['a value out of range', thrown(() => 'a'.repeat(-1))],
    ['a text that is no JSON', thrown(() => JSON.parse('{'))],
    ['a row of another form', thrown(() => z.object({ id: z.string() }).parse({}))],
    ['a body that cannot be unpacked', thrown(() => inflateRawSync(Buffer.from('no')))],
    ['a body that is missing', new Error('The body of msg_1 is missing.')],
    ['an answer to a client', badField('No.')],
    ['what is no error', 'text'],
    ['nothing', undefined],
    ['one of several', new AggregateError([new TransientError('later'), new TypeError('bug')])],
    ['several without any', new AggregateError([])],
  ])('is a fault: %s', (_, error) => {
    expect(isFault(error)).toBe(true);
  });
});

describe('an error that retries a job by design', () => {
  it.each<[string, unknown]>([
    ['by itself', new TransientError('Another worker is at it.')],
    ['in company', new AggregateError([new TransientError('one'), new TransientError('other')])],
    [
      'because there are no credentials',
      Object.assign(new Error('none'), { name: 'CredentialsProviderError' }),
    ],
  ])('is an outage: %s', (_, error) => {
    expect(isFault(error)).toBe(false);
  });
});
