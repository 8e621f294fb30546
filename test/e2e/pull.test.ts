import { beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { pulled, type Pulled } from '../../lambdas/wire/pullAnswers.ts';
import { makeAccount, publishAs, type AccountRecord } from '../support/accounts.ts';
import { api, makeToken, ok, unique } from '../support/api.ts';
import { eventually } from '../support/eventually.ts';
import { getInAnyState, untilState } from '../support/listedMessages.ts';
import { messageIdOf } from '../support/publish.ts';
import { service } from '../support/service.ts';
import { useReceiver } from '../support/useReceiver.ts';

type Taken = Pulled['messages'][number];

let account: AccountRecord;
const receiver = useReceiver();
beforeAll(async () => {
  account = await makeAccount();
});

const token = () => account.token;
const pull = async (name: string, body: object = {}, by = token()): Promise<readonly Taken[]> =>
  pulled.parse(await ok(api('POST', `/v2/pull/${name}`, { token: by, body: { wait: '20s', ...body } })))
    .messages;

async function first(name: string, body: object = {}): Promise<Taken> {
  const [one] = await pull(name, body);
  if (one === undefined) throw new Error(`Nothing came from ${name}.`);
  return one;
}

const send = async (
  name: string,
  headers: Readonly<Record<string, string>> = {},
  body: string | Uint8Array<ArrayBuffer> = 'one',
) => messageIdOf(await publishAs(account, `pull:${name}`, { headers, body }));

const complete = ({ completion }: Taken, answer: object = { status: 200 }) =>
  api('POST', `/v2/complete/${completion}`, { body: answer, token: undefined });

const stateOf = async (messageId: string) => (await getInAnyState(messageId, token())).state;
const ended = (messageId: string, state: string) => untilState(messageId, state, token());

describe('a message to a name', () => {
  it('waits until a client takes it, and comes as the request that would have been sent', async () => {
    const name = unique('name');
    const id = await send(
      name,
      {
        'Content-Type': 'application/json',
        'Svc-Method': 'PUT',
        'Svc-Forward-X-City': Buffer.from('東京').toString('latin1'),
      },
      '{"city":"東京"}',
    );
    const one = await first(name, { within: '1h' });
    expect(one).toMatchObject({ messageId: id, retried: 0, method: 'PUT', body: '{"city":"東京"}' });
    expect(one.headers).toMatchObject({
      'Content-Type': ['application/json'],
      'X-City': ['東京'],
      'Svc-Message-Id': [id],
      'Svc-Signature': [expect.stringMatching(/^ey/)],
    });
    expect(one.headers['Svc-Complete-Url']).toBeUndefined();
    expect(await pull(name, { wait: '0s' })).toEqual([]);
    // Without a body nothing is waited for.
    expect(await ok(api('POST', `/v2/pull/${name}`, { token: token() }))).toEqual({ messages: [] });
    expect(await stateOf(id)).toBe('ACTIVE');
    expect((await complete(one)).status).toBe(200);
    await ended(id, 'DELIVERED');
    // A second completion changes nothing.
    expect((await complete(one, { status: 500 })).json).toMatchObject({ state: 'DELIVERED' });
  });

  it('is waited for', async () => {
    const name = unique('name');
    const asked = pull(name, { wait: '20s' });
    const id = await send(name);
    expect((await asked).map(({ messageId }) => messageId)).toEqual([id]);
  });

  // The emulator reads bodies as text, and replaces invalid bytes.
  it.runIf(service.target === 'local')('is shown in base64 if its body is not text', async () => {
    const name = unique('name');
    await send(name, {}, new Uint8Array([0xff, 0]));
    expect(await first(name)).toMatchObject({ bodyBase64: '/wA=' });
  });

  it('fails without a completion in time, is retried, and becomes a dead letter', async () => {
    const name = unique('name');
    const id = await send(name, { 'Svc-Retries': '1', 'Svc-Retry-Delay': '0' });
    expect(await first(name, { within: '1s' })).toMatchObject({ messageId: id, retried: 0 });
    const again = await first(name, { within: '1h' });
    expect(again).toMatchObject({ messageId: id, retried: 1 });
    expect((await complete(again, { status: 500, body: 'no' })).json).toMatchObject({ state: 'FAILED' });
    const { logs } = z
      .object({ logs: z.array(z.looseObject({ state: z.string() })) })
      .parse(await ok(api('GET', `/v2/logs?messageId=${id}&state=ERROR`, { token: token() })));
    expect(logs.map(({ error, responseStatus }) => error ?? responseStatus)).toEqual([
      500,
      'The client that took the message did not complete it within 1s.',
    ]);
    await eventually(
      async () =>
        z
          .object({ messages: z.array(z.looseObject({ url: z.string() })) })
          .parse(await ok(api('GET', `/v2/dlq?messageId=${id}`, { token: token() }))).messages,
      (letters) => letters[0]?.url === `pull:${name}`,
    );
  });

  it('gets more time', async () => {
    const name = unique('name');
    const id = await send(name, { 'Svc-Retries': '0' });
    const one = await first(name, { within: '2s' });
    const { completionDeadline } = z
      .object({ completionDeadline: z.number() })
      .parse(await ok(api('POST', `/v2/extend/${one.completion}`, { body: { within: '1h' } })));
    expect(completionDeadline).toBeGreaterThan(Date.now() + 3_000_000);
    // The time of the first end passes, and the attempt stays open.
    const next = await send(name, { 'Svc-Retries': '0' });
    const other = await first(name, { within: '3s' });
    expect(other.messageId).toBe(next);
    await ended(next, 'FAILED');
    expect(await stateOf(id)).toBe('ACTIVE');
    await ok(complete(one));
    await ended(id, 'DELIVERED');
    expect((await api('POST', `/v2/extend/${one.completion}`, { body: { within: '1h' } })).status).toBe(410);
    expect((await complete(other)).status).toBe(410);
  });

  it('goes to one of several clients', async () => {
    const name = unique('name');
    const ids = await Promise.all(Array.from({ length: 30 }, () => send(name)));
    const got: string[] = [];
    const client = async (): Promise<void> => {
      while (got.length < ids.length) {
        const some = await pull(name, { count: 4, wait: '1s' });
        got.push(...some.map(({ messageId }) => messageId));
        await Promise.all(some.map((one) => ok(complete(one))));
      }
    };
    await Promise.all([client(), client(), client(), client()]);
    expect(got.toSorted()).toEqual(ids.toSorted());
  });

  it('keeps the order of its queue, and is called back', async () => {
    const name = unique('name');
    const queue = unique('queue');
    const inbox = receiver.inbox();
    const ids: string[] = [];
    for (const order of ['1', '2', '3']) {
      const answer = await api('POST', `/v2/enqueue/${queue}/pull:${name}`, {
        token: token(),
        headers: { 'Svc-Callback': inbox.url },
        body: { order },
      });
      ids.push(messageIdOf(answer));
    }
    for (const id of ids) {
      const some = await pull(name, { count: 10 });
      expect(some.map(({ messageId }) => messageId)).toEqual([id]);
      expect(await pull(name, { count: 10, wait: '0s' })).toEqual([]);
      await Promise.all(some.map((one) => ok(complete(one, { status: 201, body: '東京' }))));
    }
    const callbacks = await inbox.received(3);
    expect(JSON.parse(callbacks[0]?.body.toString() ?? '')).toMatchObject({
      status: 201,
      url: `pull:${name}`,
    });
  });

  it('is not taken after it was cancelled, or while it is held', async () => {
    const name = unique('name');
    const cancelled = await send(name);
    await ended(cancelled, 'ACTIVE');
    await ok(api('DELETE', `/v2/messages/${cancelled}`, { token: token() }));
    expect(await pull(name, { wait: '0s' })).toEqual([]);
    const held = await send(name);
    await ended(held, 'ACTIVE');
    await ok(api('POST', `/v2/hosts/pull:${name}/hold`, { token: token() }));
    expect(await pull(name, { wait: '0s' })).toEqual([]);
    await ok(api('POST', `/v2/hosts/pull:${name}/release`, { token: token() }));
    expect((await first(name)).messageId).toBe(held);
  });

  it('comes from a URL group, a batch and a schedule', async () => {
    const name = unique('name');
    const group = unique('group');
    const endpoints = [{ url: `pull:${name}`, name: 'laptop' }];
    await ok(api('POST', `/v2/topics/${group}/endpoints`, { token: token(), body: { endpoints } }));
    await ok(publishAs(account, group, { body: 'group' }));
    await ok(
      api('POST', '/v2/batch', { token: token(), body: [{ destination: `pull:${name}`, body: 'batch' }] }),
    );
    const schedule = unique('schedule');
    await ok(
      api('POST', `/v2/schedules/pull:${name}`, {
        token: token(),
        headers: { 'Svc-Cron': '0 0 29 2 *', 'Svc-Schedule-Id': schedule },
        body: 'schedule',
      }),
      200,
    );
    await ok(api('POST', `/v2/schedules/${schedule}/run`, { token: token() }));
    const bodies: (string | undefined)[] = [];
    while (bodies.length < 3) bodies.push(...(await pull(name, { count: 3 })).map(({ body }) => body));
    expect(bodies.toSorted()).toEqual(['"schedule"', 'batch', 'group']);
  });
});

describe('taking messages', () => {
  it.each([
    [{ count: 0 }, /count/],
    [{ count: 101 }, /count/],
    [{ wait: '21s' }, /wait is "21s"; allowed is 0s to 20s\./],
    [{ within: '0s' }, /within is "0s"; allowed is 1s to 7d\./],
    [{ within: '8d' }, /within is "8d"; allowed is 1s to 7d\./],
    [{ many: 3 }, /many/],
  ])('refuses %j', async (body, sentence) => {
    const answer = await api('POST', '/v2/pull/jobs', { token: token(), body });
    expect(answer.status).toBe(400);
    expect(JSON.stringify(answer.json)).toMatch(new RegExp(sentence.source.replaceAll('"', '\\\\"')));
  });

  it.each(['a b', '東京', 'x'.repeat(101)])('refuses the name %s', async (name) => {
    const path = encodeURIComponent(name);
    expect(await api('POST', `/v2/pull/${path}`, { token: token(), body: {} })).toMatchObject({
      status: 400,
    });
    expect(await publishAs(account, encodeURIComponent(`pull:${name}`))).toMatchObject({ status: 400 });
  });

  it('needs a token that may do it', async () => {
    const name = unique('name');
    const make = async (fields: object) => (await makeToken(fields, { token: token() })).token;
    const status = async (by: string) =>
      (await api('POST', `/v2/pull/${name}`, { token: by, body: { wait: '0s' } })).status;
    expect(await status(account.read_only_token)).toBe(403);
    expect(await status(await make({ scope: 'read' }))).toBe(403);
    expect(await status(await make({ scope: 'publish' }))).toBe(403);
    expect(await status(await make({ scope: 'publish', destinations: ['pull:other'] }))).toBe(403);
    const own = await make({ scope: 'publish', destinations: [`pull:${name}`] });
    expect(await status(own)).toBe(200);
    const elsewhere = await api('POST', '/v2/publish/https://example.com/', { token: own, body: {} });
    expect(elsewhere.status).toBe(403);
    const other = await makeAccount();
    await send(name);
    expect(await pull(name, { wait: '0s' }, other.token)).toEqual([]);
    expect(await pull(name, {}, own)).toHaveLength(1);
  });

  it('is not for callbacks and workflows', async () => {
    const headers = { 'Svc-Callback': 'pull:jobs' };
    expect((await publishAs(account, 'https://example.com/', { headers })).status).toBe(400);
    expect(await api('POST', '/v2/trigger/pull:jobs', { token: token(), body: {} })).toMatchObject({
      status: 400,
    });
  });

  it.runIf(service.target === 'local')('takes no more than fits into an answer', async () => {
    const name = unique('name');
    const ids = await Promise.all(
      [1, 2, 3].map(() => send(name, {}, new Uint8Array(4 * 1_048_576).fill(0xff))),
    );
    const got: string[] = [];
    while (got.length < ids.length) {
      const some = await pull(name, { count: 3 });
      expect(some).toHaveLength(1);
      got.push(...some.map(({ messageId }) => messageId));
    }
    expect(got.toSorted()).toEqual(ids.toSorted());
  });
});
