import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { makeAccount, publishAs, type AccountRecord } from '../support/accounts.ts';
import { deadLettered, unique } from '../support/api.ts';
import { startSvcQueue, type Running } from '../support/command.ts';
import { startFront } from '../support/front.ts';
import { bodiesOf, heldInbox } from '../support/heldInbox.ts';
import { untilState } from '../support/listedMessages.ts';
import { messageIdOf } from '../support/publish.ts';
import { service } from '../support/service.ts';
import { useReceiver } from '../support/useReceiver.ts';

let account: AccountRecord;
const receiver = useReceiver();
const listeners: Running[] = [];
beforeAll(async () => {
  account = await makeAccount();
});
afterAll(() => Promise.all(listeners.map((one) => one.kill())));

const latin1 = (text: string): string => Buffer.from(text).toString('latin1');

const listening = (args: readonly string[], url = service.url): Running => {
  const listener = startSvcQueue(['listen', ...args], { SVC_URL: url, SVC_TOKEN: account.token });
  listeners.push(listener);
  return listener;
};

const send = async (destination: string, headers: Readonly<Record<string, string>>, body: string) =>
  messageIdOf(await publishAs(account, destination, { headers, body }));

const ended = (messageId: string, state: string) => untilState(messageId, state, account.token);

describe('svc-queue listen', () => {
  it('makes messages as local requests, hands the answers back, and ends without losing one', async () => {
    const name = unique('name');
    const inbox = receiver.inbox(({ body }, response) => {
      if (body.toString() === 'fail') response.writeHead(500).end('no');
      else setTimeout(() => response.writeHead(201).end('東京'), 500);
    });
    const { pathname } = new URL(inbox.url);
    const listener = listening([inbox.url, '--name', name]);
    const city = latin1('東京');
    const id = await send(`pull:${name}`, { 'Svc-Method': 'PUT', 'Svc-Forward-X-City': city }, '東京');
    await listener.said(new RegExp(`PUT ${pathname} 201 \\d+ ms ${id}`));
    await ended(id, 'DELIVERED');
    expect(inbox.deliveries).toMatchObject([{ method: 'PUT', headers: { 'x-city': city } }]);
    expect(bodiesOf(inbox)).toEqual(['東京']);
    const failing = await send(`pull:${name}`, { 'Svc-Retries': '0' }, 'fail');
    await ended(failing, 'FAILED');

    const last = await send(`pull:${name}`, {}, 'slow');
    await inbox.until((deliveries) => bodiesOf({ deliveries }).includes('slow'));
    listener.interrupt();
    expect(await listener.ended).toMatchObject({ code: 0 });
    await ended(last, 'DELIVERED');
  });

  it('makes a request once that takes longer than --within, and no longer than its listener lives', async () => {
    const name = unique('name');
    const inbox = receiver.inbox((_delivery, response, count) => {
      if (count === 0) setTimeout(() => response.end(), 9_000);
    });
    const args = [inbox.url, '--name', name, '--within', '4s'];
    const listener = listening(args);
    await ended(await send(`pull:${name}`, {}, '東京'), 'DELIVERED');
    expect(bodiesOf(inbox)).toEqual(['東京']);
    const next = await send(`pull:${name}`, { 'Svc-Retries': '0' }, 'hangs');
    await inbox.received(2);
    await listener.kill();
    await ended(next, 'FAILED');
  });

  it('hands back what a server refuses, and what it can of an answer that is too large', async () => {
    const name = unique('name');
    const inbox = receiver.inbox(({ body }, response) => {
      if (body.toString() === 'large') response.end(Buffer.alloc(5_000_000, '東京'));
      else if (body.toString() === 'headers')
        response.writeHead(200, { 'X-Large': 'a'.repeat(12_000) }).end();
      else response.writeHead(413, { 'X-City': latin1('東京') }).end('東京 is too large');
    });
    listening([inbox.url, '--name', name]);
    const refused = await send(`pull:${name}`, { 'Svc-Retries': '0' }, 'one');
    const large = await send(`pull:${name}`, {}, 'large');
    const headers = await send(`pull:${name}`, {}, 'headers');
    const [letter] = await deadLettered({ messageId: refused }, 1, { token: account.token });
    expect(letter).toMatchObject({ responseStatus: 413, responseBody: '東京 is too large' });
    expect(letter).toHaveProperty(['responseHeader', 'X-City'], ['東京']);
    await ended(large, 'DELIVERED');
    await ended(headers, 'DELIVERED');
    expect(bodiesOf(inbox).toSorted()).toEqual(['headers', 'large', 'one']);
  });

  it('shares the messages of its name with other listeners', async () => {
    const name = unique('name');
    const inbox = heldInbox(receiver);
    for (const _ of [1, 2]) listening([inbox.url, '--name', name, '--parallel', '1']);
    const ids = await Promise.all(['東京', '大阪', '京都'].map((city) => send(`pull:${name}`, {}, city)));
    await inbox.received(2);
    expect(inbox.deliveries.at(-1)?.open).toBe(2);
    inbox.letGo();
    await Promise.all(ids.map((id) => ended(id, 'DELIVERED')));
    expect(bodiesOf(inbox).toSorted()).toEqual(['京都', '大阪', '東京'].toSorted());
  });

  it('survives the loss of its network without making a request twice, and ends without one', async () => {
    const name = unique('name');
    const inbox = heldInbox(receiver);
    const front = await startFront(service.url);
    const listener = listening([inbox.url, '--name', name, '--within', '20s'], front.url);
    const first = await send(`pull:${name}`, {}, '東京');
    await inbox.received(1);
    await front.close();
    inbox.letGo();
    await listener.said(/does not answer: .*; trying again\./);
    const again = await startFront(service.url, Number(new URL(front.url).port));
    await ended(first, 'DELIVERED');
    await ended(await send(`pull:${name}`, {}, 'next'), 'DELIVERED');
    expect(bodiesOf(inbox)).toEqual(['東京', 'next']);
    await again.close();
    listener.interrupt();
    expect(await listener.ended).toMatchObject({ code: 0 });
  });

  it('answers 502 if the local server does not, and is an endpoint of a group while it runs', async () => {
    const [name, group] = [unique('name'), unique('group')];
    const listener = listening(['1', '--name', name, '--group', group]);
    await listener.said(/pull:.* goes to http:\/\/127\.0\.0\.1:1\//);
    const answer = await publishAs(account, group, { headers: { 'Svc-Retries': '0' }, body: 'one' });
    const [one] = z.array(z.object({ messageId: z.string() })).parse(answer.json);
    await listener.said(new RegExp(`POST / 502 \\d+ ms ${one?.messageId}`));
    await ended(one?.messageId ?? '', 'FAILED');
    listener.interrupt();
    expect(await listener.ended).toMatchObject({ code: 0 });
    expect((await publishAs(account, group, { body: 'two' })).status).toBe(404);
  });

  it.each([
    [['70000'], /Allowed is a port, or a URL/],
    [['ftp://x'], /Allowed is a port, or a URL/],
    [['3000', '--name', 'a b'], /Allowed is 1 to 100 letters/],
    [['3000', '--parallel', '0'], /Allowed is a whole number from 1 to 100/],
    [['3000', '--parallel', '101'], /Allowed is a whole number from 1 to 100/],
    [['3000', '--within', '5'], /Allowed is a duration/],
    [['3000', '--within', '0s'], /within is "0s"; allowed is 1s to 7d\./],
    [['3000', '--within', '8d'], /within is "8d"; allowed is 1s to 7d\./],
  ])('refuses %j', async (args, sentence) => {
    const { code, output } = await listening(args).ended;
    expect(code).toBe(2);
    expect(output).toMatch(sentence);
  });
});
