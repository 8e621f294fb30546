import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { makeAccount } from '../support/accounts.ts';
import { api, ok } from '../support/api.ts';
import { eventually } from '../support/eventually.ts';
import { useReceiver } from '../support/useReceiver.ts';

const receiver = useReceiver();

/** In the order of the settings below: no answer to a read-only token may contain one. */
const secrets = {
  Authorization: 'Bearer cron-secret-1',
  Cookie: 'session=cookie-secret-2',
  'X-Api-Key': 'key-secret-3',
  'X-Vercel-Protection-Bypass': 'bypass-secret-4',
};
const plain = { 'X-Tenant': '東京', 'Idempotency-Key': 'order-7' };
const headersOf = (prefix: string, headers: Readonly<Record<string, string>>) =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      `${prefix}${name}`,
      Buffer.from(value).toString('latin1'),
    ]),
  );
const forwarded = headersOf('Svc-Forward-', { ...secrets, ...plain });
const isToldIn = (text: string) => /[a-z]+-secret-\d/.exec(text)?.[0];

const messages = z.object({
  messages: z.array(z.looseObject({ messageId: z.string(), callbackOf: z.optional(z.string()) })),
});
const withHeader = z.object({ header: z.record(z.string(), z.array(z.string())) });

describe('Credentials in headers', () => {
  it('reach the destination, and of the tokens only one that may write', async () => {
    const { token, read_only_token: readOnly } = await makeAccount();
    const failing = receiver.inbox((_delivery, response) =>
      response.writeHead(500, { 'Set-Cookie': 'id=answer-secret-5' }).end(),
    );
    const told = receiver.inbox();
    const call = (method: string, path: string, headers: Record<string, string> = {}, body?: unknown) =>
      ok(api(method, path, { token, headers, ...(body !== undefined && { body }) }));
    const callback = headersOf('Svc-Failure-Callback-Forward-', { 'X-Auth-Token': 'callback-secret-6' });
    await call('POST', `/v2/publish/${failing.url}`, {
      ...forwarded,
      ...callback,
      'Svc-Retries': '0',
      'Svc-Failure-Callback': told.url,
    });
    const [delivery] = await failing.received(1);
    expect(delivery?.headers).toMatchObject({ authorization: secrets.Authorization, cookie: secrets.Cookie });
    const [failure] = await told.received(1);
    expect(failure?.headers).toMatchObject({ 'x-auth-token': 'callback-secret-6' });
    await call('POST', `/v2/schedules/${told.url}`, { ...forwarded, 'Svc-Cron': '0 0 29 2 *' }, 'x');
    await call('POST', '/v2/topics/group/endpoints', {}, { endpoints: [{ url: told.url }] });
    await call('PATCH', '/v2/topics/group', {}, { headers: forwarded });

    const all = await eventually(
      async () =>
        messages.parse(await call('GET', '/v2/messages?state=ACTIVE,CREATED,RETRY,DELIVERED,FAILED'))
          .messages,
      (found) => found.length === 2,
    );
    const callbackId = all.find(({ callbackOf }) => callbackOf !== undefined)?.messageId ?? '';
    const paths = [
      '/v2/messages?state=DELIVERED,FAILED',
      ...all.map(({ messageId }) => `/v2/messages/${messageId}?state=ALL`),
      '/v2/dlq',
      '/v2/logs',
      '/v2/events',
      '/v2/schedules',
      '/v2/topics',
      '/v2/topics/group',
      '/v2/audit',
    ];
    const asRead: string[] = [];
    for (const path of paths) {
      const text = JSON.stringify(await ok(api('GET', path, { token: readOnly })));
      const decoded = text.replace(/[\w+/]{40,}=*/g, (base64) => Buffer.from(base64, 'base64').toString());
      expect([path, isToldIn(text), isToldIn(decoded)]).toEqual([path, undefined, undefined]);
      asRead.push(text);
    }
    expect(asRead.join()).toContain('"X-Tenant":["東京"],"Idempotency-Key":["order-7"]');
    expect(asRead.join()).toContain('"Authorization":["…"]');

    const [letter] = z.object({ messages: z.array(withHeader) }).parse(await call('GET', '/v2/dlq')).messages;
    expect(letter?.header).toMatchObject({
      Authorization: [secrets.Authorization],
      Cookie: [secrets.Cookie],
    });
    const body = JSON.stringify(await call('GET', `/v2/messages/${callbackId}?state=ALL`));
    expect(body).toContain('cron-secret-1');
  });
});
