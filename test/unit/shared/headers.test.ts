import { describe, expect, it } from 'vitest';
import { joinedHeaders } from '../../../lambdas/delivery/callbackBody.ts';
import { batchItem } from '../../../lambdas/wire/batchItem.ts';
import { groupDefaults } from '../../../lambdas/wire/requests.ts';
import {
  readHeaders,
  shownHeaders,
  shownName,
  valuesOf,
  type Header,
} from '../../../lambdas/shared/headers.ts';

const names = Object.getOwnPropertyNames(Object.prototype);
const headers = names.map((name): Header => [name.toLowerCase(), name]);

describe('headers', () => {
  it('are shown with all their values under any names', () => {
    const shown = shownHeaders([...headers, ...headers]);
    expect(Object.entries(shown)).toEqual(names.map((name) => [shownName(name), [name, name]]));
    expect(Object.getPrototypeOf(shown)).toBe(Object.prototype);
    const read: object = JSON.parse(JSON.stringify({ ...{ shown } })) as object;
    expect(JSON.stringify(read)).toBe(JSON.stringify({ shown }));
    expect(JSON.stringify(read)).toContain('"__proto__":["__proto__","__proto__"]');
  });

  it('are shown as one text for each name if the format says so', () => {
    const pairs: readonly Header[] = [
      ['x-a', '1'],
      ['content-type', 'text/plain'],
      ['x-a', '2'],
      ['cookie', 'a=1'],
      ['cookie', 'b=2'],
      ...headers,
    ];
    expect(Object.entries(joinedHeaders(pairs))).toEqual([
      ['X-A', '1, 2'],
      ['Content-Type', 'text/plain'],
      // A comma may occur in a cookie. HTTP/2 splits cookies, and they are joined as they were.
      ['Cookie', 'a=1; b=2'],
      ...names.map((name) => [shownName(name), name]),
    ]);
  });

  it.each([
    ['content-type', 'Content-Type'],
    ['X-TENANT', 'X-Tenant'],
    ['x--a', 'X--A'],
    ['etag', 'Etag'],
    ['__proto__', '__proto__'],
  ])('named %s are shown as %s, like in Go', (name, shown) => {
    expect(shownName(name)).toBe(shown);
    expect(shownName(shown)).toBe(shown);
  });

  it('give the values of one name', () => {
    const pairs: readonly Header[] = [
      ['a', '1'],
      ['b', '2'],
      ['a', '3'],
    ];
    expect(valuesOf(pairs, 'a')).toEqual(['1', '3']);
    expect(valuesOf(pairs, 'constructor')).toEqual([]);
  });
});

describe('headers in JSON', () => {
  const given = Object.fromEntries(names.map((name) => [name, [name, 'two']]));

  it('are read with any names', () => {
    const pairs = names.flatMap((name): Header[] => [
      [name, name],
      [name, 'two'],
    ]);
    expect(groupDefaults.parse({ headers: given }).headers).toEqual(pairs);
    expect(batchItem.parse({ destination: 'group', headers: given }).headers).toEqual(pairs);
    expect(readHeaders('headers', pairs)).toEqual(pairs.map(([name, value]) => [name.toLowerCase(), value]));
  });

  it.each<[given: unknown, texts: readonly string[]]>([
    [7, ['7']],
    [true, ['true']],
    [null, []],
    [
      [1, 'a', false, null],
      ['1', 'a', 'false'],
    ],
  ])('have %o as its text, and null as no value', (given, texts) => {
    expect(batchItem.parse({ destination: 'group', headers: { 'x-a': given } }).headers).toEqual(
      texts.map((text) => ['x-a', text]),
    );
  });

  it.each([{ a: 'b' }, [[]], [{}]])('have no value %o', (value) => {
    for (const name of ['x-a', ...names]) {
      const read = groupDefaults.safeParse({ headers: Object.fromEntries([[name, value]]) });
      expect(read.error?.issues[0]?.path).toEqual(['headers', name]);
    }
  });

  it.each([null, 'x-a', ['x-a'], 1])('are not %o', (value) => {
    expect(groupDefaults.safeParse({ headers: value }).success).toBe(false);
  });
});
