import type { Header } from '../../../lambdas/shared/headers.ts';
import { describe, expect, it } from 'vitest';
import { callbackBody } from '../../../lambdas/delivery/callbackBody.ts';
import type { Message } from '../../../lambdas/message/message.ts';
import { outcomeOf } from '../../../lambdas/delivery/outcome.ts';
import type { DestinationResponse } from '../../../lambdas/destination/response.ts';

const now = 1_790_000_000_000;
const message: Message = {
  messageId: 'msg_1',
  accountId: 'acct',
  prefix: 'Svc',
  url: 'https://example.com/',
  method: 'POST',
  headers: [['content-type', 'text/plain']],
  maxRetries: 2,
  timeoutMs: 30_000,
  retryDelay: '1000',
  labels: [],
  createdAt: now,
  notBefore: now,
  callerIp: '1.2.3.4',
  expiresAt: now,
};
const response = (status: number, headers: readonly Header[] = []): DestinationResponse => ({
  status,
  headers,
  body: new Uint8Array(),
});

describe('what follows an attempt', () => {
  it.each([200, 299])('is delivery after %i', async (status) => {
    expect(await outcomeOf(message, {}, 0, response(status), now)).toEqual({ state: 'DELIVERED' });
  });

  it.each([0, 489, 500])('is a retry after %i', async (status) => {
    expect(await outcomeOf(message, {}, 0, response(status), now)).toEqual({
      state: 'RETRY',
      nextDeliveryAt: now + 1000,
    });
  });

  it('is permanent failure once the retries are used up', async () => {
    expect((await outcomeOf(message, {}, 1, response(500), now)).state).toBe('RETRY');
    expect(await outcomeOf(message, {}, 2, response(500), now)).toEqual({ state: 'FAILED' });
    expect(await outcomeOf({ ...message, maxRetries: 0 }, {}, 0, response(500), now)).toEqual({
      state: 'FAILED',
    });
  });

  it('is permanent failure after an answer that another attempt would not change', async () => {
    const final = { ...response(413), isFinal: true } as const;
    expect(await outcomeOf(message, {}, 0, final, now)).toEqual({ state: 'FAILED' });
    expect((await outcomeOf(message, {}, 0, response(413), now)).state).toBe('RETRY');
  });

  it('is permanent failure after a 489 that says so in the message’s dialect', async () => {
    const header = (name: string, value = 'true') => response(489, [[name, value]]);
    expect((await outcomeOf(message, {}, 0, header('svc-nonretryable-error'), now)).state).toBe('FAILED');
    expect((await outcomeOf(message, {}, 0, header('svc-nonretryable-error', 'false'), now)).state).toBe(
      'RETRY',
    );
    const upstash = { ...message, prefix: 'Upstash' };
    expect((await outcomeOf(upstash, {}, 0, header('upstash-nonretryable-error'), now)).state).toBe('FAILED');
  });
});

describe('an answer in a list', () => {
  const listed = { ...message, failOn: '400-499,!408' };

  it.each([
    [404, 'FAILED'],
    [408, 'RETRY'],
    [500, 'RETRY'],
    [0, 'RETRY'],
    [200, 'DELIVERED'],
  ] as const)('%i leads to %s', async (status, state) => {
    expect((await outcomeOf(listed, {}, 0, response(status), now)).state).toBe(state);
    expect((await outcomeOf(message, { failOn: listed.failOn }, 0, response(status), now)).state).toBe(state);
  });

  it('follows the message’s list rather than its account’s', async () => {
    expect((await outcomeOf(listed, { failOn: '500' }, 0, response(500), now)).state).toBe('RETRY');
  });

  it('does not end a message of a run, whose client decides what is final', async () => {
    const workflow = { role: 'list', runId: 'wfr_1', createdAt: now, startSeq: 0 } as const;
    const ofRun = { ...message, workflow };
    expect((await outcomeOf(ofRun, { failOn: '400-499' }, 0, response(404), now)).state).toBe('RETRY');
  });

  it.each([
    ['removes an endpoint of a group', { gone: 'remove', topicName: 'group' }, 'FAILED'],
    ['does not where the group keeps it', { gone: 'keep', topicName: 'group' }, 'RETRY'],
    ['does not where there is no group', { gone: 'remove' }, 'RETRY'],
  ] as const)('with 410 %s', async (_, of, state) => {
    expect((await outcomeOf({ ...message, ...of }, {}, 0, response(410), now)).state).toBe(state);
  });
});

describe('a callback’s body', () => {
  const answered = {
    message,
    body: Buffer.from('source'),
    response: { ...response(200), body: Buffer.alloc(500, 'r') },
    retried: 0,
  };
  const parse = (bytes: Uint8Array): Record<string, unknown> =>
    JSON.parse(Buffer.from(bytes).toString()) as Record<string, unknown>;

  it('is whole if it fits', () => {
    expect(parse(callbackBody(answered, 10_000))).toMatchObject({
      body: Buffer.alloc(500, 'r').toString('base64'),
      sourceBody: Buffer.from('source').toString('base64'),
      notBefore: String(now),
    });
  });

  it('shortens the response’s body first, then the message’s', () => {
    for (const maxBytes of [900, 700, 420]) {
      const bytes = callbackBody(answered, maxBytes);
      expect(bytes.length).toBeLessThanOrEqual(maxBytes);
    }
    expect(parse(callbackBody(answered, 700))['sourceBody']).toBe(Buffer.from('source').toString('base64'));
  });
});
