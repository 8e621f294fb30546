import { describe, expect, it } from 'vitest';
import type { Message } from '../../../lambdas/message/message.ts';
import { bodyRecord, messageRecord } from '../../../lambdas/message/records.ts';

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
});
