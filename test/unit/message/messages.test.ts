import { beforeAll, describe, expect, it } from 'vitest';
import { newId, shardOf } from '../../../lambdas/shared/ids.ts';
import type { CallbackSettings, Message } from '../../../lambdas/message/message.ts';
import { useStandIns } from '../../support/useStandIns.ts';

useStandIns();

/** Every field has a value, so that a new field does not compile here without one. */
type Full<T> = { readonly [K in keyof T]-?: NonNullable<T[K]> };

const callback: Full<CallbackSettings> = {
  url: 'https://example.com/callback',
  method: 'PUT',
  headers: [['x-callback', '1']],
  maxRetries: 2,
  timeoutMs: 3_000,
  retryDelay: '1000',
  labels: ['back'],
  flowControl: { key: 'callbacks', parallelism: 1, rate: 2, period: 3 },
  fairKey: 'one',
  priority: 'low',
  redaction: { body: false, headers: 'all' },
  circuit: false,
  hideHeaders: true,
  deferredMs: 60_000,
  failOn: '400-499',
  delayMs: 4_000,
};

const createdAt = 1_790_000_000_000;
const accountId = 'acct';
const full: Full<Message> = {
  messageId: newId('msg', createdAt),
  accountId,
  prefix: 'Svc',
  url: 'https://example.com/',
  method: 'PATCH',
  headers: [
    ['content-type', 'text/plain'],
    ['x-twice', '1'],
    ['x-twice', '2'],
  ],
  maxRetries: 5,
  timeoutMs: 30_000,
  retryDelay: 'pow(2, retried)',
  labels: ['one', 'two'],
  flowControl: { key: 'lane', parallelism: 4, rate: 5, period: 60 },
  fairKey: 'two',
  priority: 'high',
  redaction: { body: true, headers: ['x-twice'] },
  circuit: true,
  hideHeaders: true,
  deferredMs: 60_000,
  failOn: '400-499,!429',
  gone: 'keep',
  topicName: 'group',
  endpointName: 'endpoint',
  queueName: 'queue',
  scheduleId: 'schedule',
  createdAt,
  notBefore: createdAt + 1_000,
  callerIp: '192.0.2.1',
  change: { id: 'abc', dueAt: { 1: createdAt } },
  debounce: { key: 'debounce#key', version: 2, firstDueAt: createdAt },
  callback,
  failureCallback: { ...callback, url: 'https://example.com/failure' },
  slotOf: { queueName: 'queue', entry: '01J0000000000000000000000A/0s' },
  isAlarm: true,
  endpointSignature: {
    id: 'abcdefghijkl',
    header: 'X-Acme-Signature',
    encoding: 'hex',
    prefix: 'sha256=',
    generation: 7,
    master: '0123456789abcdef',
    replaced: [{ generation: 6, master: '0123456789abcdef', until: createdAt }],
    readAt: createdAt,
  },
  retriedFrom: newId('msg', createdAt),
  originMessageId: newId('msg', createdAt),
  retriedAs: newId('msg', createdAt),
  callbackOf: newId('msg', createdAt),
  workflow: { role: 'list', runId: 'wfr_1', createdAt, startSeq: 0, dlqId: 'dlq_1' },
  expiresAt: createdAt + 1_000_000_000,
};

const { messageId: _, ...rest } = full;
const bare: Message = {
  ...rest,
  messageId: newId('msg', createdAt),
  labels: [],
  retryDelay: undefined,
  flowControl: undefined,
  redaction: undefined,
  circuit: undefined,
  hideHeaders: undefined,
  failOn: undefined,
  gone: undefined,
  topicName: undefined,
  endpointName: undefined,
  queueName: undefined,
  scheduleId: undefined,
  callback: undefined,
  failureCallback: undefined,
};

const importStores = async () => ({
  ...(await import('../../../lambdas/message/messages.ts')),
  ...(await import('../../../lambdas/message/history.ts')),
  ...(await import('../../../lambdas/message/list.ts')),
  ...(await import('../../../lambdas/message/log.ts')),
});
let stores: Awaited<ReturnType<typeof importStores>>;
const body = { at: 'here', bytes: new Uint8Array([1]), deflated: false } as const;

beforeAll(async () => {
  stores = await importStores();
  await stores.putMessages([full, bare].map((message) => ({ message, stored: body })));
});

describe.each([
  ['every field', full],
  ['no optional field', bare],
])('a message with %s', (_name, message: Message) => {
  const { messageId } = message;

  it('is complete when loaded with its history', async () => {
    expect(await stores.loadMessage(message)).toEqual({ message, body, attempts: [], end: undefined });
  });

  it('is complete when loaded among many', async () => {
    expect((await stores.loadMessages(accountId, [messageId])).get(messageId)).toEqual(message);
  });

  it('is complete in a list of its shard', async () => {
    const listed = [];
    for await (const one of stores.listMessages(shardOf(accountId, messageId), {})) listed.push(one.message);
    expect(listed).toContainEqual(message);
  });

  it('is complete in its own log', async () => {
    const logged = [];
    for await (const one of stores.listHistory(accountId, messageId, {})) logged.push(one);
    expect(logged).toEqual([expect.objectContaining({ id: messageId, message, end: undefined })]);
  });
});
