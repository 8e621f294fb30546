import { attemptEntries, cancelledEntries, createdEntry } from '../../../lambdas/message/logEntries.ts';
import { logSubjectOf } from '../../../lambdas/message/logSubject.ts';
import type { Header } from '../../../lambdas/shared/headers.ts';
import { describe, expect, it } from 'vitest';
import type { Attempt, Message } from '../../../lambdas/message/message.ts';
import { bodyRecord, messageRecord, responseRecord } from '../../../lambdas/message/records.ts';

const message: Message = {
  messageId: 'msg_1',
  accountId: 'acct',
  prefix: 'Svc',
  url: 'https://example.com/',
  method: 'POST',
  headers: [
    ['x-a', '1'],
    ['x-a', '2'],
  ],
  maxRetries: 3,
  timeoutMs: 30_000,
  labels: [],
  createdAt: 1,
  notBefore: 2,
  callerIp: '192.0.2.1',
  expiresAt: 3,
};

/** Returns a value as it is sent, without undefined fields. */
const sent = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

describe('a message’s record', () => {
  it('has a period of one second if its flow control has none', () => {
    const periodOf = (flowControl: Message['flowControl']) =>
      messageRecord({ ...message, flowControl }).period;
    expect(periodOf({ key: 'k', parallelism: 2 })).toBe(1);
    expect(periodOf({ key: 'k', rate: 2, period: 60 })).toBe(60);
    expect(periodOf(undefined)).toBeUndefined();
  });

  it('leaves out missing fields', () => {
    expect(sent(messageRecord(message))).toEqual({
      messageId: 'msg_1',
      url: 'https://example.com/',
      method: 'POST',
      header: { 'X-A': ['1', '2'] },
      maxRetries: 3,
      timeout: 30,
      notBefore: 2,
      createdAt: 1,
      callerIP: '192.0.2.1',
      callerIp: '192.0.2.1',
    });
  });

  it('has its body as text if possible, and otherwise in base64', () => {
    expect(bodyRecord(Buffer.from('ünï'))).toEqual({ body: 'ünï' });
    expect(bodyRecord(new Uint8Array())).toEqual({});
    expect(bodyRecord(new Uint8Array(), { body: true, headers: [] })).toEqual({});
    expect(bodyRecord(Buffer.from('\ufeffx'))).toEqual({ body: '\ufeffx' });
    expect(bodyRecord(Uint8Array.of(0xff))).toEqual({ bodyBase64: '/w==' });
  });

  it('has the answer of a failed attempt', () => {
    const headers: readonly Header[] = [['a', 'b']];
    const response = { status: 500, headers, body: Uint8Array.of(0xff) };
    expect(sent(responseRecord(response))).toEqual({
      responseStatus: 500,
      responseHeader: { A: ['b'] },
      responseBodyBase64: '/w==',
    });
  });
});

describe('the log entries of', () => {
  const subject = logSubjectOf({ ...message, labels: ['one', 'two'], topicName: 'group' });
  const common = { messageId: 'msg_1', label: 'one', labels: ['one', 'two'], topicName: 'group' };
  const attempt: Attempt = {
    number: 1,
    state: 'DELIVERED',
    startedAt: 10,
    recordedAt: 20,
    response: { status: 200, headers: [], body: new Uint8Array() },
  };
  const response = { status: 500, headers: [], body: Buffer.from('no') };

  it('a message say when it is due', () => {
    expect(sent(createdEntry(message, 5))).toMatchObject({ state: 'CREATED', time: 5, notBefore: 2 });
  });

  it('an attempt that succeeded are DELIVERED and ACTIVE', () => {
    expect(attemptEntries(subject, attempt)).toMatchObject([
      { ...common, state: 'DELIVERED', time: 20, retried: 1, responseStatus: 200 },
      { ...common, state: 'ACTIVE', time: 10, retried: 1 },
    ]);
  });

  it('an attempt that is retried are RETRY, ERROR and ACTIVE', () => {
    const failed: Attempt = { ...attempt, state: 'RETRY', nextDeliveryAt: 30, response };
    expect(attemptEntries(subject, failed)).toMatchObject([
      { state: 'RETRY', time: 20, nextDeliveryTime: 30 },
      { state: 'ERROR', time: 20, nextDeliveryTime: 30, responseStatus: 500, responseBody: 'bm8=' },
      { state: 'ACTIVE', time: 10 },
    ]);
  });

  it('the last attempt are FAILED, ERROR and ACTIVE', () => {
    const entries = attemptEntries(subject, { ...attempt, state: 'FAILED', response });
    expect(entries.map(({ state }) => state)).toEqual(['FAILED', 'ERROR', 'ACTIVE']);
    expect(sent(entries[0])).not.toHaveProperty('nextDeliveryTime');
  });

  it('a withdrawal are CANCELED and CANCEL_REQUESTED', () => {
    expect(cancelledEntries(subject, 7)).toMatchObject([
      { ...common, state: 'CANCELED', time: 7 },
      { ...common, state: 'CANCEL_REQUESTED', time: 7 },
    ]);
  });
});
