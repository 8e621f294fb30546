import { execFileSync } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { api, ok } from '../support/api.ts';
import { blocksOf } from '../support/docs/blocks.ts';
import { groupName } from '../support/groups.ts';
import { errorOf, publish } from '../support/publish.ts';
import { findPython } from '../support/python.ts';
import { useReceiver } from '../support/useReceiver.ts';
import { expectRefusal } from '../support/refusals.ts';

const receiver = useReceiver();

const example = blocksOf('docs/guides/webhooks-to-customers.md').find(
  ({ language }) => language === 'python',
);
const python = findPython();

const secretsShape = z.strictObject({
  endpoints: z.array(
    z.strictObject({ url: z.string(), name: z.optional(z.string()), signingSecret: z.string() }),
  ),
});
const signatureShape = z.strictObject({
  header: z.string(),
  encoding: z.string(),
  prefix: z.optional(z.string()),
  overlapEndsAt: z.optional(z.number()),
});
const groupShape = z.object({
  endpoints: z.array(z.object({ url: z.string(), signature: z.optional(signatureShape) })),
});

const add = (group: string, endpoints: readonly object[]) =>
  api('POST', `/v2/topics/${group}/endpoints`, { body: { endpoints } });
const rotate = (group: string, body: object) =>
  api('POST', `/v2/topics/${group}/endpoints/rotate-signature`, { body });
const endOverlap = (group: string, endpoints: readonly object[]) =>
  api('DELETE', `/v2/topics/${group}/endpoints/rotate-signature`, { body: { endpoints } });

async function secretIn(answer: ReturnType<typeof api>): Promise<string> {
  const { endpoints } = secretsShape.parse(await ok(answer));
  expect(endpoints).toHaveLength(1);
  return endpoints[0]?.signingSecret ?? '';
}

const signatureOf = async (group: string) =>
  groupShape.parse(await ok(api('GET', `/v2/topics/${group}`))).endpoints[0]?.signature;

const hmac = (secret: string, body: string, encoding: 'hex' | 'base64') =>
  createHmac('sha256', secret).update(body).digest(encoding);

const signature = { header: 'X-Acme-Signature', encoding: 'hex', prefix: 'sha256=' } as const;

async function signedGroup(settings: object = signature) {
  const inbox = receiver.inbox();
  const group = groupName();
  const secret = await secretIn(add(group, [{ url: inbox.url, name: 'acme', signature: settings }]));
  let seen = 0;
  const sent = async (body: string, headers: Record<string, string> = {}): Promise<string | undefined> => {
    expect((await publish(group, { body, headers })).status).toBe(200);
    seen += 1;
    return (await inbox.received(seen))[seen - 1]?.headers['x-acme-signature'];
  };
  return { group, inbox, secret, sent };
}

describe('an endpoint with its own signature', () => {
  it('gets the HMAC of the body in its header, with its prefix, in addition to the service’s signatures', async () => {
    const { inbox, secret, sent } = await signedGroup();
    expect(await sent('{"n":1}')).toBe(`sha256=${hmac(secret, '{"n":1}', 'hex')}`);
    const [delivery] = await inbox.received(1);
    expect(Object.keys(delivery?.headers ?? {})).toEqual(
      expect.arrayContaining(['svc-signature', 'webhook-signature']),
    );
  });

  it('gets it in base64 without a prefix, for an empty body, and with hidden headers, too', async () => {
    const { secret, sent } = await signedGroup({ header: 'x-acme-signature', encoding: 'base64' });
    expect(await sent('')).toBe(hmac(secret, '', 'base64'));
    expect(await sent('hidden', { 'Svc-Hide-Headers': 'true' })).toBe(hmac(secret, 'hidden', 'base64'));
  });

  it('is not deceived by a publisher that forwards a header with that name', async () => {
    const { secret, sent } = await signedGroup();
    expect(await sent('real', { 'Svc-Forward-X-Acme-Signature': 'sha256=forged' })).toBe(
      `sha256=${hmac(secret, 'real', 'hex')}`,
    );
  });

  it('is shown without its secret, which is only answered once', async () => {
    const { group, inbox, secret } = await signedGroup();
    const { json } = await api('GET', `/v2/topics/${group}`);
    expect(JSON.stringify(json)).not.toContain(secret);
    expect(await signatureOf(group)).toEqual(signature);
    // It keeps its secret if it is sent again or with other settings.
    const changed = { ...signature, encoding: 'base64' };
    expect(await ok(add(group, [{ url: inbox.url, name: 'acme', signature: changed }]))).toEqual({});
    expect(await signatureOf(group)).toEqual(changed);
    expect(await ok(add(group, [{ url: inbox.url, name: 'acme' }]))).toEqual({});
    expect(await signatureOf(group)).toEqual(changed);
  });
});

it.skipIf(python === undefined)('the documents’ example verifies it, even during an overlap', async () => {
  const { group, secret, sent } = await signedGroup();
  const next = await secretIn(rotate(group, { endpoints: [{ name: 'acme' }] }));
  const header = await sent('{"n":1}');
  const isGenuine = (...given: readonly unknown[]): unknown => {
    const program = `${example?.text ?? ''}
import json, sys
secret, body, header = json.loads(sys.argv[1])
print(json.dumps(is_genuine(secret, body.encode(), header)))`;
    return JSON.parse(
      execFileSync(python ?? '', ['-c', program, JSON.stringify(given)], { encoding: 'utf8' }),
    );
  };
  expect(isGenuine(secret, '{"n":1}', header)).toBe(true);
  expect(isGenuine(next, '{"n":1}', header)).toBe(true);
  expect(isGenuine(secret, '{"n":2}', header)).toBe(false);
  expect(isGenuine('another', '{"n":1}', header)).toBe(false);
});

describe('the rotation of a signature', () => {
  it('creates a new secret, and signs with both until the overlap ends', async () => {
    const { group, secret, sent } = await signedGroup();
    const before = Date.now();
    const next = await secretIn(rotate(group, { endpoints: [{ name: 'acme' }] }));
    expect(next).not.toBe(secret);
    expect(await sent('both')).toBe(
      [next, secret].map((one) => `sha256=${hmac(one, 'both', 'hex')}`).join(','),
    );
    const { overlapEndsAt = 0 } = (await signatureOf(group)) ?? {};
    expect(overlapEndsAt).toBeGreaterThanOrEqual(before + 86_400_000 - 60_000);
    expect(overlapEndsAt).toBeLessThanOrEqual(Date.now() + 86_400_000 + 60_000);
    await ok(endOverlap(group, [{ name: 'acme' }]));
    await ok(endOverlap(group, [{ name: 'acme' }]));
    expect(await sent('one')).toBe(`sha256=${hmac(next, 'one', 'hex')}`);
    expect(await signatureOf(group)).toEqual(signature);
  });

  it('has no overlap if told so, and otherwise keeps the last three secrets', async () => {
    const { group, secret, sent } = await signedGroup();
    const alone = await secretIn(rotate(group, { endpoints: [{ name: 'acme' }], overlap: '0s' }));
    expect(await sent('alone')).toBe(`sha256=${hmac(alone, 'alone', 'hex')}`);
    const secrets = [secret, alone];
    for (let times = 0; times < 4; times += 1) {
      secrets.unshift(await secretIn(rotate(group, { endpoints: [{ name: 'acme' }], overlap: '1h' })));
    }
    expect(await sent('many')).toBe(
      secrets
        .slice(0, 4)
        .map((one) => `sha256=${hmac(one, 'many', 'hex')}`)
        .join(','),
    );
  });
});

describe('a signature is refused', () => {
  it.each([
    ['Content-Length', 'the connection'],
    ['X-Forwarded-For', 'a gateway'],
    ['Upstash-Signature', 'the service'],
    ['Content-Type', 'the message'],
    ['traceparent', 'the trace'],
  ])('with the header %s, which %s sets', async (header, setter) => {
    const answer = await add(groupName(), [
      { url: receiver.inbox().url, signature: { header, encoding: 'hex' } },
    ]);
    expect(answer.status).toBe(400);
    expect(errorOf(answer)).toBe(
      `endpoints.0.signature.header is "${header}", which ${setter} sets; allowed is another name, such as X-Acme-Signature.`,
    );
  });

  it.each([
    [{ header: 'X Acme', encoding: 'hex' }, 'endpoints.0.signature.header is "X Acme"'],
    [{ header: 'X-Acme', encoding: 'base32' }, 'endpoints.0.signature.encoding'],
    [{ header: 'X-Acme', encoding: 'hex', prefix: 'a,b' }, 'endpoints.0.signature.prefix is "a,b"'],
  ])('if it is %j, and the group is not created', async (given, sentence) => {
    const group = groupName();
    const answer = await add(group, [{ url: receiver.inbox().url, signature: given }]);
    expect(answer.status).toBe(400);
    expect(errorOf(answer)).toContain(sentence);
    expect((await api('GET', `/v2/topics/${group}`)).status).toBe(404);
  });

  it('if it is rotated but missing, or overlaps for longer than seven days', async () => {
    const { group } = await signedGroup();
    const { url } = receiver.inbox();
    await ok(add(group, [{ url }]));
    const refusals = [
      [{ endpoints: [{ url }] }, 400, 'has no signature'],
      [{ endpoints: [{ name: 'other' }] }, 404, 'has no endpoint "other"'],
      [{ endpoints: [{}] }, 400, 'endpoints.0 has neither url nor name'],
      [{ endpoints: [] }, 400, 'endpoints'],
      [{ endpoints: [{ name: 'acme' }], overlap: '8d' }, 400, 'overlap is "8d"; allowed is from 0s to 7d.'],
      [{ endpoints: [{ name: 'acme' }], overlap: 'soon' }, 400, 'overlap is "soon"'],
    ] as const;
    for (const [body, status, sentence] of refusals) {
      await expectRefusal(rotate(group, body), status, sentence);
    }
    expect((await rotate(groupName(), { endpoints: [{ name: 'acme' }] })).status).toBe(404);
    expect(await signatureOf(group)).toEqual(signature);
  });
});
