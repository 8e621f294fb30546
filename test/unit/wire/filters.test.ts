import type { Header } from '../../../lambdas/shared/headers.ts';
import { describe, expect, it } from 'vitest';
import type { Filterable } from '../../../lambdas/wire/filterFields.ts';
import { matches, parseFilter, type List } from '../../../lambdas/wire/filters.ts';
import { idsInBody } from '../../../lambdas/wire/idBodies.ts';

const entry: Filterable = {
  url: 'https://example.com:8443/a/b?c=d',
  messageId: 'msg_1',
  topicName: 'group',
  queueName: 'queue',
  scheduleId: 'scd_1',
  callerIp: '192.0.2.1',
  flowControlKey: 'flow',
  labels: ['one', 'two'],
  responseStatus: 503,
  state: 'ERROR',
};
const isFound = (list: List, ...query: readonly Header[]): boolean =>
  matches(parseFilter(list, query), entry);

describe('a filter', () => {
  it.each<[list: List, name: string, value: string, other: string]>([
    ['logs', 'url', 'https://example.com:8443/a/b?c=d', 'https://example.com:8443/a/b'],
    ['logs', 'host', 'example.com:8443', 'example.com'],
    ['logs', 'path', '/a/b', '/a'],
    ['logs', 'topicName', 'group', 'Group'],
    ['logs', 'queueName', 'queue', 'other'],
    ['logs', 'scheduleId', 'scd_1', 'scd_2'],
    ['logs', 'flowControlKey', 'flow', 'flo'],
    ['logs', 'label', 'two', 'three'],
    ['logs', 'state', 'ERROR', 'RETRY'],
    ['logs', 'state', 'IN_PROGRESS', 'CREATED'],
    ['dlq', 'responseStatus', '503', '500'],
  ])('of %s by %s finds %s and not %s', (list, name, value, other) => {
    expect(isFound(list, [name, value])).toBe(true);
    expect(isFound(list, [name, other])).toBe(false);
    expect(isFound(list, [name, other], [name, value])).toBe(true);
  });

  it('accepts several values with commas, except if a value may contain one', () => {
    expect(isFound('logs', ['label', 'three, two'])).toBe(true);
    expect(isFound('logs', ['url', `x,${entry.url}`])).toBe(false);
  });

  it('must match together with all others', () => {
    expect(isFound('logs', ['label', 'one'], ['topicName', 'group'])).toBe(true);
    expect(isFound('logs', ['label', 'one'], ['topicName', 'other'])).toBe(false);
  });

  it('does not match an entry without the field', () => {
    expect(matches(parseFilter('logs', [['topicName', 'undefined']]), { url: entry.url })).toBe(false);
    expect(matches(parseFilter('logs', []), { url: entry.url })).toBe(true);
  });

  it('reads ids, dates, count and cursor', () => {
    expect(
      parseFilter('dlq', [
        ['dlqIds', 'a,b'],
        ['dlqIds', 'c'],
        ['fromDate', '1'],
        ['toDate', '2'],
        ['count', '100'],
        ['cursor', 'x,y'],
      ]),
    ).toEqual({
      ids: ['a', 'b', 'c'],
      fromDate: 1,
      toDate: 2,
      count: 100,
      cursor: 'x,y',
      values: new Map(),
    });
  });

  it.each<[list: List, name: string, value: string]>([
    ['messages', 'state', 'ERROR'],
    ['messages', 'dlqIds', 'x'],
    ['dlq', 'state', 'ERROR'],
    ['logs', '__proto__', 'x'],
    ['logs', 'Label', 'x'],
  ])('of %s by %s is unknown', (list, name, value) => {
    expect(() => parseFilter(list, [[name, value]])).toThrow(
      `"${name}" is not a filter here; known are topicName,`,
    );
  });

  it.each<[name: string, value: string, says: string]>([
    ['label', '', 'label is empty'],
    ['label', 'a,', 'label is empty'],
    ['messageIds', ',', 'messageIds is empty'],
    ['count', '0', 'count is "0"'],
    ['count', '9'.repeat(20), 'count is'],
    ['fromDate', '1,2', 'fromDate is given 2 times'],
    ['state', 'CONSTRUCTOR', 'state is "CONSTRUCTOR"'],
    ['order', 'latestfirst', 'order is "latestfirst"; allowed are latestFirst, earliestFirst.'],
  ])('by %s of "%s" is refused', (name, value, says) => {
    expect(() => parseFilter('logs', [[name, value]])).toThrow(says);
  });
});

describe('the ids in a body', () => {
  it('are read like those of the query', () => {
    expect(idsInBody('messages', Buffer.from('{"messageIds":["a","b"]}'))).toEqual([
      ['messageIds', 'a'],
      ['messageIds', 'b'],
    ]);
    expect(idsInBody('dlq', new Uint8Array())).toEqual([]);
  });

  it.each(['{', '{}', '{"messageIds":[]}', '{"messageIds":["a"],"all":true}'])(
    'are refused as %s',
    (text) => {
      expect(() => idsInBody('messages', Buffer.from(text))).toThrow(/^The body|^messageIds|^all: /);
    },
  );
});
