import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { makeAccount, publishAs, type AccountRecord } from '../support/accounts.ts';
import { api, ok, unique } from '../support/api.ts';
import { eventually } from '../support/eventually.ts';
import { startListener, type Listener } from '../support/listener.ts';
import { messageIdOf } from '../support/publish.ts';

let account: AccountRecord;
const listeners: Listener[] = [];
beforeAll(async () => {
  account = await makeAccount();
});
afterAll(() => Promise.all(listeners.map((one) => one.kill())));

const listening = async (args: readonly string[]): Promise<Listener> => {
  const listener = await startListener(args, account.token);
  listeners.push(listener);
  return listener;
};

async function serve(answer: (request: IncomingMessage, body: string, response: ServerResponse) => void) {
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      answer(request, Buffer.concat(parts).toString(), response);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  return { server, port: typeof address === 'object' ? (address?.port ?? 0) : 0 };
}

const send = async (destination: string, headers: Readonly<Record<string, string>>, body: string) =>
  messageIdOf(await publishAs(account, destination, { headers, body }));

const shown = z.looseObject({ state: z.string() });
const ended = (messageId: string, state: string) =>
  eventually(
    async () =>
      shown.parse(await ok(api('GET', `/v2/messages/${messageId}?state=ALL`, { token: account.token })))
        .state,
    (now) => now === state,
  );

describe('svc-queue listen', () => {
  it('makes messages as local requests, hands the answers back, and ends without losing one', async () => {
    const name = unique('name');
    const seen: (readonly [string | undefined, string, string])[] = [];
    const { server, port } = await serve((request, body, response) => {
      seen.push([request.method, String(request.headers['x-city']), body]);
      if (body === 'fail') response.writeHead(500).end('no');
      else setTimeout(() => response.writeHead(201).end('東京'), 2_500);
    });
    const listener = await listening([String(port), '--name', name, '--within', '1s']);
    const city = Buffer.from('東京').toString('latin1');
    const id = await send(`pull:${name}`, { 'Svc-Method': 'PUT', 'Svc-Forward-X-City': city }, '東京');
    await listener.said(new RegExp(`PUT / 201 \\d+ ms ${id}`));
    await ended(id, 'DELIVERED');
    // On a busy machine the extension may be too late, and the request is made twice.
    expect(new Set(seen.map(String))).toEqual(new Set([`PUT,${city},東京`]));
    const failing = await send(`pull:${name}`, { 'Svc-Retries': '0' }, 'fail');
    await ended(failing, 'FAILED');

    const last = await send(`pull:${name}`, {}, 'slow');
    await eventually(
      () => Promise.resolve(seen.some(([, , body]) => body === 'slow')),
      (isSeen) => isSeen,
    );
    listener.interrupt();
    expect(await listener.ended).toBe(0);
    await ended(last, 'DELIVERED');
    server.close();
  });

  it('answers 502 if the local server does not, and is an endpoint of a group while it runs', async () => {
    const [name, group] = [unique('name'), unique('group')];
    const listener = await listening(['1', '--name', name, '--group', group]);
    await listener.said(/pull:.* goes to http:\/\/127\.0\.0\.1:1\//);
    const answer = await publishAs(account, group, { headers: { 'Svc-Retries': '0' }, body: 'one' });
    const [one] = z.array(z.object({ messageId: z.string() })).parse(answer.json);
    await listener.said(new RegExp(`POST / 502 \\d+ ms ${one?.messageId}`));
    await ended(one?.messageId ?? '', 'FAILED');
    listener.interrupt();
    expect(await listener.ended).toBe(0);
    expect((await publishAs(account, group, { body: 'two' })).status).toBe(404);
  });

  it.each([
    [['70000'], /Allowed is a port, or a URL/],
    [['ftp://x'], /Allowed is a port, or a URL/],
    [['3000', '--name', 'a b'], /Allowed is 1 to 100 letters/],
    [['3000', '--parallel', '0'], /Allowed is a whole number from 1 to 100/],
    [['3000', '--within', '5'], /Allowed is a duration/],
  ])('refuses %j', async (args, sentence) => {
    const listener = await listening(args);
    expect(await listener.ended).toBe(2);
    expect(listener.output()).toMatch(sentence);
  });
});
