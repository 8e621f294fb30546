import * as z from 'zod/mini';
import { describe, expect, it } from 'vitest';
import { api, getMessage, makeToken, ok, unique } from '../support/api.ts';
import { callbackOf } from '../support/callbacks.ts';
import { eventually } from '../support/eventually.ts';
import { getInAnyState } from '../support/listedMessages.ts';
import { call, errorOf, messageIdOf, publish, refusalOf, service, type Answer } from '../support/publish.ts';
import type { Delivery, Inbox } from '../support/receiver.ts';
import { useReceiver } from '../support/useReceiver.ts';

const receiver = useReceiver();

const acceptingInbox = (): Inbox =>
  receiver.inbox((_delivery, response) => response.writeHead(202).end('later'));

const urlOf = (delivery: Delivery | undefined, dialect = 'svc'): string =>
  delivery?.headers[`${dialect}-complete-url`] ?? '';

/** Completes an attempt like its destination, without a token. */
async function complete(url: string, completion: unknown): Promise<Answer> {
  const body = typeof completion === 'string' ? completion : JSON.stringify(completion);
  // An emulator has another host name than the one in the completion URL.
  const [path = ''] = /\/v2\/complete\/.*$/.exec(url) ?? [];
  return call(path, { method: 'POST', body });
}
const completeById = (messageId: string, body: unknown): Promise<Answer> =>
  api('POST', `/v2/messages/${messageId}/complete`, { body });

const stateOf = async (messageId: string) => (await getInAnyState(messageId)).state;
const isOpen = (messageId: string) =>
  eventually(
    () => stateOf(messageId),
    (state) => state === 'ACTIVE',
  );
const logShape = z.object({
  logs: z.array(z.object({ state: z.string(), responseStatus: z.optional(z.number()) })),
});
const statesOf = async (messageId: string): Promise<readonly string[]> =>
  logShape.parse(await ok(api('GET', `/v2/logs?messageId=${messageId}`))).logs.map(({ state }) => state);

async function publishDeferred(headers: Record<string, string> = {}, inbox = acceptingInbox()) {
  const answer = await publish(inbox.url, { headers: { 'Svc-Deferred': '1h', ...headers }, body: 'job' });
  const messageId = messageIdOf(answer);
  const [delivery] = await inbox.received(1);
  return { messageId, inbox, delivery, url: urlOf(delivery) };
}

describe('an attempt that its destination completes later', () => {
  it('is open after a 202, and its completion is the answer', async () => {
    const callbacks = receiver.inbox();
    const { messageId, url, delivery } = await publishDeferred({ 'Svc-Callback': callbacks.url });
    await isOpen(messageId);
    expect(await getInAnyState(messageId)).toMatchObject({ deferred: 3_600, retried: 0 });
    expect(await statesOf(messageId)).toEqual(['ACTIVE', 'CREATED']);
    expect(urlOf(delivery, 'upstash')).toBe(url);
    if (service.target !== 'deployed') expect(url.startsWith(`${service.url}/v2/complete/`)).toBe(true);
    expect(callbacks.deliveries).toEqual([]);

    const answer = await complete(url, { status: 201, headers: { 'X-Pages': '12' }, body: 'done' });
    expect([answer.status, answer.json]).toEqual([200, { messageId, retried: 0, state: 'DELIVERED' }]);
    const [told] = await callbacks.received(1);
    const callback = callbackOf(told ?? { body: Buffer.from(''), headers: {} });
    expect(callback).toMatchObject({ status: 201, retried: 0, header: { 'X-Pages': ['12'] } });
    expect(Buffer.from(callback.body, 'base64').toString()).toBe('done');
    expect(await statesOf(messageId)).toEqual(['DELIVERED', 'ACTIVE', 'CREATED']);
  });

  it('is retried, and then becomes a dead letter, if its completions are failures', async () => {
    const { messageId, inbox, url } = await publishDeferred({ 'Svc-Retries': '1', 'Svc-Retry-Delay': '1' });
    const failed = await complete(url, { status: 500, body: 'busy' });
    expect(failed.json).toMatchObject({ state: 'RETRY' });
    const [, again] = await inbox.received(2);
    expect(urlOf(again)).not.toBe(url);
    await isOpen(messageId);
    const last = await completeById(messageId, { status: 503, body: 'gone' });
    expect(last.json).toMatchObject({ retried: 1, state: 'FAILED' });
    const found = await eventually(
      () => getInAnyState(messageId),
      ({ dlqId }) => dlqId !== undefined,
    );
    const letter = await eventually(
      () => api('GET', `/v2/dlq/${String(found.dlqId)}`),
      ({ status }) => status === 200,
    );
    expect(letter.json).toMatchObject({
      messageId,
      responseStatus: 503,
      responseBody: 'gone',
      deferred: 3_600,
    });
    // The URL of the first attempt does not apply to the second.
    expect((await complete(url, { status: 200 })).json).toMatchObject({ retried: 0, state: 'RETRY' });
  });

  it('fails with status 0 at its deadline', async () => {
    const failures = receiver.inbox();
    const headers = { 'Svc-Deferred': '1s', 'Svc-Retries': '0', 'Svc-Failure-Callback': failures.url };
    const { messageId, url } = await publishDeferred(headers);
    const [told] = await failures.received(1);
    const callback = callbackOf(told ?? { body: Buffer.from(''), headers: {} });
    expect(callback).toMatchObject({
      status: 0,
      error: 'The destination answered 202 and did not complete the attempt within 1s.',
    });
    const late = await complete(url, { status: 200 });
    expect(late.status).toBe(410);
    expect(errorOf(late)).toBe(
      `The completion of the message "${messageId}" is too late: its attempt 1 has ended with the error "The destination answered 202 and did not complete the attempt within 1s.".`,
    );
    expect((await completeById(messageId, { status: 200 })).status).toBe(410);
  });

  it('is not open without the setting', async () => {
    const inbox = acceptingInbox();
    const messageId = messageIdOf(await publish(inbox.url));
    const [delivery] = await inbox.received(1);
    expect(urlOf(delivery)).toBe('');
    await eventually(
      () => stateOf(messageId),
      (state) => state === 'DELIVERED',
    );
    const refused = await completeById(messageId, { status: 200 });
    expect([refused.status, refusalOf(refused).code]).toEqual([409, 'completion_not_awaited']);
  });

  it('can be cancelled, and is listed while it is open', async () => {
    const label = unique('deferred');
    const { messageId, url } = await publishDeferred({ 'Svc-Label': label });
    await isOpen(messageId);
    const list = await ok(api('GET', `/v2/messages?label=${label}&state=ACTIVE`));
    expect(list).toMatchObject({ messages: [{ messageId, state: 'ACTIVE' }] });
    await ok(api('DELETE', `/v2/messages/${messageId}`));
    expect(await stateOf(messageId)).toBe('CANCELED');
    const late = await complete(url, { status: 200 });
    expect(errorOf(late)).toBe(`The completion of the message "${messageId}" is too late: it was cancelled.`);
  });

  it('holds the slots of its queue and its key, but no slot of its account', async () => {
    const queue = unique('deferred');
    const inbox = acceptingInbox();
    const enqueue = (headers: Record<string, string>) =>
      api('POST', `/v2/enqueue/${queue}/${inbox.url}`, { headers, body: {} });
    await ok(enqueue({ 'Svc-Deferred': '1h' }));
    const second = messageIdOf(await enqueue({ 'Svc-Deferred': '1h' }));
    const [one] = await inbox.received(1);
    const key = { 'Svc-Flow-Control-Key': queue, 'Svc-Flow-Control-Value': 'parallelism=1' };
    const third = await publishDeferred(key);
    await isOpen(third.messageId);
    const other = acceptingInbox();
    const fourth = messageIdOf(await publish(other.url, { headers: { 'Svc-Deferred': '1h', ...key } }));
    // Both messages wait, and another message is delivered.
    const free = receiver.inbox();
    await ok(publish(free.url));
    await free.received(1);
    expect([await stateOf(second), await stateOf(fourth)]).toEqual(['CREATED', 'CREATED']);
    await complete(urlOf(one), { status: 200 });
    await inbox.received(2);
    await ok(api('DELETE', `/v2/messages/${third.messageId}`));
    await other.received(1);
    for (const id of [second, fourth]) await ok(api('DELETE', `/v2/messages/${id}`));
  });
});

describe('completions that are sent several times', () => {
  it('continue once, within the slots', async () => {
    const name = unique('copies');
    const inbox = acceptingInbox();
    const callbacks = receiver.inbox();
    const headers = {
      ...{ 'Svc-Deferred': '1h', 'Svc-Retries': '1', 'Svc-Retry-Delay': '1', 'Svc-Callback': callbacks.url },
      ...{ 'Svc-Flow-Control-Key': name, 'Svc-Flow-Control-Value': 'parallelism=1' },
    };
    const enqueue = (url: string) => api('POST', `/v2/enqueue/${name}/${url}`, { headers, body: {} });
    const messageId = messageIdOf(await enqueue(inbox.url));
    const [first] = await inbox.received(1);
    const completeSome = () =>
      Promise.all([1, 2, 3, 4].map(() => complete(urlOf(first), { status: 500, body: '東京' })));
    const answers = await completeSome();
    const [, second] = await inbox.received(2);
    answers.push(...(await completeSome()));
    expect(new Set(answers.map(({ status, json }) => JSON.stringify([status, json]))).size).toBe(1);
    await complete(urlOf(second), { status: 200 });
    await completeById(messageId, { status: 200 });
    await callbacks.received(2);
    // The next message of the queue and the key starts only when nothing of this one is left.
    const next = receiver.inbox();
    await ok(enqueue(next.url));
    await next.received(1);
    await callbacks.received(3);
    expect([inbox.deliveries.length, callbacks.deliveries.length]).toEqual([2, 3]);
  });
});

describe('a completion by a person', () => {
  const trailShape = z.object({
    entries: z.array(
      z.object({
        actor: z.string(),
        count: z.optional(z.number()),
        changes: z.optional(z.array(z.object({ field: z.string(), after: z.optional(z.string()) }))),
      }),
    ),
  });
  const notesShape = z.object({
    logs: z.array(
      z.object({
        state: z.string(),
        completedBy: z.optional(z.string()),
        comment: z.optional(z.string()),
      }),
    ),
  });
  const trailOf = async (subject: string) =>
    trailShape.parse(await ok(api('GET', `/v2/audit?action=message.complete&subject=${subject}`))).entries;
  const notesOf = async (messageId: string) =>
    notesShape.parse(await ok(api('GET', `/v2/logs?messageId=${messageId}`))).logs;

  it.each(['承認: 東京', '東'.repeat(200)])('has a comment, in the log and in the trail', async (comment) => {
    const { messageId, url } = await publishDeferred();
    await isOpen(messageId);
    const answer = await completeById(messageId, { status: 200, comment });
    expect(answer.json).toEqual({ messageId, retried: 0, state: 'DELIVERED', comment });
    const [delivered] = await notesOf(messageId);
    expect(delivered).toEqual({ state: 'DELIVERED', completedBy: 'token', comment });
    // Completing again changes nothing: with the same answer, with another one, or by the destination.
    await completeById(messageId, { status: 200, comment });
    const other = await completeById(messageId, { status: 500, comment: 'no' });
    expect(other.json).toMatchObject({ state: 'DELIVERED', comment });
    expect((await complete(url, { status: 500, comment: 'job' })).json).toMatchObject({ comment });
    expect(await notesOf(messageId)).toHaveLength(3);
    const changes = [
      { field: 'status', after: '200' },
      { field: 'comment', after: comment },
    ];
    expect(await trailOf(messageId)).toEqual([{ actor: 'token', count: 3, changes }]);
  });

  it('counts once beside the completion of the destination', async () => {
    const callbacks = receiver.inbox();
    const { messageId, url } = await publishDeferred({ 'Svc-Callback': callbacks.url });
    await isOpen(messageId);
    const answers = await Promise.all([
      completeById(messageId, { status: 200, comment: 'by Ada' }),
      complete(url, { status: 201 }),
      completeById(messageId, { status: 202, comment: 'by Bob' }),
    ]);
    expect(new Set(answers.map(({ status, json }) => JSON.stringify([status, json]))).size).toBe(1);
    await callbacks.received(1);
    const notes = (await notesOf(messageId)).filter(({ state }) => state === 'DELIVERED');
    const { comment } = z.object({ comment: z.optional(z.string()) }).parse(answers[0].json);
    expect(notes).toEqual([{ state: 'DELIVERED', ...(comment && { comment, completedBy: 'token' }) }]);
    expect(callbacks.deliveries).toHaveLength(1);
  });

  it('fails the message, with the comment in the log', async () => {
    const { messageId } = await publishDeferred({ 'Svc-Retries': '0' });
    await isOpen(messageId);
    await ok(completeById(messageId, { status: 500, comment: '却下' }));
    const [failed, error] = await notesOf(messageId);
    expect([failed, error]).toEqual([
      { state: 'FAILED' },
      { state: 'ERROR', completedBy: 'token', comment: '却下' },
    ]);
  });

  it('is refused with a comment that is empty or too long', async () => {
    const { messageId } = await publishDeferred();
    await isOpen(messageId);
    for (const comment of ['', 'x'.repeat(201), 7]) {
      const refused = await completeById(messageId, { status: 200, comment });
      expect([refused.status, errorOf(refused)]).toEqual([
        400,
        expect.stringMatching(/^comment: .*1 to 200/),
      ]);
    }
    expect(await stateOf(messageId)).toBe('ACTIVE');
    expect(await trailOf(messageId)).toEqual([]);
    await ok(api('DELETE', `/v2/messages/${messageId}`));
  });

  it('is refused with a token that only reads or only publishes', async () => {
    const { messageId } = await publishDeferred();
    await isOpen(messageId);
    for (const scope of ['read', 'publish']) {
      const { token } = await makeToken({ scope });
      const path = `/v2/messages/${messageId}/complete`;
      expect((await api('POST', path, { token, body: { status: 200 } })).status).toBe(403);
    }
    expect(await stateOf(messageId)).toBe('ACTIVE');
    await ok(api('DELETE', `/v2/messages/${messageId}`));
  });

  it('can be found: the count by state has those that have waited longest', async () => {
    const label = unique('awaited');
    const { messageId, inbox } = await publishDeferred({ 'Svc-Label': label });
    await isOpen(messageId);
    const counted = await ok(api('GET', `/v2/messages/count?by=state&label=${label}`));
    expect(counted).toEqual({
      count: 1,
      states: { delayed: 0, waiting: 0, retrying: 0, open: 1 },
      awaited: [{ messageId, url: inbox.url, labels: [label], since: expect.any(Number) as number }],
    });
    await ok(completeById(messageId, { status: 200 }));
    const after = await ok(api('GET', `/v2/messages/count?by=state&label=${label}`));
    expect(after).toMatchObject({ count: 0, awaited: [] });
  });
});

describe('a request that completes an attempt', () => {
  it.each([
    ['nothing', '', 'The body'],
    ['a status that is none of an answer', { status: 199 }, 'status: '],
    ['another field', { status: 200, result: 1 }, 'result: '],
    ['two bodies', { status: 200, body: 'a', bodyBase64: 'YQ==' }, 'body and bodyBase64 are both given'],
    ['what is not base64', { status: 200, bodyBase64: 'a' }, 'bodyBase64: '],
    [
      'headers that are none',
      { status: 200, headers: { 'a b': '1' } },
      'headers.a b is not a valid HTTP header',
    ],
  ])('is refused with %s, and changes nothing', async (_what, completion, sentence) => {
    const { messageId, url } = await publishDeferred();
    await isOpen(messageId);
    for (const refused of [await complete(url, completion), await completeById(messageId, completion)]) {
      expect(refused.status).toBe(400);
      expect(errorOf(refused)).toContain(sentence);
    }
    expect(await stateOf(messageId)).toBe('ACTIVE');
    await ok(api('DELETE', `/v2/messages/${messageId}`));
  });

  it('is refused with a changed URL, whose token opens nothing else', async () => {
    const { messageId, url } = await publishDeferred();
    await isOpen(messageId);
    const [text = '', mac = ''] = url.replace(/^.*\/v2\/complete\//, '').split('.');
    const other = Buffer.from(text, 'base64url').toString().replace(/,0,/, ',1,');
    const changed = [
      `${Buffer.from(other).toString('base64url')}.${mac}`,
      `${text}.${mac.slice(1)}A`,
      text,
      'x',
    ];
    for (const token of changed) {
      const refused = await complete(`/v2/complete/${token}`, { status: 200 });
      expect([refused.status, refusalOf(refused).code]).toEqual([404, 'completion_not_found']);
    }
    const asToken = await api('GET', `/v2/messages/${messageId}`, { token: `${text}.${mac}` });
    expect(asToken.status).toBe(401);
    expect(await getMessage(messageId)).toMatchObject({ messageId });
    await ok(api('DELETE', `/v2/messages/${messageId}`));
  });

  it('requires a message and a token that may write', async () => {
    const unknown = await completeById('msg_01KDVDNA00M3A9X2C4D6F8GHJK', { status: 200 });
    expect([unknown.status, refusalOf(unknown).code]).toEqual([404, 'message_not_found']);
    const path = '/v2/messages/msg_01KDVDNA00M3A9X2C4D6F8GHJK/complete';
    const without = await call(path, { method: 'POST', body: '{"status":200}' });
    expect(without.status).toBe(401);
  });
});
