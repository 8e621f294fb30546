/** Runs the checks of `npm run verify` that need no AWS on the local stage. */
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { makeApp } from '../infra/app.ts';
import { close, listen } from '../../local/http.ts';
import { makeAccount } from '../support/accounts.ts';
import { limitForHangsMs } from '../support/limits.ts';
import { service } from '../support/publish.ts';
import { leftAccounts, makeAccount as makeOwn, removeAccount } from '../../verify/after/accounts.ts';
import { basic, bearer, clientOf, sender } from '../../verify/after/api.ts';
import { answerChecks } from '../../verify/after/answers/answerChecks.ts';
import type { After } from '../../verify/after/context.ts';
import { deliveryChecks } from '../../verify/after/delivery/deliveryChecks.ts';
import { longAnswer, lostInstanceCheck } from '../../verify/after/delivery/instanceChecks.ts';
import { functionCheck } from '../../verify/after/delivery/functionCheck.ts';
import { openInboxes, readLine } from '../../verify/after/receiver/inbox.ts';
import type { Received } from '../../verify/after/receiver/received.ts';
import { handler } from '../../verify/after/receiver/receiver.ts';
import { runCheck } from '../../verify/check.ts';
import { clientsIn } from '../../verify/clients.ts';

const region = service.region;
const never = new AbortController().signal;

/** Runs the receiver’s code on a port, like Lambda behind a URL. */
async function startVerifyReceiver() {
  const got: Received[] = [];
  const log = vi.spyOn(console, 'log').mockImplementation((line: string) => {
    const received = readLine(line);
    if (received !== undefined) got.push(received);
  });
  const { server, url } = await listen((incoming, outgoing) => {
    void buffer(incoming).then(async (body) => {
      const [rawPath = '', ...query] = (incoming.url ?? '').split('?');
      const headers = Object.fromEntries(
        Object.entries(incoming.headers).map(([name, value]) => [name, String(value)]),
      );
      const http = {
        method: incoming.method ?? '',
        path: rawPath,
        protocol: '',
        sourceIp: '',
        userAgent: '',
      };
      const answer = await handler({
        version: '2.0',
        routeKey: '$default',
        rawPath,
        rawQueryString: query.join('?'),
        headers,
        body: body.toString('base64'),
        isBase64Encoded: true,
        requestContext: {
          accountId: 'anonymous',
          apiId: '',
          domainName: '',
          domainPrefix: '',
          http,
          requestId: '',
          routeKey: '',
          stage: '',
          time: '',
          timeEpoch: 0,
        },
      });
      outgoing.writeHead(answer.statusCode, answer.headers).end(answer.body);
    });
  });
  return {
    url,
    got,
    close: async (): Promise<void> => {
      log.mockRestore();
      await close(server);
    },
  };
}

describe.runIf(service.target === 'local')('verify', () => {
  let receiver: Awaited<ReturnType<typeof startVerifyReceiver>>;
  let after: After;
  beforeAll(async () => {
    receiver = await startVerifyReceiver();
    const lambdaDestinations = ['arn:aws:lambda:*:000000000000:function:orders-*'];
    const account = await makeAccount({ lambda_destinations: lambdaDestinations });
    const send = sender(service.url, never);
    const client = clientOf(send, bearer(account.token));
    const { settings } = makeApp({ regions: region, lambdaDestinations: lambdaDestinations.join() });
    const timeout = { waitMs: limitForHangsMs, signal: never };
    after = {
      region,
      isEmulator: false,
      settings,
      timeout,
      clients: clientsIn(region),
      startedAt: Date.now(),
      awsAccount: '000000000000',
      account,
      stacks: [],
      templates: [],
      resources: [],
      sendTo: (url) => sender(url, never),
      api: { url: service.url, send, client },
      publishUrl: undefined,
      management: {
        send: sender(service.management.url, never),
        client: clientOf(
          sender(service.management.url, never),
          basic(service.management.user, service.management.password),
        ),
      },
      others: [],
      inbox: openInboxes({
        read: () => Promise.resolve([...receiver.got]),
        urls: { quick: receiver.url, slow: receiver.url },
        timeout,
      }),
    };
  });
  afterAll(() => receiver.close());

  it.each([...answerChecks, ...deliveryChecks, functionCheck].map((check) => [check.name, check] as const))(
    '%s is good',
    async (name, check) => {
      const { result, seen } = await runCheck(check, after);
      expect([name, result, seen]).toEqual([name, 'good', seen]);
    },
  );

  it.each([longAnswer(1_200), lostInstanceCheck].map((check) => [check.name, check] as const))(
    '%s is skipped where functions wait for all answers',
    async (_, check) => {
      const { result, seen } = await runCheck(check, after);
      expect([result, seen]).toEqual(['skipped', expect.stringContaining('longDelivery is functions')]);
    },
  );

  it('removes its accounts with their data, even those of killed runs', async () => {
    const { url, user, password } = service.management;
    const management = clientOf(sender(url, never), basic(user, password));
    const account = await makeOwn(management, region, []);
    const client = clientOf(sender(service.url, never), bearer(account.token));
    const destination = 'https://example.com/hook';
    for (const [path, headers] of [
      [`schedules/${destination}`, { 'svc-cron': '0 0 1 1 *' }],
      [`publish/${destination}`, { 'svc-delay': '1h' }],
      [`enqueue/line/${destination}`, { 'svc-delay': '1h' }],
    ] as const)
      expect((await client.send('POST', `/v2/${path}`, { headers, body: 'x' })).status).toBeLessThan(300);
    await client.send('POST', '/v2/topics/orders/endpoints', {
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ endpoints: [{ url: destination }] }),
    });

    const [left, ...others] = await leftAccounts(management, region);
    expect(others).toEqual([]);
    expect(left?.id).toBe(account.id);
    await removeAccount(management, client, account);
    expect(await leftAccounts(management, region)).toEqual([]);
  });
});
