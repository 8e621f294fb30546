import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { service } from '../support/publish.ts';
import { startReceiver, type Receiver } from '../support/receiver.ts';

let receiver: Receiver;
beforeAll(async () => {
  receiver = await startReceiver();
});
afterAll(() => receiver.close());

/** Publishes with a path that no client library has touched. */
function publishRaw(rawTail: string): Promise<number> {
  const { hostname, port, pathname } = new URL(service.url);
  const path = `${pathname.replace(/\/$/, '')}/v2/publish/${rawTail}`;
  return new Promise((answered, failed) => {
    const outgoing = request({ hostname, port, path, method: 'POST' }, (response) => {
      response.resume().on('end', () => {
        answered(response.statusCode ?? 0);
      });
    });
    outgoing.setHeader('authorization', `Bearer ${service.token}`).on('error', failed).end();
  });
}

describe('a destination', () => {
  it.each([
    ['an encoded slash', '/a%2Fb'],
    ['an encoded question mark', '/a%3Fb'],
    ['an encoded space', '/a%20b'],
    ['an encoded hash and percent sign', '/a%23b%25c'],
    ['non-ASCII characters', '/caf%C3%A9/%E2%9C%93'],
    ['lower-case escapes', '/caf%c3%a9'],
    ['doubled slashes', '/a//b///c'],
    ['dots', '/a/../b/./c'],
    ['punctuation', "/a;b=c,d:e@f!$&'()*+~"],
    ['another URL inside', '/https://example.com/x'],
    ['a query', '/a?b=1&b=3&c=two%20words&d=%2F'],
    ['a trailing slash', '/a/'],
  ])('with %s arrives unchanged', async (_title, tail) => {
    const inbox = receiver.inbox();
    expect(await publishRaw(`${inbox.url}${tail}`)).toBe(200);
    const [delivery] = await inbox.received(1);
    expect(delivery?.target).toBe(`${new URL(inbox.url).pathname}${tail}`);
  });

  it('whose slashes a gateway collapsed is restored', async () => {
    const inbox = receiver.inbox();
    expect(await publishRaw(`${inbox.url.replace('//', '/')}/x`)).toBe(200);
    await inbox.received(1);
  });

  it('that is percent-encoded as a whole is decoded once', async () => {
    const inbox = receiver.inbox();
    const tail = '/a%2Fb?x=1&y=%26&svc-retries=9';
    expect(await publishRaw(encodeURIComponent(`${inbox.url}${tail}`))).toBe(200);
    const [delivery] = await inbox.received(1);
    expect(delivery?.target).toBe(`${new URL(inbox.url).pathname}${tail}`);
  });
});
