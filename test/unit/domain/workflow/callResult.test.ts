import { describe, expect, it } from 'vitest';
import type { DestinationResponse } from '../../../../lambdas/domain/delivery/outcome.ts';
import type { Message } from '../../../../lambdas/domain/message/message.ts';
import { callResultBody } from '../../../../lambdas/domain/workflow/callResult.ts';
import { settingsFor } from '../../../../lambdas/domain/workflow/runSettings.ts';

const call: Message = {
  messageId: 'msg_call',
  accountId: 'a',
  prefix: 'Upstash',
  url: 'https://third.example/',
  method: 'GET',
  headers: [],
  maxRetries: 3,
  timeoutMs: 1_000,
  labels: [],
  createdAt: 0,
  notBefore: 0,
  callerIp: '192.0.2.1',
  expiresAt: 0,
};

const resultOf = (response: DestinationResponse, retried: number, maxBytes = 10_000): unknown => {
  const facts = { message: call, body: new Uint8Array(), response, retried };
  return JSON.parse(Buffer.from(callResultBody(facts, maxBytes)).toString());
};
const base64 = (text: string): string => Buffer.from(text).toString('base64');

describe('the result of a call', () => {
  it('has the answer', () => {
    const answer = { status: 201, headers: [['x-a', 'b']] as const, body: Buffer.from('made') };
    expect(resultOf(answer, 1)).toMatchObject({
      status: 201,
      header: { 'X-A': ['b'] },
      body: base64('made'),
      retried: 1,
      maxRetries: 3,
      sourceMessageId: 'msg_call',
    });
  });

  it('that stopped early is the last one all the same', () => {
    const answer = { status: 489, headers: [], body: Buffer.from('never') };
    expect(resultOf(answer, 1)).toMatchObject({ status: 489, retried: 1, maxRetries: 1 });
  });

  it('that had no answer tells why', () => {
    const nothing = { status: 0, error: 'It took too long.', headers: [], body: new Uint8Array() };
    expect(resultOf(nothing, 3)).toMatchObject({ status: 0, header: {}, body: base64('It took too long.') });
  });

  it('is cut where it is too large', () => {
    const answer = { status: 200, headers: [], body: Buffer.alloc(5_000, 'x') };
    const facts = { message: call, body: new Uint8Array(), response: answer, retried: 0 };
    expect(callResultBody(facts, 2_000).length).toBeLessThanOrEqual(2_000);
    expect(callResultBody(facts, 2_000).length).toBeGreaterThan(1_990);
  });
});

describe('the settings of a message', () => {
  const ofRun = { maxRetries: 2, labels: ['a'], flowControl: { key: 'k', parallelism: 1 } };
  const own = { maxRetries: 5, labels: [], method: 'POST' };
  const onStart = new Set(['WF_TriggerOnConfig'] as const);

  it.each(['submission', 'callResult'] as const)(
    '%s are those of its run, where the client gives none',
    (kind) => {
      expect(settingsFor(kind, onStart, ofRun, own)).toEqual({ ...own, ...ofRun });
    },
  );

  it.each([
    ['call', onStart],
    ['failureRequest', onStart],
    ['submission', new Set([])],
  ] as const)('%s are its own', (kind, features) => {
    expect(settingsFor(kind, features, ofRun, own)).toBe(own);
  });
});
