/* eslint-disable @typescript-eslint/no-deprecated -- `upstash()` is one of them. */
/** The built-in providers of `@upstash/qstash`, with a stand-in for their API. The client turns them into a URL and headers. */
import * as qstash from '@upstash/qstash';
import { equal, match } from 'node:assert/strict';
import { receiver, refused, token, url, type Operations } from './harness.ts';

const client = new qstash.Client({ baseUrl: url, token });
const body = { model: 'any', messages: [{ role: 'user', content: 'hello' }] };

/** Publishes to a provider, and checks its request and the callback with its answer. */
async function asks(
  publish: (standIn: string, callback: string) => Promise<unknown>,
  path: string,
  header: string,
): Promise<void> {
  const standIn = receiver.inbox((_delivery, response) => response.end('{"id":"answer"}'));
  const callbacks = receiver.inbox();
  await publish(standIn.url, callbacks.url);
  const [request] = await standIn.received(1);
  equal(request?.method, 'POST');
  equal(request.target, `${new URL(standIn.url).pathname}${path}`);
  match(request.headers[header] ?? '', /key$/);
  const [called] = await callbacks.received(1);
  const answer = Buffer.from('{"id":"answer"}').toString('base64');
  match(called?.body.toString() ?? '', new RegExp(`"body":"${answer}"`));
}

/** The providers, whose API is at the stand-in, by name. */
const providers = {
  openai: (baseUrl: string) => Object.assign(qstash.openai({ token: 'key' }), { baseUrl }),
  anthropic: (baseUrl: string) => Object.assign(qstash.anthropic({ token: 'key' }), { baseUrl }),
  custom: (baseUrl: string) => qstash.custom({ token: 'key', baseUrl }),
};

const asksForChat = (name: keyof typeof providers, path: string, header: string) => () =>
  asks(
    (standIn, callback) =>
      client.publishJSON({ api: { name: 'llm', provider: providers[name](standIn) }, body, callback }),
    path,
    header,
  );

export const providerOperations: Operations = {
  'publishJSON({ api: openai })': asksForChat('openai', '/v1/chat/completions', 'authorization'),
  'publishJSON({ api: anthropic })': asksForChat('anthropic', '/v1/messages', 'x-api-key'),
  'publishJSON({ api: custom })': asksForChat('custom', '/v1/chat/completions', 'authorization'),
  'publishJSON({ api: resend })': () =>
    asks(
      (standIn, callback) => {
        const provider = Object.assign(qstash.resend({ token: 'key' }), { baseUrl: standIn });
        return client.publishJSON({ api: { name: 'email', provider }, body, callback });
      },
      '/emails',
      'authorization',
    ),
  'publishJSON({ api: upstash })': () =>
    refused(
      () =>
        client.publishJSON({
          api: { name: 'llm', provider: qstash.upstash() },
          body,
          callback: receiver.inbox().url,
        }),
      /destination/i,
      'The service has no language models of its own. Publish to a provider.',
    ),
};
