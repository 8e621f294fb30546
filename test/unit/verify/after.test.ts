/** Runs the checks against recorded answers and deliveries in which something is wrong. */
import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { App } from 'aws-cdk-lib';
import * as z from 'zod';
import { readSettings, type Settings } from '../../../lib/settings.ts';
import type { StackResource } from '../../../operate/stackResources.ts';
import { type Answer, clientOf, reachable, type Send } from '../../../verify/after/api.ts';
import { afterChecks } from '../../../verify/after/checks.ts';
import type { After } from '../../../verify/after/context.ts';
import { functionCheck, missingFunction } from '../../../verify/after/delivery/functionCheck.ts';
import { percentile, usageQueries } from '../../../verify/after/watch/measures.ts';
import type { Received } from '../../../verify/after/receiver/received.ts';
import { releaseCheck } from '../../../verify/release/release.ts';
import { until } from '../../../verify/wait.ts';
import { sabotages } from '../../deploy/sabotages.ts';
import { answerFrom, type Outputs } from '../../support/answeringClients.ts';
import { runCheck, Shortfall } from '../../../verify/check.ts';
import { type Clients, clientsIn } from '../../../verify/clients.ts';
import { readDeployment } from '../../../verify/deployment.ts';

const region = 'eu-central-1';
const defaults = readSettings(new App());
const signal = new AbortController().signal;
const timeout = { waitMs: 0, signal };

const answerOf = (status: number, text = '', headers: Readonly<Record<string, string>> = {}): Answer => ({
  status,
  text,
  headers: new Headers(headers),
});

const refusal = '{"error":"No.","code":"no"}';

/** Answers by method and path prefix. Any other request is a published message. */
const sending =
  (answers: Readonly<Record<string, Answer>>): Send =>
  (method, path) => {
    const known = Object.keys(answers).find((start) => `${method} ${path}`.startsWith(start));
    const answer = known === undefined ? undefined : answers[known];
    return Promise.resolve(answer ?? answerOf(200, '{"messageId":"msg_1"}'));
  };

const delivery = (of: Partial<Received>): Received => ({
  inbox: 'i1',
  at: 0,
  method: 'POST',
  path: '',
  query: '',
  from: '192.0.2.1',
  messageId: 'msg_1',
  retried: 0,
  contentType: 'text/plain',
  signature: '',
  completeUrl: '',
  bytes: 0,
  sha256: createHash('sha256').digest('hex'),
  text: '',
  ...of,
});

function contextOf(
  answers: Readonly<Record<string, Answer>>,
  deliveries: readonly Partial<Received>[] = [],
  other: Readonly<Record<string, Answer>> = {},
): After {
  const send = sending(answers);
  const client = clientOf(send, 'Bearer token');
  return {
    region,
    isEmulator: false,
    settings: defaults,
    timeout,
    clients: clientsIn(region),
    startedAt: 0,
    api: { url: 'https://api', send, client },
    publishUrl: client,
    management: { send, client },
    sendTo: () => send,
    awsAccount: '111122223333',
    account: { id: 'account', token: 'token' },
    others: [{ region: 'us-east-1', send: sending(other) }],
    inbox: () => ({
      url: 'https://receiver/i1/ok',
      received: (count) =>
        deliveries.length < count
          ? Promise.reject(new Shortfall(`The receiver got ${deliveries.length} of ${count} requests.`))
          : Promise.resolve(deliveries.map(delivery)),
    }),
    stacks: [],
    templates: [],
    resources: [],
  };
}

function answeredBy(outputs: Outputs): Clients {
  const clients = clientsIn(region);
  for (const client of Object.values(clients)) answerFrom(client, outputs);
  return clients;
}

const resource = (logicalId: string, type: string, physicalId: string): StackResource => ({
  logicalId,
  type,
  physicalId,
  status: 'CREATE_COMPLETE',
});

/**
 * A deployment on managed instances whose environments an operator counts.
 *
 * @param of.isStuck whether Lambda removes none
 */
function lostInstance(
  of: { readonly states?: readonly string[]; readonly least?: number; readonly isStuck?: boolean } = {},
) {
  const { states = ['DELIVERED'], least = 3, isStuck = false } = of;
  const scaled: unknown[] = [];
  let applied = { MinExecutionEnvironments: least, MaxExecutionEnvironments: 18 };
  const logs = { logs: states.map((one) => ({ state: one })) };
  const context: After = {
    ...contextOf(
      { 'GET /v2/logs': answerOf(200, JSON.stringify(logs)) },
      Array.from({ length: 14 }, () => ({})),
    ),
    ...setting({ longDelivery: 'instances' }),
    resources: [
      resource('DeliverLongOne91bc9ec50F1D543', 'AWS::Lambda::Function', 'long'),
      resource('QueuesLongA2CC1DDD', 'AWS::SQS::Queue', 'https://sqs/1/long'),
    ],
    clients: answeredBy({
      GetAliasCommand: { FunctionVersion: '7' },
      GetFunctionScalingConfigCommand: () => ({ AppliedFunctionScalingConfig: applied }),
      PutFunctionScalingConfigCommand: (input) => {
        scaled.push(input);
        const { FunctionScalingConfig } = scalingInput.parse(input);
        if (!isStuck) applied = FunctionScalingConfig;
        return {};
      },
      GetQueueAttributesCommand: { Attributes: { ApproximateNumberOfMessages: '0' } },
    }),
  };
  // Actions that take minutes on AWS happen at once here, or never.
  return { context: { ...context, timeout: { waitMs: -1e9, signal } }, scaled };
}

const scalingInput = z.object({
  FunctionScalingConfig: z.object({
    MinExecutionEnvironments: z.number(),
    MaxExecutionEnvironments: z.number(),
  }),
});

const setting = (of: Partial<Settings>): Pick<After, 'settings'> => ({
  settings: { ...defaults, ...of },
});

/** The templates of the default settings, with a table that expires, is recoverable and protected. */
const { stacks: templates } = readDeployment({ regions: region });

const unauthorized = answerOf(401, refusal, { 'x-amzn-Remapped-WWW-Authenticate': 'Bearer' });
const asTheyHaveToBe = {
  'GET /v2/messages': unauthorized,
  'GET /v2/nowhere': answerOf(404, refusal),
  'PUT /v2/queues': answerOf(405, refusal, { allow: 'GET, POST' }),
  'GET /v2/svc/users': answerOf(401, refusal, { 'WWW-Authenticate': 'Basic realm="management"' }),
};
const published = { 'POST /v2/publish': answerOf(201, '{"messageId":"msg_1"}') };

const short: readonly {
  readonly check: string;
  readonly sentence: RegExp;
  readonly context: After;
}[] = [
  {
    check: 'latency',
    sentence: /The receiver got 0 of 40 requests/,
    context: contextOf(published),
  },
  {
    check: 'answers',
    sentence: /A request without a token was answered 403 .* with the challenge ""/,
    context: contextOf({ ...asTheyHaveToBe, 'GET /v2/messages': answerOf(403, '{"message":"Forbidden"}') }),
  },
  {
    check: 'answers',
    sentence: /A path that does not exist was answered 403 \{"message":"Missing Authentication Token"\}/,
    context: contextOf({
      ...asTheyHaveToBe,
      'GET /v2/nowhere': answerOf(403, '{"message":"Missing Authentication Token"}'),
    }),
  },
  {
    check: 'answers',
    sentence: /A method that a path does not have was answered 404 .* Allow: null/,
    context: contextOf({ ...asTheyHaveToBe, 'PUT /v2/queues': answerOf(404, refusal) }),
  },
  {
    check: 'answers',
    sentence: /The management API answered a wrong password with 200/,
    context: contextOf({ ...asTheyHaveToBe, 'GET /v2/svc/users': answerOf(200, '[]') }),
  },
  {
    check: 'regions',
    sentence: /us-east-1 answered the token of an account of eu-central-1 with 200/,
    context: contextOf({}, [], { 'GET /v2/keys': answerOf(200, '{}') }),
  },
  {
    check: 'too-large',
    sentence: /7 MB were answered 500/,
    context: contextOf({ 'POST /v2/publish': answerOf(500, refusal) }),
  },
  {
    check: 'path-bytes',
    sentence: /\/\/a%2Fb arrived as \/a\/b/,
    context: contextOf(published, [{ path: '/a/b' }]),
  },
  {
    check: 'query-bytes',
    sentence: /x=1&x=2\+3 arrived as x=1&x=2%203/,
    context: contextOf(published, [{ query: 'x=1&x=2%203' }]),
  },
  {
    check: 'signature',
    sentence: /was not signed/,
    context: contextOf({ ...published, 'GET /v2/keys': answerOf(200, '{"current":"key"}') }, [{}]),
  },
  {
    check: 'binary-body',
    sentence:
      /256 bytes of application\/octet-stream were sent, and 384 others of application\/octet-stream arrived/,
    context: contextOf(published, [{ bytes: 384, contentType: 'application/octet-stream' }]),
  },
  {
    check: 'header-text',
    sentence: /The label 東京 é arrived as \?\?/,
    context: contextOf({ ...published, 'GET /v2/messages': answerOf(200, '{"label":"??"}') }),
  },
  {
    check: 'retry',
    sentence: /The attempts were 0,0/,
    context: contextOf(published, [{}, {}]),
  },
  {
    check: 'callback',
    sentence: /The callback told of msg_2 with 200/,
    context: contextOf(published, [{ text: '{"status":200,"sourceMessageId":"msg_2"}' }]),
  },
  {
    check: 'completion',
    sentence: /The URL for the completion is https:\/\/elsewhere/,
    context: contextOf(published, [{ completeUrl: 'https://elsewhere/v2/complete/x' }]),
  },
  {
    check: 'completion',
    sentence: /The completion was answered 404/,
    context: contextOf({ ...published, 'POST /v2/complete': answerOf(404, refusal) }, [
      { completeUrl: 'https://api/v2/complete/x' },
    ]),
  },
  {
    check: 'queue',
    sentence: /The order of the queue was first,third,second,fourth/,
    context: contextOf(
      published,
      ['first', 'third', 'second', 'fourth'].map((text) => ({ text })),
    ),
  },
  {
    check: 'schedule',
    sentence: /POST \/v2\/schedules\/.* was answered 503/,
    context: contextOf({ 'POST /v2/schedules': answerOf(503) }),
  },
  {
    check: 'unreadable',
    sentence: /The stack has no queue of short jobs/,
    context: contextOf({}),
  },
  {
    check: 'answers',
    sentence: /With a token, a path that does not exist was answered 403 \{"message":"Invalid key=value pair/,
    context: (() => {
      const context = contextOf(asTheyHaveToBe);
      const send: Send = (method, path, request) =>
        path === '/v2/nowhere' && request?.authorization !== undefined
          ? Promise.resolve(answerOf(403, '{"message":"Invalid key=value pair (missing equal-sign)"}'))
          : context.api.send(method, path, request);
      return { ...context, api: { ...context.api, send } };
    })(),
  },
  {
    check: 'firewall',
    sentence: /A known attack in a header was answered 200/,
    context: { ...contextOf({}), ...setting({ firewall: true }) },
  },
  {
    check: 'throttled',
    sentence: /600 requests were sent at once, and all were accepted/,
    context: contextOf({}),
  },
  {
    check: 'publish-url',
    sentence: /\/\/a%2Fb arrived as \/a\/b/,
    context: contextOf(published, [{ text: 'by the publish URL', path: '/a/b' }]),
  },
  {
    check: 'publish-url-bytes',
    sentence: /x=1&x=2\+3 arrived as x=1&x=2%203/,
    context: contextOf(published, [{ query: 'x=1&x=2%203' }]),
  },
  {
    check: 'publish-url-sizes',
    sentence: /7 MB were answered 201/,
    context: contextOf(published, [{ bytes: 4 * 1_024 * 1_024 }]),
  },
  {
    check: 'publish-url-api',
    sentence: /A queue that does not exist was answered 503/,
    context: contextOf({ 'GET /v2/queues/none': answerOf(503, '') }),
  },
  {
    check: 'domains',
    sentence: /queue\.example\.com answered the account 403 Forbidden/,
    context: {
      ...contextOf({ 'GET /v2/keys': answerOf(403, 'Forbidden') }),
      ...setting({ domains: [`${region}=queue.example.com`] }),
    },
  },
  {
    check: 'long-attempt',
    sentence: /An attempt that takes 400 s ended as CREATED, RETRY, FAILED/,
    context: contextOf({
      ...published,
      'GET /v2/logs': answerOf(200, '{"logs":[{"state":"CREATED"},{"state":"RETRY"},{"state":"FAILED"}]}'),
    }),
  },
  {
    check: 'far-fire',
    sentence: /A message that was due in 16 minutes came -\d+ s late/,
    context: contextOf(published, [{ at: Date.now() }]),
  },
  {
    check: 'long-answer',
    sentence: /The machine is not to be had/,
    context: {
      ...contextOf({}),
      ...setting({ longDelivery: 'instances' }),
      clients: answeredBy({
        CreateStackCommand: new Error('The machine is not to be had'),
        DescribeStacksCommand: Object.assign(new Error('Stack with id Svc does not exist'), {
          name: 'ValidationError',
        }),
      }),
    },
  },
  {
    check: 'lost-instance',
    sentence: /An attempt that takes 240 s ended as RETRY/,
    context: lostInstance({ states: ['RETRY'] }).context,
  },
  {
    check: 'sender-address',
    sentence: /Deliveries came from 192\.0\.2\.1, and the fixed addresses are 198\.51\.100\.7/,
    context: {
      ...contextOf(published, [{}, {}, {}, {}, {}]),
      ...setting({ fixedAddresses: [`${region}=eipalloc-0a1b2c3d`] }),
      clients: answeredBy({ DescribeAddressesCommand: { Addresses: [{ PublicIp: '198.51.100.7' }] } }),
    },
  },
  {
    check: 'data-settings',
    sentence:
      /Svc-m-1 expires by nothing, and has to by expiresAt; Svc-m-1 has point-in-time recovery off; Svc-m-1 is not protected from deletion/,
    context: {
      ...contextOf({}),
      templates,
      resources: [resource('Messages804FA4EB', 'AWS::DynamoDB::GlobalTable', 'Svc-m-1')],
      clients: answeredBy({
        DescribeTableCommand: { Table: { DeletionProtectionEnabled: false } },
        DescribeTimeToLiveCommand: { TimeToLiveDescription: { TimeToLiveStatus: 'DISABLED' } },
        DescribeContinuousBackupsCommand: {
          ContinuousBackupsDescription: {
            ContinuousBackupsStatus: 'ENABLED',
            PointInTimeRecoveryDescription: { PointInTimeRecoveryStatus: 'DISABLED' },
          },
        },
      }),
    },
  },
  {
    check: 'denied-trail',
    sentence: /Svc-Fire: CreateSchedule of scheduler\.amazonaws\.com, User is not authorized/,
    context: {
      ...contextOf({}),
      resources: [resource('Fire', 'AWS::Lambda::Function', 'Svc-Fire')],
      clients: answeredBy({
        LookupEventsCommand: {
          Events: [
            {
              Username: 'Svc-Fire',
              CloudTrailEvent: JSON.stringify({
                eventVersion: '1.09',
                eventSource: 'scheduler.amazonaws.com',
                eventName: 'CreateSchedule',
                errorCode: 'AccessDenied',
                errorMessage: 'User is not authorized',
              }),
            },
          ],
        },
      }),
    },
  },
  {
    check: 'usage',
    sentence: /GET \/v2\/logs.* was answered 500/,
    context: contextOf({ 'GET /v2/logs': answerOf(500) }),
  },
];

it.each(short)('$check falls short with $sentence', async ({ check: name, sentence, context }) => {
  const check = afterChecks.find((one) => one.name === name);
  if (check === undefined) throw new Error(`There is no check ${name}.`);
  const outcome = await runCheck(check, context);
  expect(outcome).toMatchObject({ check: name, region, result: 'short', remedy: check.remedy });
  expect(outcome.seen).toMatch(sentence);
});

it('Every check has a failing example, here or among the sabotages of `npm run test:verify`', () => {
  expect(new Set([...short, ...sabotages].map(({ check }) => check))).toEqual(
    new Set(afterChecks.map(({ name }) => name)),
  );
});

describe('lost-instance', () => {
  const [check] = afterChecks.filter(({ name }) => name === 'lost-instance');
  const scaling = (least: number, most: number) => ({
    FunctionName: 'long',
    Qualifier: '7',
    FunctionScalingConfig: { MinExecutionEnvironments: least, MaxExecutionEnvironments: most },
  });

  it.each([
    ['all messages are delivered', {}, 'good', /all but one of 3 .* 2 attempts were made again$/],
    ['Lambda takes nothing away', { isStuck: true }, 'short', /has not taken/],
  ] as const)('restores the execution environments if %s', async (_, of, result, seen) => {
    if (check === undefined) throw new Error('There is no such check.');
    const { context, scaled } = lostInstance(of);
    const outcome = await runCheck(check, context);
    expect(outcome.result).toBe(result);
    expect(outcome.seen).toMatch(seen);
    expect(scaled).toEqual([scaling(1, 1), scaling(3, 18)]);
  });

  it('removes nothing if there is one execution environment', async () => {
    if (check === undefined) throw new Error('There is no such check.');
    const { context, scaled } = lostInstance({ least: 1 });
    expect(await runCheck(check, context)).toMatchObject({ result: 'skipped' });
    expect(scaled).toEqual([]);
  });
});

it('Parts that are not deployed are skipped, with the reason', async () => {
  const check = afterChecks.find(({ name }) => name === 'publish-url');
  const outcome = check && (await runCheck(check, { ...contextOf({}), publishUrl: undefined }));
  expect(outcome).toMatchObject({ result: 'skipped', seen: 'the setting publishUrl is off' });
});

it.each([
  ['the receiver', 'msg_1', '{"logs":[]}', 'good', /^1 messages were accepted and all arrived/],
  ['the service', 'msg_9', '{"logs":[{"state":"CREATED"},{"state":"DELIVERED"}]}', 'good', /all arrived/],
  [
    'nobody',
    'msg_9',
    '{"logs":[{"state":"CREATED"}]}',
    'short',
    /1 of \d+ accepted messages did not arrive: msg_1 \(CREATED\)/,
  ],
])('A message of a release that %s knows', async (_, messageId, log, result, seen) => {
  const context = contextOf({ ...published, 'GET /v2/logs': answerOf(200, log) });
  const inbox: After['inbox'] = (answers) => ({
    url: 'https://receiver',
    received: () => Promise.resolve(answers === 'ok' ? [] : [delivery({ messageId, retried: 1 })]),
  });
  const outcome = await runCheck(
    releaseCheck(() => Promise.resolve()),
    { ...context, inbox },
  );
  expect(outcome.result).toBe(result);
  expect(outcome.seen).toMatch(seen);
});

const place = { region, awsAccount: '111122223333' };

it('A missing function that may be invoked has a random name, in this AWS account', () => {
  const arn = missingFunction(
    [
      'arn:aws:lambda:eu-central-1:111122223333:function:orders',
      'arn:aws:lambda:*:444455556666:function:orders-*',
      'arn:aws:lambda:*:*:function:orders-*',
    ],
    place,
  );
  expect(arn).toMatch(/^arn:aws:lambda:eu-central-1:111122223333:function:orders-verify-[0-9a-f]{16}$/);
  expect(missingFunction(['arn:aws:lambda:us-east-1:111122223333:function:a*z:live'], place)).toMatch(
    /^arn:aws:lambda:us-east-1:111122223333:function:averify-[0-9a-f]{16}z:live$/,
  );
});

it.each([
  ['no setting', [], 'the setting lambdaDestinations is empty'],
  [
    'functions that are there',
    ['arn:aws:lambda:eu-central-1:111122223333:function:orders'],
    'the setting lambdaDestinations has only functions that are there, or of other accounts',
  ],
])('No function is invoked with %s', async (_, lambdaDestinations, seen) => {
  const context = contextOf({});
  const outcome = await runCheck(functionCheck, {
    ...context,
    settings: { ...context.settings, lambdaDestinations },
  });
  expect(outcome).toMatchObject({ result: 'skipped', seen });
});

it('An emulator has its APIs under its hosts’ names', () => {
  const url = 'https://abc.execute-api.eu-central-1.amazonaws.com/api';
  expect(reachable(url, undefined)).toBe(url);
  expect(reachable(`${url}/`, 'http://127.0.0.1:1')).toBe(
    'http://127.0.0.1:1/abc.execute-api.eu-central-1.amazonaws.com/api',
  );
});

it.each([
  [[5], 50, 5],
  [[4, 1, 3, 2], 50, 2],
  [Array.from({ length: 100 }, (_, index) => index + 1), 99, 99],
])('Of %j, %i %% are at most %i', (times, percent, expected) => {
  expect(percentile(times, percent)).toBe(expected);
});

it('Usage is requested for each function, table and queue, with ids that CloudWatch accepts', () => {
  const queries = usageQueries([
    { logicalId: 'A', type: 'AWS::Lambda::Function', physicalId: 'Svc-A', status: 'CREATE_COMPLETE' },
    { logicalId: 'B', type: 'AWS::DynamoDB::GlobalTable', physicalId: 'Svc-B', status: 'CREATE_COMPLETE' },
    {
      logicalId: 'C',
      type: 'AWS::SQS::Queue',
      physicalId: 'https://sqs.eu-central-1.amazonaws.com/1/Svc-C',
      status: 'CREATE_COMPLETE',
    },
    { logicalId: 'D', type: 'AWS::IAM::Role', physicalId: 'Svc-D', status: 'CREATE_COMPLETE' },
  ]);
  const shown = queries.map(({ Id, MetricStat }) => [
    Id,
    MetricStat?.Metric?.MetricName,
    MetricStat?.Metric?.Dimensions?.[0]?.Value,
  ]);
  expect(shown).toEqual([
    ['k0_0', 'Invocations', 'Svc-A'],
    ['k1_0', 'ConsumedReadCapacityUnits', 'Svc-B'],
    ['k2_0', 'ConsumedWriteCapacityUnits', 'Svc-B'],
    ['k3_0', 'NumberOfMessagesSent', 'Svc-C'],
  ]);
});

describe('waiting', () => {
  it('ends when the condition holds, or when its time is up', async () => {
    let looks = 0;
    const look = () => Promise.resolve((looks += 1) === 2 ? 'there' : undefined);
    expect(await until(look, () => 'no', { waitMs: 60_000, signal })).toBe('there');
    await expect(
      until(
        () => Promise.resolve(undefined),
        () => 'It is not there.',
        timeout,
      ),
    ).rejects.toThrow('It is not there. That was after 0 s.');
  });

  it('ends when the run ends', async () => {
    const ending = new AbortController();
    const waiting = until(
      () => Promise.resolve(undefined),
      () => 'no',
      {
        waitMs: 60_000,
        signal: ending.signal,
      },
    );
    ending.abort();
    await expect(waiting).rejects.toThrow('aborted');
  });
});
