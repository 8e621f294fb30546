import { CostExplorerClient } from '@aws-sdk/client-cost-explorer';
import { describe, expect, it } from 'vitest';
import { gatewayAnswers, refusalBody } from '../../../lib/api/gatewayAnswers.ts';
import { clientOptions } from '../../../lambdas/aws/clientOptions.ts';
import { judgeFlood, wrongAnswers } from '../../../verify/after/answers/gatewayChecks.ts';
import { attemptsIn, judgeQuick } from '../../../verify/after/delivery/loadChecks.ts';
import type { Received } from '../../../verify/after/receiver/received.ts';
import { differencesOf, wantedTables } from '../../../verify/after/watch/dataChecks.ts';
import { deniedIn } from '../../../verify/after/watch/deniedChecks.ts';
import { judgeBill, readBilled } from '../../../verify/bill/bill.ts';
import { forecastOf } from '../../../verify/bill/forecast.ts';
import { readDeployment } from '../../../verify/deployment.ts';
import { judgeTraffic, missingOf, openCommands } from '../../../verify/release/release.ts';
import { answerFrom } from '../../support/answeringClients.ts';

const region = 'eu-central-1';
const deployment = readDeployment({ regions: 'eu-central-1,us-east-1' });

describe('the answers of the gateway', () => {
  const good = Object.fromEntries(
    gatewayAnswers.map((answer) => [
      answer.type.responseType,
      {
        ...(answer.status !== undefined && { statusCode: answer.status.toString() }),
        responseTemplates: { 'application/json': refusalBody(answer) },
      },
    ]),
  );

  it('are good if they match this release', () => {
    expect(wrongAnswers(good)).toEqual([]);
  });

  it('are bad with another status, body or kind', () => {
    const { THROTTLED: _, ...others } = good;
    const timeout = { ...good['INTEGRATION_TIMEOUT'], statusCode: '500', responseTemplates: {} };
    expect(wrongAnswers({ ...others, INTEGRATION_TIMEOUT: timeout })).toEqual([
      'THROTTLED is AWS’s own',
      'INTEGRATION_TIMEOUT is 500 undefined',
    ]);
  });
});

describe('a flood of requests', () => {
  const answer = (status: number, text: string, headers = {}) => ({
    status,
    text,
    headers: new Headers(headers),
  });
  const found = answer(404, '{"error":"No."}');
  const refused = answer(429, '{"error":"Too many.","code":"service_throttled"}', { 'retry-after': '1' });

  it('is good if some are refused as they should be', () => {
    expect(judgeFlood([found, refused, refused])).toBe(2);
  });

  it.each([
    ['none is refused', [found], /all were accepted/],
    ['the body is the gateway’s own', [answer(429, '{"message":"Too Many Requests"}')], /429 \{"message"/],
    ['Retry-After is missing', [answer(429, refused.text)], /Retry-After: null/],
  ])('is bad if %s', (_, answers, sentence) => {
    expect(() => judgeFlood(answers)).toThrow(sentence);
  });
});

describe('load', () => {
  it('counts the attempts of an invocation by its metrics, and ignores other lines', () => {
    const metrics = '{"_aws":{"Timestamp":1},"service":"svc","Delivered":9,"Retried":1,"Lateness":[1,2]}';
    expect(attemptsIn(metrics)).toBe(10);
    expect(attemptsIn(`2026-11-25T00:00:00.000Z\tid\tINFO\t${metrics}`)).toBe(10);
    expect(attemptsIn('{"_aws":{"Timestamp":1},"LongestLine":3}')).toBeUndefined();
    expect(attemptsIn('{"level":"INFO","message":"attempt"}')).toBeUndefined();
  });

  it('is good if quick messages do not wait for a slow host', () => {
    expect(judgeQuick([100, 200, 300, 6_000])).toMatch(/4 of a quick one came after p50 200, p99 6000 ms/);
    expect(() => judgeQuick([5_100, 5_200, 300])).toThrow(/came after 5100 ms/);
  });
});

it('Denied calls are distinguished from other errors of CloudTrail', () => {
  const event = (of: object) => ({
    Username: 'Svc-Publish',
    CloudTrailEvent: JSON.stringify({ eventName: 'Decrypt', eventSource: 'kms.amazonaws.com', ...of }),
  });
  expect(
    deniedIn([
      event({}),
      event({ errorCode: 'ThrottlingException' }),
      event({ errorCode: 'Client.UnauthorizedOperation' }),
      event({ errorCode: 'AccessDeniedException', errorMessage: 'not authorized' }),
    ]),
  ).toEqual([
    'Svc-Publish: Decrypt of kms.amazonaws.com, Client.UnauthorizedOperation',
    'Svc-Publish: Decrypt of kms.amazonaws.com, not authorized',
  ]);
});

describe('the tables', () => {
  it('are those with a replica in the region, including another template’s shared one', () => {
    const wanted = wantedTables({ templates: deployment.stacks, resources: [], region: 'us-east-1' });
    expect(wanted).toContainEqual({
      table: 'Svc-accounts',
      expiry: 'expiresAt',
      isRecoverable: true,
      isProtected: true,
    });
    expect(wanted.map(({ table }) => table).toSorted()).toEqual(['Svc-accounts', 'Svc-usage']);
  });

  it('may lack optional parts only', () => {
    const wanted = { table: 'Svc-usage', expiry: undefined, isRecoverable: false, isProtected: false };
    expect(differencesOf(wanted, wanted)).toEqual([]);
    expect(
      differencesOf(wanted, { ...wanted, expiry: 'expiresAt', isRecoverable: true, isProtected: true }),
    ).toHaveLength(3);
  });
});

describe('a release', () => {
  const received = (messageId: string, retried = 0): Received => ({
    inbox: 'i1',
    at: 0,
    method: 'POST',
    path: '',
    query: '',
    from: '192.0.2.1',
    messageId,
    retried,
    contentType: '',
    signature: '',
    completeUrl: '',
    bytes: 0,
    sha256: '',
    text: '',
  });
  const names = Array.from({ length: 100 }, (_, index) => `msg_${index}`);
  /** The first message fails at first. */
  const traffic = { accepted: new Map(names.map((id) => [id, id === 'msg_0'])), refused: [] };
  const all = [...names.map((id) => received(id)), received('msg_0', 1)];

  it('is good if all arrived, and very few twice', () => {
    expect(missingOf(traffic, all)).toEqual([]);
    expect(judgeTraffic(traffic, [...all, received('msg_7')])).toBe(
      '100 messages were accepted and all arrived, 1 attempts came twice, 0 requests were refused',
    );
  });

  it.each([
    ['many come twice', traffic, [...all, ...all], /101 attempts were made twice/],
    [
      'requests are refused',
      { ...traffic, refused: ['503', '503', '503'] },
      all,
      /3 of 103 requests were refused: 503/,
    ],
  ])('is bad if %s', (_, sent, arrived, sentence) => {
    expect(() => judgeTraffic(sent, arrived)).toThrow(sentence);
  });

  it('reports missing messages and retries', () => {
    expect(missingOf(traffic, all.slice(0, -1))).toEqual(['msg_0']);
    expect(missingOf(traffic, all.slice(2))).toEqual(['msg_1']);
  });

  it('ends with the run', async () => {
    const ending = new AbortController();
    const run = openCommands({ commands: ['exit 0'] }, 1, () => undefined)(ending.signal);
    ending.abort();
    await expect(run).rejects.toThrow('aborted');
  });
});

describe('the bill', () => {
  const day = '2026-11-25';
  const { stacks } = deployment;

  it('is read page by page, by service, and only for the deployment’s services', async () => {
    const client = new CostExplorerClient({ ...clientOptions('quick'), region: 'us-east-1' });
    const group = (service: string, Amount: string) => ({
      Keys: [service],
      Metrics: { UnblendedCost: { Amount, Unit: 'USD' } },
    });
    const inputs: unknown[] = [];
    answerFrom(client, {
      GetCostAndUsageCommand: (input) => {
        inputs.push(input);
        return inputs.length === 1
          ? { NextPageToken: 'more', ResultsByTime: [{ Groups: [group('AWS Lambda', '0.1')] }] }
          : { ResultsByTime: [{ Groups: [group('AWS Lambda', '0.2'), group('Amazon DynamoDB', '1')] }] };
      },
    });
    const billed = await readBilled(client, { day, deployment, regions: [region] });
    expect([...billed].map(([service, dollars]) => [service, dollars.toFixed(2)])).toEqual([
      ['AWS Lambda', '0.30'],
      ['Amazon DynamoDB', '1.00'],
    ]);
    expect(inputs[1]).toMatchObject({ NextPageToken: 'more' });
    expect(inputs[0]).toMatchObject({
      TimePeriod: { Start: day, End: '2026-11-26' },
      Filter: {
        And: [
          { Tags: { Key: 'service', Values: ['Svc'] } },
          { Dimensions: { Key: 'REGION', Values: [region] } },
          { Dimensions: { Key: 'RECORD_TYPE', Values: ['Usage'] } },
        ],
      },
    });
  });

  it('has a forecast for messages at their region’s prices, equal to the bill in docs/cost.md', () => {
    const millionIn = (where: string, of: 'alone' | 'batched'): number =>
      forecastOf(new Map([[where, 1_000_000]]), []).reduce((total, one) => total + one[of], 0);
    expect(millionIn('us-east-1', 'alone')).toBeCloseTo(4.9, 1);
    expect(millionIn('us-east-1', 'batched')).toBeCloseTo(3.44, 1);
    expect(millionIn('eu-central-1', 'alone')).toBeCloseTo(5.41, 1);
    // A region without known prices has those of us-east-1.
    expect(millionIn('eu-north-1', 'alone')).toBe(millionIn('us-east-1', 'alone'));
    expect(forecastOf(new Map([[region, 1]]), []).map(({ service }) => service)).toEqual([
      'AWS Lambda',
      'Amazon Simple Queue Service',
      'Amazon DynamoDB',
      'AmazonCloudWatch',
    ]);
  });

  it('has a forecast without messages', () => {
    const idle = new Map(forecastOf(new Map(), stacks).map(({ service, alone }) => [service, alone]));
    const month = 730 / 24;
    // docs/cost.md: $1.20 for secrets, $5.70 and $3.00 for alarms and the dashboard in two regions.
    expect((idle.get('AWS Secrets Manager') ?? 0) * month).toBeCloseTo(1.2, 3);
    expect((idle.get('AmazonCloudWatch') ?? 0) * month).toBeCloseTo(8.7, 3);
    expect([...idle.keys()].sort()).toEqual([
      'AWS Secrets Manager',
      'Amazon Simple Queue Service',
      'AmazonCloudWatch',
    ]);
  });

  const forecast = [{ service: 'AWS Lambda', alone: 2, batched: 1 }];

  it('is good up to the forecast, and names services without one', () => {
    const billed = new Map([
      ['AWS Lambda', 1.5],
      ['EC2 - Other', 0.5],
    ]);
    expect(judgeBill({ day, messages: 1_000 }, billed, forecast)).toBe(
      '2026-11-25: AWS billed $2.00 for 1000 messages; the forecast is $1.00 in batches to $2.00 alone: AWS Lambda $1.50 ($1.00 to $2.00), EC2 - Other $0.50 (no forecast)',
    );
  });

  it('is bad above the forecast, and without tagged costs', () => {
    expect(() => judgeBill({ day, messages: 1 }, new Map([['AWS Lambda', 3]]), forecast)).toThrow(
      /AWS billed \$3\.00/,
    );
    expect(() => judgeBill({ day, messages: 1 }, new Map(), forecast)).toThrow(/with the tag service/);
  });
});
