import { createHmac } from 'node:crypto';
import type { LambdaFunctionURLEvent } from 'aws-lambda';
import { beforeAll, describe, expect, it } from 'vitest';
import { accountIdOf, changeAccount, makeAccount, publishAs } from '../support/accounts.ts';
import { api, deadLettered, logged } from '../support/api.ts';
import { callbackOf } from '../support/callbacks.ts';
import { makeGroup } from '../support/groups.ts';
import { messageIdOf, publish, refusalOf, service, type Answer } from '../support/publish.ts';
import type { Delivery, Inbox } from '../support/receiver.ts';
import { useReceiver } from '../support/useReceiver.ts';

/** The reporter sends its event to an inbox, and returns or throws the inbox’s answer. */

const receiver = useReceiver();

/** A missing function that the deployment and the account allow. */
const missingArn = (): string => service.reporterArn.replace(/[^:]+$/, 'receiver-missing');

beforeAll(async () => {
  const lambda_destinations = [service.reporterArn, missingArn()];
  expect(await changeAccount(accountIdOf(service.token), { lambda_destinations })).toMatchObject({
    lambda_destinations,
  });
});

const reporting = (answer: unknown = { statusCode: 200 }, status = 200): Inbox =>
  receiver.inbox((_delivery, response) =>
    response.writeHead(status).end(typeof answer === 'string' ? answer : JSON.stringify(answer)),
  );

const eventOf = ({ body }: Delivery): LambdaFunctionURLEvent =>
  JSON.parse(body.toString('utf8')) as LambdaFunctionURLEvent;
const bodyOf = ({ body = '' }: LambdaFunctionURLEvent): string =>
  Buffer.from(body, 'base64').toString('utf8');

const reportTo = (inbox: Inbox, headers: Readonly<Record<string, string>> = {}) => ({
  ...headers,
  'Svc-Forward-X-Report-To': inbox.url,
});

describe('a message to a Lambda function', () => {
  it('arrives as the event of a function URL, signed for its ARN', async () => {
    const inbox = reporting({ statusCode: 201, body: 'done' });
    const body = Buffer.from([0, 255, 13, 10]);
    const headers = reportTo(inbox, {
      'Content-Type': 'application/octet-stream',
      'Svc-Method': 'PUT',
      'Svc-Forward-X-Tenant': 'acme',
      'Svc-Forward-X-City': Buffer.from('東京 é').toString('latin1'),
    });
    const messageId = messageIdOf(await publish(service.reporterArn, { body, headers }));
    const [delivery] = await inbox.received(1);
    const event = eventOf(delivery ?? expect.fail('Nothing came.'));
    expect(event).toMatchObject({
      version: '2.0',
      rawPath: '/',
      isBase64Encoded: true,
      body: body.toString('base64'),
      headers: {
        'content-type': 'application/octet-stream',
        'x-tenant': 'acme',
        'x-city': '東京 é',
        'svc-message-id': messageId,
        'svc-retried': '0',
        'user-agent': 'Svc-Queue',
      },
      requestContext: { http: { method: 'PUT', path: '/' }, requestId: messageId },
    });
    const [header = '', payload = '', signature] = (event.headers['svc-signature'] ?? '').split('.');
    const signed = createHmac('sha256', service.currentSigningKey).update(`${header}.${payload}`);
    expect(signed.digest('base64url')).toBe(signature);
    expect(JSON.parse(Buffer.from(payload, 'base64url').toString())).toMatchObject({
      iss: 'Svc',
      sub: service.reporterArn,
    });
    const [delivered] = await logged({ messageId, state: 'DELIVERED', host: service.reporterArn }, 1);
    expect(delivered).toMatchObject({ url: service.reporterArn, responseStatus: 201 });
  });

  it('may be an endpoint of a URL group, or a callback', async () => {
    const inbox = reporting();
    const headers = reportTo(inbox);
    const group = await makeGroup([{ url: service.reporterArn, name: 'function' }]);
    expect((await publish(group, { headers, body: 'group' })).json).toMatchObject([
      { url: service.reporterArn },
    ]);
    const sourceMessageId = messageIdOf(
      await publish(receiver.inbox().url, {
        body: 'called',
        headers: {
          'Svc-Callback': service.reporterArn,
          'Svc-Callback-Forward-X-Report-To': inbox.url,
        },
      }),
    );
    const events = (await inbox.received(2)).map(eventOf);
    const bodies = events.map(bodyOf);
    expect(bodies).toEqual(expect.arrayContaining(['group']));
    const callback = bodies.find((body) => body.startsWith('{'));
    expect(callbackOf({ body: Buffer.from(callback ?? ''), headers: {} })).toMatchObject({
      sourceMessageId,
      status: 200,
    });
    expect(events.map(({ headers: { 'svc-endpoint-name': name } }) => name)).toContain('function');
  });

  it('that throws fails with its error, and is retried', async () => {
    const inbox = receiver.inbox((_delivery, response, count) =>
      count === 0
        ? response.writeHead(500).end('no such order')
        : response.end(JSON.stringify({ statusCode: 503, body: 'busy' })),
    );
    const headers = reportTo(inbox, { 'Svc-Retries': '1', 'Svc-Retry-Delay': '0' });
    const messageId = messageIdOf(await publish(service.reporterArn, { body: 'work', headers }));
    const [entry] = await deadLettered({ messageId }, 1);
    expect(entry).toMatchObject({ url: service.reporterArn, responseStatus: 503, responseBody: 'busy' });
    const errors = await logged({ messageId, state: 'ERROR' }, 2);
    expect(errors.find(({ responseStatus }) => responseStatus === 500)).toMatchObject({
      // AWS names the error’s class, and the emulator uses its own.
      error: expect.stringMatching(/^The function failed\. .*no such order$/) as string,
    });
    const events = (await inbox.received(2)).map(eventOf);
    expect(events.map(({ headers: { 'svc-retried': retried } }) => retried)).toEqual(['0', '1']);
  });

  it('that is missing fails with a sentence', async () => {
    const messageId = messageIdOf(await publish(missingArn(), { headers: { 'Svc-Retries': '0' } }));
    const [entry] = await deadLettered({ messageId }, 1);
    expect(entry).toMatchObject({ responseStatus: 0, error: `There is no function ${missingArn()}.` });
  });
});

describe('a function is refused', () => {
  const refusalBy = (answer: Answer) => ({ status: answer.status, ...refusalOf(answer) });

  it('that the account does not allow, when the message is published or later', async () => {
    const { id, token } = await makeAccount();
    expect(refusalBy(await publishAs({ token }, service.reporterArn))).toEqual({
      status: 403,
      code: 'destination_not_allowed',
      error: `The destination is "${service.reporterArn}", which the field lambda_destinations of the account does not have.`,
    });
    await changeAccount(id, { lambda_destinations: [service.reporterArn.replace(/[^:]+$/, '*')] });
    const inbox = reporting();
    messageIdOf(await publishAs({ token }, service.reporterArn, { headers: reportTo(inbox) }));
    await inbox.received(1);
  });

  it('as the endpoint of a workflow', async () => {
    const answer = await api('POST', `/v2/trigger/${service.reporterArn}`);
    expect(refusalBy(answer)).toMatchObject({
      status: 400,
      error: 'A message of a workflow goes to a URL, and not to an ARN.',
    });
  });
});
