/** Many rows and results are from the Developer Guide. */
import { describe, expect, it } from 'vitest';
import { bind, type Given } from '../../../../../local/dynamodb/expressions/bind.ts';
import type { Item, Value } from '../../../../../local/dynamodb/values.ts';

const product: Item = {
  Id: { N: '123' },
  Title: { S: 'Bicycle 123' },
  Price: { N: '500' },
  InStock: { BOOL: true },
  QuantityOnHand: { NULL: true },
  Photo: { B: new Uint8Array([1, 2, 3]) },
  Color: { SS: ['Red', 'Black'] },
  Sizes: { NS: ['20', '21.5'] },
  RelatedItems: { L: [{ N: '341' }, { N: '472' }, { N: '649' }] },
  Reviews: { M: { FiveStar: { L: [{ S: 'Excellent!' }, { S: 'Great' }] }, OneStar: { L: [] } } },
};

const bound = (given: Given) => bind(given, { partitionKey: 'Id' }, ['Id']);

const values = {
  ':red': { S: 'Red' },
  ':bi': { S: 'Bi' },
  ':blue': { S: 'Blue' },
  ':472': { N: '472' },
  ':500': { N: '500' },
  ':1': { N: '1' },
  ':true': { BOOL: true },
  ':ss': { S: 'SS' },
  ':colors': { SS: ['Black', 'Red'] },
  ':bytes': { B: new Uint8Array([1, 2]) },
  ':list': { L: [{ S: 'x' }] },
} satisfies Record<string, Value>;

function mentioned(text: string): Pick<Given, 'ExpressionAttributeValues'> {
  const some = Object.entries(values).filter(([name]) => new RegExp(`${name}\\b`).test(text));
  return some.length === 0 ? {} : { ExpressionAttributeValues: Object.fromEntries(some) };
}

describe('a condition', () => {
  const holds = (ConditionExpression: string, item: Item = product): boolean | undefined =>
    bound({ ConditionExpression, ...mentioned(ConditionExpression) }).condition?.(item);

  it.each([
    'Price = :500',
    'InStock <> Price',
    'NOT Title < :500',
    'Price BETWEEN :1 AND :500',
    'RelatedItems[1] = :472',
    'attribute_exists(Reviews.OneStar)',
    'attribute_not_exists(Reviews.FiveStar[2])',
    'attribute_type(Color, :ss)',
    'begins_with(Title, :bi)',
    'contains(Color, :red)',
    'contains(RelatedItems, :472)',
    'size(Reviews.OneStar) < :1',
    'size(Color) < size(RelatedItems)',
    'Price = :1 OR Price = :500 AND InStock = :true',
  ])('%s holds', (text) => {
    expect(holds(text)).toBe(true);
  });

  it.each([
    'Absent = :1',
    'Absent = AlsoAbsent',
    'Title < :1',
    'Price BETWEEN :1 AND :472',
    'Absent IN (AlsoAbsent, :1)',
    'begins_with(Price, :bi)',
    'size(Price) = :1',
    'attribute_exists(RelatedItems[3])',
    'Price = :500 AND NOT InStock = :true',
  ])('%s is false', (text) => {
    expect(holds(text)).toBe(false);
  });

  it('of a missing row is that of an empty item', () => {
    expect(holds('attribute_not_exists(Id)', {})).toBe(true);
    const given = {
      ConditionExpression: 'attribute_exists(#c) OR attribute_exists(#t)',
      ExpressionAttributeNames: { '#c': 'constructor', '#t': 'toString' },
    };
    expect(bound(given).condition?.({})).toBe(false);
  });

  it('compares texts by their UTF-8 bytes, and numbers as numbers', () => {
    const given = {
      ConditionExpression: 'a < :a AND b < :b',
      ExpressionAttributeValues: { ':a': { S: '😀' }, ':b': { N: '10' } },
    };
    expect(bound(given).condition?.({ a: { S: '\uffff' }, b: { N: '9' } })).toBe(true);
  });
});

describe('a range of keys', () => {
  const range = (text: string) =>
    bind(
      { KeyConditionExpression: text, ExpressionAttributeNames: { '#o': 'owner' }, ...mentioned(text) },
      { partitionKey: 'owner', sortKey: 'id' },
      ['owner', 'id'],
    ).keys;
  it.each([
    ['#o = :red', undefined],
    ['#o = :red AND id > :bi', { op: '>', value: values[':bi'] }],
    [':bi > id AND :red = #o', { op: '<', value: values[':bi'] }],
    [
      '(id BETWEEN :bi AND :blue) AND (#o = :red)',
      { op: 'between', low: values[':bi'], high: values[':blue'] },
    ],
    ['#o = :red AND begins_with(id, :bi)', { op: 'begins_with', prefix: values[':bi'] }],
  ])('%s', (text, sort) => {
    expect(range(text)).toEqual({ partition: values[':red'], ...(sort && { sort }) });
  });
});

describe('a projection', () => {
  it.each([
    ['Title, Absent', { Title: product['Title'] }],
    [
      'RelatedItems[2], RelatedItems[0], RelatedItems[7]',
      { RelatedItems: { L: [{ N: '341' }, { N: '649' }] } },
    ],
    ['Reviews.FiveStar[1]', { Reviews: { M: { FiveStar: { L: [{ S: 'Great' }] } } } }],
    ['Reviews.Absent, Title.Absent, Color[0]', {}],
  ])('%s', (ProjectionExpression, item) => {
    expect(bound({ ProjectionExpression }).projection?.(product)).toEqual(item);
  });
});

describe('an update', () => {
  /** Makes an update and expects the given row to stay unchanged. */
  function updated(
    UpdateExpression: string,
    item: Item,
    given: Readonly<Record<string, Value>> = {},
  ): Item | undefined {
    const before = structuredClone(item);
    const ExpressionAttributeValues = Object.keys(given).length === 0 ? undefined : given;
    const after = bound({ UpdateExpression, ExpressionAttributeValues }).update?.(item);
    expect(item).toEqual(before);
    return after;
  }

  it.each<[string, Readonly<Record<string, Value>>, Item]>([
    ['SET n = n + :v', { ':v': { N: '2' } }, { n: { N: '7' } }],
    ['SET n = :v - n', { ':v': { N: '2' } }, { n: { N: '-3' } }],
    ['SET c = if_not_exists(c, :v) + :w', { ':v': { N: '0' }, ':w': { N: '1' } }, { c: { N: '1' } }],
    [
      'SET l = list_append(l, :v)',
      { ':v': { L: [{ S: 'z' }] } },
      { l: { L: [{ S: 'a' }, { S: 'b' }, { S: 'z' }] } },
    ],
    ['SET l[1] = :v', { ':v': { S: 'z' } }, { l: { L: [{ S: 'a' }, { S: 'z' }] } }],
    [
      'SET l[9] = :v, l[5] = n',
      { ':v': { S: 'z' } },
      { l: { L: [{ S: 'a' }, { S: 'b' }, { N: '5' }, { S: 'z' }] } },
    ],
    ['SET n = l, l = n', {}, { n: { L: [{ S: 'a' }, { S: 'b' }] }, l: { N: '5' } }],
    ['SET l[0] = :v REMOVE l[1]', { ':v': { S: 'z' } }, { l: { L: [{ S: 'z' }] } }],
    ['ADD n :v, c :v', { ':v': { N: '3' } }, { n: { N: '8' }, c: { N: '3' } }],
    ['ADD s :v', { ':v': { SS: ['b', 'c'] } }, { s: { SS: ['a', 'b', 'c'] } }],
    ['DELETE s :v', { ':v': { SS: ['b', 'c'] } }, { s: { SS: ['a'] } }],
    [
      'set n = :v remove l add c :v delete s :w',
      { ':v': { N: '1' }, ':w': { SS: ['a'] } },
      { n: { N: '1' }, c: { N: '1' }, s: { SS: ['b'] } },
    ],
  ])('%s', (UpdateExpression, given, changes) => {
    const item: Item = {
      Id: { N: '1' },
      n: { N: '5' },
      l: { L: [{ S: 'a' }, { S: 'b' }] },
      m: { M: { x: { M: {} } } },
      s: { SS: ['a', 'b'] },
    };
    const { l, ...others } = item;
    const kept = UpdateExpression.includes('remove l') ? others : { ...others, l };
    expect(updated(UpdateExpression, item, given)).toEqual({ ...kept, ...changes });
  });

  it('removes a set that becomes empty', () => {
    expect(updated('DELETE s :v', { s: { NS: ['1'] } }, { ':v': { NS: ['1', '2'] } })).toEqual({});
    const bytes = { ':v': { BS: [new Uint8Array([1])] } };
    expect(updated('DELETE s :v', { s: { BS: [new Uint8Array([1])] } }, bytes)).toEqual({});
    expect(updated('ADD s :v', { s: { BS: [new Uint8Array([1]), new Uint8Array([2])] } }, bytes)).toEqual({
      s: { BS: [new Uint8Array([1]), new Uint8Array([2])] },
    });
  });

  it('sets attributes named like members of objects', () => {
    const given = {
      UpdateExpression: 'SET #a = :v, #b.#a = :v',
      ExpressionAttributeNames: { '#a': '__proto__', '#b': 'constructor' },
      ExpressionAttributeValues: { ':v': { S: 'x' } },
    };
    const item = bound(given).update?.({ constructor: { M: {} } });
    expect(JSON.stringify(item)).toBe('{"constructor":{"M":{"__proto__":{"S":"x"}}},"__proto__":{"S":"x"}}');
    expect(() => bound(given).update?.({})).toThrow(path);
  });

  const absent = 'The provided expression refers to an attribute that does not exist in the item';
  const type = 'An operand in the update expression has an incorrect data type';
  const path = 'The document path provided in the update expression is invalid for update';
  it.each<[string, string]>([
    ['SET a = b', absent],
    ['SET a = s + :n', type],
    ['ADD s :n', type],
    ['DELETE n :set', type],
    ['SET b.c = :n', path],
    ['SET m[0] = :n', path],
    ['REMOVE b.c', path],
  ])('%s fails', (UpdateExpression, message) => {
    const item: Item = { n: { N: '1' }, s: { S: 'a' }, l: { L: [] }, m: { M: {} } };
    const given = { ':n': { N: '1' }, ':set': { NS: ['1'] } };
    const some = Object.entries(given).filter(([name]) => new RegExp(`${name}\\b`).test(UpdateExpression));
    expect(() => updated(UpdateExpression, item, Object.fromEntries(some))).toThrow(
      expect.objectContaining({ code: 'ValidationException', message }),
    );
  });

  it('nests values up to an item’s limit', () => {
    const nested = (levels: number): Value => (levels === 1 ? { S: 'x' } : { L: [nested(levels - 1)] });
    const item: Item = { m: { M: {} } };
    expect(updated('SET m.x = :v', item, { ':v': nested(31) })).toEqual({ m: { M: { x: nested(31) } } });
    expect(() => updated('SET m.x = :v', item, { ':v': nested(32) })).toThrow(
      'Nesting Levels have exceeded supported limits',
    );
  });

  it('knows the part of a row that it touches', () => {
    const given = {
      UpdateExpression: 'SET a.b = :n, l[1] = :n REMOVE c',
      ExpressionAttributeValues: { ':n': { N: '1' } },
    };
    const item: Item = {
      a: { M: { b: { S: 'x' }, d: { S: 'y' } } },
      l: { L: [{ S: 'a' }, { S: 'b' }] },
      c: { S: 'z' },
      e: { S: 'w' },
    };
    const { update, updated } = bound(given);
    expect(updated?.(item)).toEqual({ a: { M: { b: { S: 'x' } } }, l: { L: [{ S: 'b' }] }, c: { S: 'z' } });
    expect(updated?.(update?.(item) ?? {})).toEqual({ a: { M: { b: { N: '1' } } }, l: { L: [{ N: '1' }] } });
  });
});
