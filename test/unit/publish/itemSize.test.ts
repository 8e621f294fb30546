import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { once } from 'node:events';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import type { Account } from '../../../lambdas/account/account.ts';
import { limitTable } from '../../../lambdas/value/limits.ts';
import { itemBytes, largestItem } from '../../support/itemSize.ts';
import { openFixture, type Fixture } from '../../support/fixture.ts';

/** Tests that no item exceeds DynamoDB’s 400 KB, for any publish and any answer. */

let fixture: Fixture;
let account: Account;
let batch: (items: unknown) => Promise<readonly unknown[]>;
let setUpGroup: (name: string, url: string, defaults: object) => Promise<void>;
let destination: Server;
const sockets = new Set<Socket>();
let written: number[] = [];
let answer: Uint8Array = Buffer.alloc(0);

function writtenItems(input: object): readonly Item[] {
  if (isPut(input)) return [input.Item];
  if (!isBatch(input)) return [];
  return Object.values(input.RequestItems)
    .flat()
    .flatMap(({ PutRequest }) => (PutRequest === undefined ? [] : [PutRequest.Item]));
}

type Item = Readonly<Record<string, AttributeValue>>;
const isPut = (input: object): input is { Item: Item } => 'Item' in input;
const isBatch = (
  input: object,
): input is { RequestItems: Readonly<Record<string, readonly { PutRequest?: { Item: Item } }[]>> } =>
  'RequestItems' in input;

beforeAll(async () => {
  fixture = await openFixture();
  const [service, defaults, groupEndpoints] = await Promise.all([
    import('../../../lambdas/publish/batch.ts'),
    import('../../../lambdas/urlGroup/defaults.ts'),
    import('../../../lambdas/urlGroup/endpoints.ts'),
  ]);
  fixture.dynamodb.middlewareStack.add(
    (next) => (args) => {
      for (const item of writtenItems(args.input)) written.push(itemBytes(item));
      return next(args);
    },
    { step: 'initialize', name: 'written' },
  );
  const { max_events_size: events, max_retries: retries } = limitTable;
  const limits = { max_events_size: events.most, max_retries: retries.most };
  const { id: _, ...base } = fixture.account;
  account = { ...base, id: 'largest', limits, version: 1 };
  await fixture.saveAccount(account, undefined);
  const common = { prefix: 'Svc', host: 'api.example.com' };
  const bytes = (value: unknown): Uint8Array => Buffer.from(JSON.stringify(value));
  batch = (items) => service.batch(account, { ...common, body: bytes(items), callerIp: '127.0.0.1' });
  setUpGroup = async (name, url, headers) => {
    const endpoints = [{ url, name: 'e'.repeat(128) }];
    await groupEndpoints.addEndpoints(account, { ...common, name, body: bytes({ endpoints }) });
    await defaults.setDefaults(account, { ...common, name, body: bytes({ headers }) });
  };
  destination = createServer((socket) => {
    sockets.add(socket.on('error', () => socket.destroy()));
    socket.on('data', () => socket.end(answer));
  });
  destination.listen(0, '127.0.0.1');
  await once(destination, 'listening');
});
afterAll(async () => {
  for (const socket of sockets) socket.destroy();
  destination.close();
  await fixture.close();
});

/** Returns an answer with the largest headers, and a body larger than is kept. */
function largeAnswer(header: string, bytes: number): Buffer {
  const headers = header.repeat(Math.floor(bytes / header.length));
  const body = 'b'.repeat(2 * limitTable.max_events_size.most);
  const text = `HTTP/1.1 500 Failed\r\ncontent-length: ${body.length}\r\n${headers}\r\n${body}`;
  return Buffer.from(text, 'latin1');
}

/** A name of a hundred two-byte letters. Ten of them are labels. */
const label = 'ü'.repeat(99);
const labels = Array.from({ length: 10 }, (_, number) => `${label}${number}`).join(',');

/** Settings of one publish that use all of the 10,240 bytes. */
const configurations: readonly { readonly has: string; readonly config: object }[] = [
  { has: 'one long header', config: { 'Svc-Forward-X': 'ü'.repeat(3_500) } },
  {
    has: 'as many headers as there is room for',
    config: { 'Svc-Header-Forward': 'true', a: Array.from({ length: 7_500 }, () => '') },
  },
  {
    has: 'headers of callbacks',
    config: {
      'Svc-Callback-Forward-A': Array.from({ length: 150 }, () => 'x'),
      'Svc-Failure-Callback-Forward-A': Array.from({ length: 120 }, () => 'y'),
    },
  },
  {
    has: 'labels',
    config: { 'Svc-Label': labels, 'Svc-Callback-Label': labels, 'Svc-Failure-Callback-Label': labels },
  },
  {
    has: 'redacted headers',
    config: { 'Svc-Redact-Fields': Array.from({ length: 800 }, () => 'header[a]').join() },
  },
];

const answers: readonly { readonly answered: string; readonly header: string }[] = [
  { answered: 'one long header', header: `x: ${'\xff'.repeat(65_200)}\r\n` },
  { answered: 'very many headers', header: 'a:\r\n' },
  { answered: 'many headers', header: 'a: \xff\r\n' },
];
/** Each configuration with the largest answer, and the largest configuration with each answer. */
const pairs = [
  ...configurations.flatMap((one) => answers.slice(0, 1).map((other) => ({ ...one, ...other }))),
  ...configurations.slice(1, 2).flatMap((one) => answers.slice(1).map((other) => ({ ...one, ...other }))),
];

const published = z.tuple([z.tuple([z.object({ messageId: z.string() })])]);

let groupsMade = 0;

async function publishLargest(config: object): Promise<string> {
  const name = `group-${(groupsMade += 1)}`;
  const { port } = destination.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}/`;
  const callback = `${url}${'c'.repeat(700)}`;
  const full = { 'Svc-Callback': callback, 'Svc-Failure-Callback': callback, 'Svc-Retries': '0', ...config };
  await setUpGroup(name, `${url}${'p'.repeat(2_000)}`, { 'Svc-Forward-Z': 'ü'.repeat(5_000) });
  const headers = { ...full, 'Content-Type': 't'.repeat(100) };
  // Random text, which cannot be compressed.
  const body = Array.from({ length: 512 }, () => Math.random().toString(36).slice(2, 3)).join('');
  return published.parse(await batch([{ destination: name, headers, body }]))[0][0].messageId;
}

describe('no item reaches the limit', () => {
  it.each(pairs)(
    'if a message has $has and is answered with $answered',
    async ({ config, answered, header }) => {
      answer = largeAnswer(header, 65_300);
      written = [];
      const messageId = await publishLargest(config);
      await fixture.doJobs();
      const { attempts = [] } = (await fixture.loadMessage({ accountId: account.id, messageId })) ?? {};
      expect(attempts).toMatchObject([{ state: 'FAILED', response: { status: 500 } }]);
      expect(attempts[0]?.response.body).toHaveLength(limitTable.max_events_size.most);
      // Node.js keeps a thousand headers of an answer since version 22.
      expect(attempts[0]?.response.headers.length).toBeGreaterThanOrEqual(
        answered === 'one long header' ? 2 : 1_000,
      );
      expect(await fixture.deadLettersOf(messageId)).toBe(1);
      // A message, its attempt and its dead letter, and those of its two callbacks.
      expect(written.length).toBeGreaterThanOrEqual(9);
      expect(Math.max(...written)).toBeGreaterThan(limitTable.max_events_size.most);
      expect(Math.max(...written)).toBeLessThan((2 * largestItem) / 3);
    },
  );
});
