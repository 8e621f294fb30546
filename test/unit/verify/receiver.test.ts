import { buffer } from 'node:stream/consumers';
import { runInNewContext } from 'node:vm';
import type { LambdaFunctionURLEvent } from 'aws-lambda';
import { describe, expect, it, vi } from 'vitest';
import { Match, Template } from 'aws-cdk-lib/assertions';
import * as z from 'zod';
import { close, listen } from '../../../local/http.ts';
import { readLine } from '../../../verify/after/receiver/inbox.ts';
import { lateHostTemplate, lateServer } from '../../../verify/after/receiver/lateHost.ts';
import { handler } from '../../../verify/after/receiver/receiver.ts';
import { receiverCode } from '../../../verify/after/receiver/receiverCode.ts';
import { receiverTemplate } from '../../../verify/after/receiver/receiverStack.ts';

function eventOf(
  rawPath: string,
  headers: Readonly<Record<string, string>> = {},
  body = '',
): LambdaFunctionURLEvent {
  const domainName = 'abc.lambda-url.eu-central-1.on.aws';
  return {
    version: '2.0',
    routeKey: '$default',
    rawPath,
    rawQueryString: 'x=1&x=2+3',
    headers,
    body: Buffer.from(body).toString('base64'),
    isBase64Encoded: true,
    requestContext: {
      accountId: 'anonymous',
      apiId: 'abc',
      domainName,
      domainPrefix: 'abc',
      http: { method: 'POST', path: rawPath, protocol: 'HTTP/1.1', sourceIp: '192.0.2.1', userAgent: '' },
      requestId: 'id',
      routeKey: '$default',
      stage: '$default',
      time: '22/Mar/2026:18:59:00 +0000',
      timeEpoch: 0,
    },
  };
}

/** Calls the receiver. @returns its answer, and its log line as Lambda writes it */
async function receive(...event: Parameters<typeof eventOf>) {
  const lines: string[] = [];
  const log = vi.spyOn(console, 'log').mockImplementation((line: string) => {
    lines.push(line);
  });
  const answer = await handler(eventOf(...event));
  log.mockRestore();
  return { answer, received: readLine(`2026-03-22T18:59:00.000Z\tid\tINFO\t${lines.join()}\n`) };
}

describe('the receiver', () => {
  it('logs the request byte for byte', async () => {
    const headers = { 'svc-message-id': 'msg_1', 'content-type': 'text/plain', 'svc-signature': 'a.b.c' };
    const { answer, received } = await receive('/i1/ok//a%2Fb', headers, 'ü');
    expect(answer.statusCode).toBe(200);
    expect(received).toMatchObject({
      inbox: 'i1',
      method: 'POST',
      path: '//a%2Fb',
      query: 'x=1&x=2+3',
      from: '192.0.2.1',
      messageId: 'msg_1',
      retried: 0,
      contentType: 'text/plain',
      signature: 'a.b.c',
      bytes: 2,
      sha256: '607474ca475a9724d7360aba71a56d5df77e61350e3f724cfa1f46e857e2d85f',
      text: 'ü',
    });
  });

  it.each([
    ['/i1/ok', '0', 200],
    ['/i1/fail', '3', 500],
    ['/i1/fail-first', '0', 500],
    ['/i1/fail-first', '1', 200],
    ['/i1/none', '0', 404],
    ['/', '0', 404],
  ])('answers %s at attempt %s with %i', async (path, retried, status) => {
    const { answer } = await receive(path, { 'svc-retried': retried });
    expect(answer.statusCode).toBe(status);
  });

  it('waits for the requested number of seconds', async () => {
    const log = vi.spyOn(console, 'log').mockReturnValue();
    const order: unknown[] = [];
    const ask = async (path: string): Promise<void> => {
      order.push([path, await handler(eventOf(path))]);
    };
    await Promise.all([ask('/i1/wait-1/'), ask('/i1/wait-0/')]);
    log.mockRestore();
    const answer = { statusCode: 200, body: 'waited' };
    expect(order).toEqual([
      ['/i1/wait-0/', answer],
      ['/i1/wait-1/', answer],
    ]);
  });

  it('does not log a long body', async () => {
    const { received } = await receive('/i1/ok', {}, 'x'.repeat(100_000));
    expect(received).toMatchObject({ bytes: 100_000, text: '' });
  });

  it('takes a run through three steps, and ends it', async () => {
    const asked: string[] = [];
    const { server, url } = await listen((incoming, outgoing) => {
      void buffer(incoming).then((body) => {
        const [item] = z
          .tuple([z.object({ body: z.string() })])
          .catch([{ body: '' }])
          .parse(JSON.parse(body.toString()));
        asked.push(`${incoming.method ?? ''} ${incoming.url ?? ''} ${item.body}`);
        outgoing.writeHead(200).end('[{"messageId":"msg_1"}]');
      });
    });
    const headers = {
      'verify-api': url,
      'verify-token': 'token',
      'verify-url': 'https://example.com/i1/flow',
      'svc-workflow-runid': 'wfr_1',
    };
    const statuses: number[] = [];
    for (const entries of [[1], [1, 2], [1, 2, 3], [1, 2, 3, 4]])
      statuses.push((await receive('/i1/flow', headers, JSON.stringify(entries))).answer.statusCode);
    await close(server);
    expect(statuses).toEqual([200, 200, 200, 200]);
    expect(asked.map((line) => line.slice(0, 30))).toEqual([
      'POST /v2/batch {"stepId":1,"st',
      'POST /v2/batch {"stepId":2,"st',
      'POST /v2/batch {"stepId":3,"st',
      'DELETE /v2/workflows/runs/wfr_',
    ]);
  });

  it('logs Lambda’s own lines, too', () => {
    expect(readLine('START RequestId: id Version: $LATEST\n')).toBeUndefined();
  });

  it('is small enough for a template, and runs as CommonJS', () => {
    const code = receiverCode();
    expect(code.length).toBeLessThan(4_096);
    const module = { exports: {} };
    runInNewContext(code, { module, require: () => ({}), exports: module.exports });
    expect(Object.keys(module.exports)).toEqual(['handler']);
  });
});

const template = z.object({
  Resources: z.record(z.string(), z.looseObject({ Type: z.string(), DeletionPolicy: z.string().optional() })),
});

it('The receiver’s stack has two hosts, is deleted as a whole, and may only write logs', () => {
  const text = receiverTemplate('Svc');
  const { Resources } = template.parse(JSON.parse(text));
  const types = Object.values(Resources).map(({ Type }) => Type);
  expect(types.toSorted()).toEqual([
    ...['AWS::IAM::Role', 'AWS::IAM::Role'],
    ...['AWS::Lambda::Function', 'AWS::Lambda::Function'],
    ...Array.from({ length: 4 }, () => 'AWS::Lambda::Permission'),
    ...['AWS::Lambda::Url', 'AWS::Lambda::Url'],
    ...['AWS::Logs::LogGroup', 'AWS::Logs::LogGroup'],
  ]);
  expect(
    Object.values(Resources).filter(({ DeletionPolicy = 'Delete' }) => DeletionPolicy !== 'Delete'),
  ).toEqual([]);
  expect([...new Set(text.match(/"[a-z]+:[A-Z]\w+"/g))]).toEqual([
    '"sts:AssumeRole"',
    '"logs:CreateLogStream"',
    '"logs:PutLogEvents"',
    '"lambda:InvokeFunctionUrl"',
    '"lambda:InvokeFunction"',
  ]);
  expect(text.length).toBeLessThan(51_200);
});

describe('the machine that answers late', () => {
  it('accepts requests at one port, and nothing else', () => {
    const template = Template.fromJSON(
      z.record(z.string(), z.unknown()).parse(JSON.parse(lateHostTemplate('Svc'))),
    );
    template.resourceCountIs('AWS::EC2::Instance', 1);
    template.resourceCountIs('AWS::EC2::NatGateway', 0);
    template.allResourcesProperties('AWS::EC2::SecurityGroup', {
      SecurityGroupIngress: [Match.objectLike({ FromPort: 80, ToPort: 80, CidrIp: '0.0.0.0/0' })],
    });
    // The receiver's role allows nothing in AWS.
    template.resourceCountIs('AWS::IAM::Policy', 0);
    template.hasOutput('Url', {});
  });

  it('has its server’s program unchanged in its start script', () => {
    expect(lateHostTemplate('Svc')).toContain(JSON.stringify(lateServer(80)).slice(1, -1));
  });
});
