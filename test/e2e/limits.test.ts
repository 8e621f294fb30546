import { describe, expect, it } from 'vitest';
import { QstashDailyRatelimitError, QstashRatelimitError, Client } from '@upstash/qstash';
import { changeAccount, makeAccount, publishAs, type AccountRecord } from '../support/accounts.ts';
import { api, type DeadLetter } from '../support/api.ts';
import { checkAnswer } from '../support/contract.ts';
import { eventually } from '../support/eventually.ts';
import { errorOf, messageIdOf, refusalOf, service, type Answer } from '../support/publish.ts';
import * as z from 'zod/mini';
import { useReceiver } from '../support/useReceiver.ts';
import { expectRefusal } from '../support/refusals.ts';

const receiver = useReceiver();

/** Each process may exceed a limit by one message before it knows of the others. The local stage has one process. */
const processes = service.target === 'local' ? 0 : 4;

const later = { 'Svc-Delay': '1h' };
const somewhere = 'https://example.com/hook';

const logs = z.object({ logs: z.array(z.looseObject({ messageId: z.string() })) });

async function messagesOf({ token }: AccountRecord): Promise<number> {
  const { json } = await api('GET', '/v2/logs?state=CREATED', { token });
  return logs.parse(json).logs.length;
}

const codeOf = (answer: Answer): string => refusalOf(answer).code;

describe('a single message', () => {
  it.each([
    [
      { max_retries: 2 },
      { 'Svc-Callback': somewhere, 'Svc-Callback-Retries': '3' },
      { 'Svc-Callback': somewhere, 'Svc-Callback-Retries': '2' },
      "Svc-Callback-Retries is 3, but the account's limit max_retries is 2.",
    ],
    [
      { max_delay: 3_600 },
      { 'Svc-Delay': '3601s' },
      later,
      `Svc-Delay is "3601s", but the account's limit max_delay is 3600 seconds from now.`,
    ],
    [
      { max_parallelism: 3 },
      { 'Svc-Flow-Control-Key': 'k', 'Svc-Flow-Control-Value': 'parallelism=4' },
      { 'Svc-Flow-Control-Key': 'k', 'Svc-Flow-Control-Value': 'parallelism=3' },
      "Svc-Flow-Control-Value asks for a parallelism of 4, but the account's limit max_parallelism is 3.",
    ],
  ])('is limited by %j', async (limits, tooMuch, most, sentence) => {
    const account = await makeAccount(limits);
    await expectRefusal(publishAs(account, somewhere, { headers: { ...tooMuch } }), 412, sentence);
    messageIdOf(await publishAs(account, somewhere, { headers: { ...later, ...most } }));
    expect(await messagesOf(account)).toBe(1);
  });

  it('is limited by max_message_size', async () => {
    const account = await makeAccount({ max_message_size: 10 });
    await expectRefusal(
      publishAs(account, somewhere, { body: '12345678901' }),
      413,
      "The body has 11 bytes, but the account's limit max_message_size is 10 bytes.",
    );
    messageIdOf(await publishAs(account, somewhere, { body: '1234567890', headers: later }));
    expect(await messagesOf(account)).toBe(1);
  });

  it('waits no longer than the account’s timeout', async () => {
    const account = await makeAccount({ timeout: 1 });
    // Answers only when the connection is closed, so that nothing waits for the answer.
    const inbox = receiver.inbox((_delivery, response) => {
      response.on('close', () => response.end());
    });
    const id = messageIdOf(
      await publishAs(account, inbox.url, { headers: { 'Svc-Timeout': '20s', 'Svc-Retries': '0' } }),
    );
    const { messages } = await eventually(
      () => dlqOf(account),
      (page) => page.messages.length > 0,
    );
    expect(messages[0]).toMatchObject({ messageId: id, responseStatus: 0 });
    expect(String(messages[0]?.['error'])).toMatch(/1 ?s|1000 ?ms|time/i);
  });

  it('keeps the part of a failed attempt’s answer that max_events_size allows', async () => {
    const account = await makeAccount({ max_events_size: 5 });
    const inbox = receiver.inbox((_delivery, response) => response.writeHead(500).end('0123456789'));
    const id = messageIdOf(await publishAs(account, inbox.url, { headers: { 'Svc-Retries': '0' } }));
    const { json } = await eventually(
      () => api('GET', `/v2/logs?state=ERROR&messageId=${id}`, { token: account.token }),
      (answer) => logs.parse(answer.json).logs.length > 0,
    );
    const [event] = logs.parse(json).logs;
    expect(Buffer.from(String(event?.['responseBody']), 'base64').toString()).toBe('01234');
  });

  it.each([
    { bytes: 0, kept: undefined },
    { bytes: 5, kept: '東' },
    { bytes: 100_000, kept: '東京'.repeat(2_000).slice(0, 6_666) },
  ])('keeps $bytes bytes of a successful answer', async ({ bytes, kept }) => {
    const account = await makeAccount({ max_delivered_answer_size: bytes });
    const inbox = receiver.inbox((_delivery, response) =>
      response.writeHead(200, { 'x-order': '7' }).end('東京'.repeat(2_000)),
    );
    const id = messageIdOf(await publishAs(account, inbox.url));
    const { json } = await eventually(
      () => api('GET', `/v2/logs?state=DELIVERED&messageId=${id}`, { token: account.token }),
      (answer) => logs.parse(answer.json).logs.length > 0,
    );
    const [event] = logs.parse(json).logs;
    const body = z.optional(z.string()).parse(event?.['responseBody']);
    expect(event?.['responseStatus']).toBe(200);
    expect(body === undefined ? body : Buffer.from(body, 'base64').toString()).toBe(kept);
    expect(event?.['responseHeaders']).toEqual(
      kept === undefined ? undefined : expect.objectContaining({ 'X-Order': ['7'] }),
    );
  });
});

const dlqPage = z.object({
  messages: z.array(z.looseObject({ dlqId: z.string(), messageId: z.string(), responseStatus: z.number() })),
});
const dlqOf = async ({ token }: AccountRecord): Promise<{ readonly messages: readonly DeadLetter[] }> =>
  dlqPage.parse((await api('GET', '/v2/dlq', { token })).json);

describe('the stored resources of an account', () => {
  const addEndpoints = (account: AccountRecord, name: string, urls: readonly string[]): Promise<Answer> =>
    api('POST', `/v2/topics/${name}/endpoints`, {
      token: account.token,
      body: { endpoints: urls.map((url) => ({ url })) },
    });

  it('are limited by max_topics', async () => {
    const account = await makeAccount({ max_topics: 1 });
    expect((await addEndpoints(account, 'one', [somewhere])).status).toBe(200);
    expect(codeOf(await addEndpoints(account, 'two', [somewhere]))).toBe('url_group_limit_reached');
    expect((await api('GET', '/v2/topics/two', { token: account.token })).status).toBe(404);
  });

  it('are limited by max_schedules', async () => {
    const account = await makeAccount({ max_schedules: 1 });
    const schedule = (id: string): Promise<Answer> =>
      api('POST', `/v2/schedules/${somewhere}`, {
        token: account.token,
        headers: { 'Svc-Cron': '0 0 29 2 *', 'Svc-Schedule-Id': id },
      });
    expect((await schedule('one')).status).toBe(200);
    expect(codeOf(await schedule('two'))).toBe('schedule_limit_reached');
    expect((await api('GET', '/v2/schedules/two', { token: account.token })).status).toBe(404);
    // An existing schedule may be overwritten.
    expect((await schedule('one')).status).toBe(200);
  });
});

describe('requests in a second', () => {
  /** Each process of a function allows some requests before it knows of the others, whose number the platform decides. */
  async function untilRefused(send: () => Promise<Answer>): Promise<readonly Answer[]> {
    const answers: Answer[] = [];
    while (answers.length < 400 && answers.filter(({ status }) => status === 429).length < 3) {
      answers.push(...(await Promise.all([send(), send(), send(), send()])));
    }
    return answers;
  }
  const burst = ['limit', 'remaining', 'reset'].map((name) => `burst-ratelimit-${name}`);

  it('are limited by max_requests_per_second, for any kind of request', async () => {
    const limit = 3;
    const account = await makeAccount({ max_requests_per_second: limit });
    const answers = await untilRefused(() => api('GET', '/v2/logs', { token: account.token }));
    const refused = answers.filter(({ status }) => status === 429);
    expect(answers.filter(({ status }) => status === 200).length).toBeGreaterThanOrEqual(1);
    expect(refused.length).toBeGreaterThanOrEqual(1);
    for (const answer of refused) {
      checkAnswer('GET /v2/logs', answer);
      expect(codeOf(answer)).toBe('rate_limit_reached');
      expect(errorOf(answer)).toBe(
        "The account's limit max_requests_per_second is 3, and this request exceeds it; send it again a moment later.",
      );
      const [given, remaining, reset] = burst.map((name) => Number(answer.headers.get(name) ?? NaN));
      expect([given, remaining]).toEqual([limit, 0]);
      expect(Math.abs((reset ?? 0) - Date.now() / 1000)).toBeLessThan(30);
      expect(Number(answer.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    }
    await eventually(
      () => api('GET', '/v2/logs', { token: account.token }),
      ({ status }) => status === 200,
    );
  });

  it('are limited by max_bandwidth_per_second, and a larger body delays the next ones', async () => {
    const account = await makeAccount({ max_bandwidth_per_second: 1_000 });
    const send = (): Promise<Answer> =>
      publishAs(account, somewhere, { body: 'x'.repeat(20_000), headers: later });
    const answers = await untilRefused(send);
    const refused = answers.filter(({ status }) => status === 429);
    expect(refused.length).toBeGreaterThanOrEqual(1);
    for (const answer of refused) {
      expect(codeOf(answer)).toBe('bandwidth_limit_reached');
      expect(errorOf(answer)).toBe(
        "The account's limit max_bandwidth_per_second is 1000 bytes, and the 20000 bytes of this request exceed it; send it again a moment later.",
      );
      expect(answer.headers.get('burst-ratelimit-limit')).toBe('1000');
    }
    expect(answers.some(({ status }) => status === 200)).toBe(true);
    expect(await messagesOf(account)).toBe(answers.length - refused.length);
  });

  it('are reported to the published client in its format', async () => {
    const account = await makeAccount({ max_requests_per_second: 1 });
    const client = new Client({ baseUrl: service.url, token: account.token, retry: false });
    const errors: unknown[] = [];
    for (let number = 0; number < 400 && errors.length === 0; number += 1) {
      await client.logs().catch((error: unknown) => errors.push(error));
    }
    expect(errors).toEqual([expect.any(QstashRatelimitError)]);
  });
});

describe('messages in a day', () => {
  it('above the soft limit are accepted with a warning', async () => {
    const account = await makeAccount({ max_requests_per_day: 2 });
    const answers: Answer[] = [];
    for (let number = 0; number < 4; number += 1) {
      answers.push(await publishAs(account, somewhere, { headers: later }));
    }
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect(answers[0]?.headers.get('svc-soft-limit')).toBeNull();
    const warning = answers.at(-1)?.headers.get('svc-soft-limit') ?? '';
    expect(warning).toMatch(/^max_requests_per_day=2; used=\d+$/);
  });

  it('above the hard limit are refused until the next', async () => {
    const hard = 5;
    const account = await makeAccount({ max_requests_per_day: 3, max_requests_per_day_hard: hard });
    const answers: Answer[] = [];
    for (let number = 0; number < hard + processes + 2; number += 1) {
      answers.push(await publishAs(account, somewhere, { headers: later }));
    }
    const accepted = answers.filter(({ status }) => status === 200);
    const refused = answers.filter(({ status }) => status !== 200);
    expect(accepted.length).toBeGreaterThanOrEqual(hard);
    expect(accepted.length).toBeLessThanOrEqual(hard + processes);
    const tomorrow = (Math.floor(Date.now() / 86_400_000) + 1) * 86_400;
    for (const answer of refused) {
      checkAnswer('POST /v2/publish/{destination+}', answer);
      expect(codeOf(answer)).toBe('daily_limit_reached');
      await expectRefusal(
        answer,
        429,
        /^The account's limit max_requests_per_day_hard is 5; [5-9] messages were sent today, and this would be 1 more\. The next day begins at \d{4}-\d\d-\d\dT00:00:00\.000Z\.$/,
      );
      expect(answer.headers.get('ratelimit-limit')).toBe('5');
      expect(answer.headers.get('ratelimit-remaining')).toBe('0');
      expect(answer.headers.get('ratelimit-reset')).toBe(String(tomorrow));
    }
    expect(await messagesOf(account)).toBe(accepted.length);
    // Requests that make no messages are still answered.
    expect((await api('GET', '/v2/dlq', { token: account.token })).status).toBe(200);
    await changeAccount(account.id, { max_requests_per_day_hard: hard + processes + 1 });
    messageIdOf(await publishAs(account, somewhere, { headers: later }));
  });

  it('of a batch are counted one by one, and those beyond the limit are refused in their places', async () => {
    const account = await makeAccount({ max_requests_per_day: 2, max_requests_per_day_hard: 3 });
    const body = Array.from({ length: 5 }, () => ({ destination: somewhere, headers: later }));
    const { status, json } = await api('POST', '/v2/batch', { token: account.token, body });
    expect(status).toBe(200);
    const items = z.array(z.looseObject({ status: z.optional(z.number()) })).parse(json);
    expect(items.map((item) => item.status)).toEqual([undefined, undefined, undefined, 429, 429]);
    expect(await messagesOf(account)).toBe(3);
  });

  it('of a URL group are all accepted or all refused', async () => {
    const account = await makeAccount({ max_requests_per_day: 1, max_requests_per_day_hard: 2 });
    const endpoints = ['1', '2', '3'].map((path) => ({ url: `https://example.com/${path}` }));
    await api('POST', '/v2/topics/three/endpoints', { token: account.token, body: { endpoints } });
    expect((await publishAs(account, 'three', { headers: later })).status).toBe(429);
    expect(await messagesOf(account)).toBe(0);
    messageIdOf(await publishAs(account, somewhere, { headers: later }));
  });

  it('include dead letters that are sent again, which stay if they may not be sent', async () => {
    const account = await makeAccount({ max_requests_per_day: 2, max_requests_per_day_hard: 2 });
    const inbox = receiver.inbox((_delivery, response) => response.writeHead(500).end());
    for (let number = 0; number < 2; number += 1) {
      messageIdOf(await publishAs(account, inbox.url, { headers: { 'Svc-Retries': '0' } }));
    }
    const { messages } = await eventually(
      () => dlqOf(account),
      (page) => page.messages.length === 2,
    );
    await expectRefusal(
      api('POST', `/v2/dlq/retry/${messages[0]?.dlqId ?? ''}`, { token: account.token }),
      429,
      'max_requests_per_day_hard is 2',
    );
    await expectRefusal(
      api('POST', '/v2/dlq/retry', { token: account.token }),
      429,
      'Sent again before that: 0 dead letters.',
    );
    expect((await dlqOf(account)).messages).toHaveLength(2);
    await changeAccount(account.id, { max_requests_per_day_hard: 10 });
    const again = await api('POST', '/v2/dlq/retry', { token: account.token });
    expect(again.status).toBe(201);
  });

  it('are reported to the published client in its format', async () => {
    const account = await makeAccount({ max_requests_per_day: 0, max_requests_per_day_hard: 0 });
    const client = new Client({ baseUrl: service.url, token: account.token, retry: false });
    await expect(client.publish({ url: somewhere })).rejects.toBeInstanceOf(QstashDailyRatelimitError);
  });
});

describe('the budget', () => {
  it('once used up, ends publishing until the end of the month', async () => {
    // A message costs 0.1 dollars, so the budget is used up after ten.
    const account = await makeAccount({ budget: 1 });
    const answers: Answer[] = [];
    for (let number = 0; number < 12 + processes; number += 1) {
      answers.push(await publishAs(account, somewhere, { headers: later }));
    }
    const accepted = answers.filter(({ status }) => status === 200).length;
    expect(accepted).toBeGreaterThanOrEqual(10);
    expect(accepted).toBeLessThanOrEqual(10 + processes);
    const refused = answers.at(-1);
    if (refused === undefined) throw new Error('There is no answer.');
    await expectRefusal(
      refused,
      412,
      /^The account's budget is 1 dollars a month, which pays for 10 messages; 1[0-4] were sent this month, and this would be 1 more\. The next month begins on \d{4}-\d\d-01\.$/,
    );
    expect(await messagesOf(account)).toBe(accepted);
    await changeAccount(account.id, { budget: 0 });
    messageIdOf(await publishAs(account, somewhere, { headers: later }));
  });
});
