import { describe, expect, it } from 'vitest';
import { awsMessage, fifoIdsOf, sentParts, sizeOf } from '../../../../lambdas/delivery/rules/awsMessage.ts';
import type { Header } from '../../../../lambdas/shared/headers.ts';

const id: Header = ['svc-message-id', 'msg_1'];
const message = (headers: readonly Header[], body: string | Uint8Array = 'body') =>
  awsMessage([id, ...headers], [id[0], ...headers.map(([name]) => name)], Buffer.from(body));
const attributes = (...given: Parameters<typeof message>) => Object.fromEntries(message(...given).attributes);

describe('the headers of a message', () => {
  it('are attributes: first the id, then the forwarded ones, and the others together', () => {
    const all: readonly Header[] = [['svc-signature', 'a.b.c'], id, ['x-tenant', 'acme']];
    expect(awsMessage(all, [id[0], 'x-tenant'], Buffer.from('body'))).toEqual({
      text: 'body',
      attributes: new Map([id, ['x-tenant', 'acme'], ['svc-headers', '{"svc-signature":"a.b.c"}']]),
    });
  });

  it('are never more than ten attributes, with any body', () => {
    const many = Array.from({ length: 20 }, (_, at): Header => [`x-${at}`, String(at)]);
    const made = message(many, Buffer.from([255]));
    expect([...made.attributes.keys()]).toEqual([
      'svc-message-id',
      ...[0, 1, 2, 3, 4, 5, 6].map((at) => `x-${at}`),
      'svc-headers',
      'svc-body-encoding',
    ]);
    expect(JSON.parse(made.attributes.get('svc-headers') ?? '')).toEqual(Object.fromEntries(many.slice(7)));
  });

  it('that are repeated become one attribute', () => {
    expect(
      attributes([
        ['x-a', '1'],
        ['x-a', '2'],
        ['cookie', 'a=1'],
        ['cookie', 'b=2'],
      ]),
    ).toEqual({
      'svc-message-id': 'msg_1',
      'x-a': '1,2',
      cookie: 'a=1; b=2',
    });
  });

  it.each([
    ['x-empty', ''],
    ['x-control', 'a\u0001b'],
    ['aws.trace', 'a'],
    ['.x', 'a'],
    ['x.', 'a'],
    ['x..y', 'a'],
    ["x'y", 'a'],
    ['x'.repeat(257), 'a'],
  ])('that AWS refuses as an attribute are put with the others: %j: %j', (name, value) => {
    const made = attributes([[name, value]]);
    expect(Object.keys(made)).toEqual(['svc-message-id', 'svc-headers']);
    expect(JSON.parse(made['svc-headers'] ?? '')).toEqual({ [name]: value });
  });

  it('named like members of every object are ordinary attributes', () => {
    expect(
      Object.entries(
        attributes([
          ['__proto__', 'a'],
          ['constructor', 'b'],
        ]),
      ),
    ).toEqual([id, ['__proto__', 'a'], ['constructor', 'b']]);
  });
});

describe('the body of a message', () => {
  it.each(['ü\t\n\r 😀', '\u{feff}bom', ''])('that SQS accepts is its text: %j', (body) => {
    expect(message([], body).text).toBe(body);
    expect(attributes([], body)).not.toHaveProperty('svc-body-encoding');
  });

  it.each([
    [[0]],
    [[0xff, 0xfe]],
    // U+FFFE and U+FFFF are valid UTF-8, but SQS does not accept them.
    [[0xef, 0xbf, 0xbe]],
    // Half of a character.
    [[0xc3]],
    [[0xed, 0xa0, 0x80]],
  ])('that SQS refuses is sent in base64, with an attribute that says so: %j', (bytes) => {
    const body = Buffer.from(bytes);
    expect(message([], body)).toMatchObject({ text: body.toString('base64') });
    expect(attributes([], body)).toMatchObject({ 'svc-body-encoding': 'base64' });
  });
});

it('The size of a message includes all parts of its attributes, in bytes', () => {
  const of = { text: 'ü', attributes: new Map([['name', 'wért']]) };
  expect(sizeOf(of)).toBe(2 + 4 + 'String'.length + 5);
});

it('A FIFO queue gets the ids, and another queue none', () => {
  const ids = { groupId: 'g', deduplicationId: 'd' };
  const made = message([]);
  expect(sentParts(made, ids)).toEqual({
    MessageAttributes: { 'svc-message-id': { DataType: 'String', StringValue: 'msg_1' } },
    MessageGroupId: 'g',
    MessageDeduplicationId: 'd',
  });
  expect(sentParts(made, undefined)).toMatchObject({ MessageGroupId: undefined });
});

describe('the group of a FIFO message', () => {
  const of = { messageId: 'msg_1', accountId: 'account' };

  it('is its queue, or otherwise its flow-control key, or its account', () => {
    const flowControl = { key: 'tenant' };
    expect(fifoIdsOf({ ...of, queueName: 'mail', flowControl })).toEqual({
      groupId: 'mail',
      deduplicationId: 'msg_1',
    });
    expect(fifoIdsOf({ ...of, flowControl }).groupId).toBe('tenant');
    expect(fifoIdsOf(of).groupId).toBe('account');
  });

  it.each(['kunde ü', 'a b', 'x'.repeat(129)])('is a hash if AWS would refuse the key %j', (key) => {
    const { groupId } = fifoIdsOf({ ...of, flowControl: { key } });
    expect(groupId).toMatch(/^[0-9a-f]{64}$/);
    expect(fifoIdsOf({ ...of, flowControl: { key } }).groupId).toBe(groupId);
    expect(fifoIdsOf({ ...of, flowControl: { key: `${key}2` } }).groupId).not.toBe(groupId);
  });
});
