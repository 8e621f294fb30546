import { describe, expect, it } from 'vitest';
import { bind, type Given } from '../../../../../local/dynamodb/expressions/bind.ts';

const keys = { partitionKey: 'pk', sortKey: 'sk', partitionType: 'S', sortType: 'S' } as const;

/** Binds expressions on a table with the keys `pk` and `sk`, and returns the refusal’s text. */
function refusalOf(given: Given): string {
  try {
    bind(given, keys, ['pk', 'sk']);
  } catch (error) {
    expect(error).toMatchObject({ code: 'ValidationException', status: 400 });
    return error instanceof Error ? error.message : '';
  }
  return 'accepted';
}

function withValues(text: string): Pick<Given, 'ExpressionAttributeValues'> {
  const all = {
    ':n': { N: '1' },
    ':s': { S: 'a' },
    ':t': { S: 'b' },
    ':l': { L: [] },
    ':set': { SS: ['a'] },
    ':e': { S: '' },
  };
  const mentioned = Object.entries(all).filter(([name]) => new RegExp(`${name}\\b`).test(text));
  return mentioned.length === 0 ? {} : { ExpressionAttributeValues: Object.fromEntries(mentioned) };
}

describe('a condition', () => {
  const syntax = (token: string, near: string): string => `Syntax error; token: "${token}", near: "${near}"`;
  const operand = (name: string, type: string): string =>
    `Incorrect operand type for operator or function; operator or function: ${name}, operand type: ${type}`;
  it.each([
    ['a', syntax('<EOF>', 'a')],
    ['a - b', syntax('-', 'a - b')],
    ['(a = :n', syntax('<EOF>', ':n')],
    ['a AND b', syntax('AND', 'a AND b')],
    ['', 'The expression can not be empty;'],
    ['((a = :n))', 'The expression has redundant parentheses;'],
    ['name = :s', 'Attribute name is a reserved keyword; reserved keyword: name'],
    ['a[2147483648] = :s', 'List index is not within the allowable range; index: [2147483648]'],
    ['foo(a)', 'Invalid function name; function: foo'],
    ['toString(a)', 'Invalid function name; function: toString'],
    ['size(a)', 'The function is not allowed to be used this way in an expression; function: size'],
    [
      'if_not_exists(a, :s)',
      'The function is not allowed in a condition expression; function: if_not_exists',
    ],
    [
      'attribute_exists(a, b)',
      'Incorrect number of operands for operator or function; operator or function: attribute_exists, number of operands: 2',
    ],
    [
      'attribute_exists(:s)',
      'Operator or function requires a document path; operator or function: attribute_exists',
    ],
    ['a < :l', operand('<', 'L')],
    ['begins_with(a, :n)', operand('begins_with', 'N')],
    ['attribute_type(a, b)', operand('attribute_type', '{NS,SS,L,BS,N,M,B,BOOL,NULL,S}')],
    [
      'attribute_type(a, :s)',
      'Invalid attribute type name found; type: a, valid types: {B,NULL,SS,BOOL,L,BS,N,NS,S,M}',
    ],
    [
      'a = a',
      'The first operand must be distinct from the remaining operands for this operator or function; operator: =, first operand: [a]',
    ],
    [
      'a BETWEEN :n AND :s',
      'The BETWEEN operator requires same data type for lower and upper bounds; lower bound operand: AttributeValue: {N:1}, upper bound operand: AttributeValue: {S:a}',
    ],
    [
      'a BETWEEN :t AND :s',
      'The BETWEEN operator requires upper bound to be greater than or equal to lower bound; lower bound operand: AttributeValue: {S:b}, upper bound operand: AttributeValue: {S:a}',
    ],
    ['a = :x', 'An expression attribute value used in expression is not defined; attribute value: :x'],
    ['#x = :n', 'An expression attribute name used in the document path is not defined; attribute name: #x'],
    [
      `a IN (${Array.from({ length: 101 }, () => ':n').join(', ')})`,
      'The IN operator is provided with too many operands; number of operands: 101',
    ],
    [
      `a = :n${' '.repeat(4096)}`,
      'Expression size has exceeded the maximum allowed size; expression size: 4102',
    ],
  ])('%s', (ConditionExpression, words) => {
    const given = { ConditionExpression, ...withValues(ConditionExpression) };
    expect(refusalOf(given)).toBe(`Invalid ConditionExpression: ${words}`);
  });

  it('with more than 300 operators', () => {
    const ConditionExpression = Array.from({ length: 151 }, () => 'a=:n').join(' OR ');
    expect(refusalOf({ ConditionExpression, ...withValues(':n') })).toBe(
      'Invalid ConditionExpression: The expression contains too many operators; operator count: 301',
    );
  });

  it('that looks into a key', () => {
    expect(refusalOf({ ConditionExpression: 'pk.a = :s', ...withValues(':s') })).toBe(
      "Key attributes must be scalars; list random access '[]' and map lookup '.' are not allowed: Key: pk",
    );
  });

  it('is accepted with 100 alternatives, single parentheses, and keywords in lower case', () => {
    for (const ConditionExpression of [
      `a IN (${Array.from({ length: 100 }, () => ':n').join(', ')})`,
      '((a) = (:n)) and not (attribute_exists(b) or c between :n and d)',
    ]) {
      expect(refusalOf({ ConditionExpression, ...withValues(':n') })).toBe('accepted');
    }
  });
});

describe('an update', () => {
  const overlap = (one: string, two: string): string =>
    `Two document paths overlap with each other; must remove or rewrite one of these paths; path one: [${one}], path two: [${two}]`;
  it.each([
    ['SET', 'Syntax error; token: "<EOF>", near: "SET"'],
    ['FOO a', 'Syntax error; token: "FOO", near: "FOO a"'],
    ['ADD a = :n', 'Syntax error; token: "=", near: "a = :n"'],
    ['SET a = b + :n + :n', 'Syntax error; token: "+", near: ":n + :n"'],
    ['SET a = :n SET b = :n', 'The "SET" section can only be used once in an update expression;'],
    [
      'SET a = list_append(list_append(b, :l), :l)',
      'The function is not allowed to be used this way in an expression; function: list_append',
    ],
    [
      'SET a = if_not_exists(:n, :n)',
      'Operator or function requires a document path; operator or function: if_not_exists',
    ],
    [
      'SET a = b + :s',
      'Incorrect operand type for operator or function; operator or function: +, operand type: S',
    ],
    [
      'ADD a :s',
      'Incorrect operand type for operator or function; operator: ADD, operand type: STRING, typeSet: ALLOWED_FOR_ADD_OPERAND',
    ],
    [
      'DELETE a :n',
      'Incorrect operand type for operator or function; operator: DELETE, operand type: NUMBER, typeSet: ALLOWED_FOR_DELETE_OPERAND',
    ],
    ['SET a.b[1] = :n REMOVE a', overlap('a, b, [1]', 'a')],
    [
      'SET a.b = :n, a[0] = :n',
      'Two document paths conflict with each other; must remove or rewrite one of these paths; path one: [a, b], path two: [a, [0]]',
    ],
  ])('%s', (UpdateExpression, words) => {
    expect(refusalOf({ UpdateExpression, ...withValues(UpdateExpression) })).toBe(
      `Invalid UpdateExpression: ${words}`,
    );
  });

  it.each(['SET pk = :n', 'REMOVE sk', 'SET a = :n, pk.x = :n'])('%s touches a key', (UpdateExpression) => {
    expect(refusalOf({ UpdateExpression, ...withValues(UpdateExpression) })).toMatch(
      /^One or more parameter values were invalid: Cannot update attribute (pk|sk)\. This attribute is part of the key$/,
    );
  });

  it('finds overlaps and keys behind the names of placeholders in each call', () => {
    const UpdateExpression = 'SET #a = :n, b = :n';
    const named = (name: string): string =>
      refusalOf({ UpdateExpression, ExpressionAttributeNames: { '#a': name }, ...withValues(':n') });
    expect(['a', 'b', 'pk', 'a'].map(named)).toEqual([
      'accepted',
      `Invalid UpdateExpression: ${overlap('b', 'b')}`,
      'One or more parameter values were invalid: Cannot update attribute pk. This attribute is part of the key',
      'accepted',
    ]);
  });
});

describe('a projection', () => {
  it.each([
    ['a, , b', 'Syntax error; token: ",", near: ", , b"'],
    ['a b', 'Syntax error; token: "b", near: "a b"'],
    ['name', 'Attribute name is a reserved keyword; reserved keyword: name'],
    [
      'a, a.b',
      'Two document paths overlap with each other; must remove or rewrite one of these paths; path one: [a], path two: [a, b]',
    ],
    ['', 'The expression can not be empty;'],
  ])('%s', (ProjectionExpression, words) => {
    expect(refusalOf({ ProjectionExpression })).toBe(`Invalid ProjectionExpression: ${words}`);
  });
});

describe('a condition on keys', () => {
  it.each([
    ['sk = :s', 'Query condition missed key schema element: pk'],
    ['pk < :s', 'Query key condition not supported'],
    ['pk = :s AND sk = :s AND a = :s', 'Conditions can be of length 1 or 2 only'],
    ['pk = :s AND pk = :t', 'KeyConditionExpressions must only contain one condition per key'],
    ['pk = :s OR sk = :s', 'Invalid operator used in KeyConditionExpression: OR'],
    ['pk <> :s', 'Invalid operator used in KeyConditionExpression: <>'],
    ['pk = :s AND size(sk) = :n', 'KeyConditionExpressions cannot contain nested operations'],
    [':s = :t', 'Invalid condition in KeyConditionExpression: No key attribute specified'],
    [
      'pk = :n',
      'One or more parameter values were invalid: Condition parameter type does not match schema type',
    ],
    [
      'pk = :e',
      'One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty string value. Key: pk',
    ],
  ])('%s', (KeyConditionExpression, words) => {
    expect(refusalOf({ KeyConditionExpression, ...withValues(KeyConditionExpression) })).toBe(words);
  });

  it('allows no filter by a key', () => {
    const given = {
      KeyConditionExpression: 'pk = :s',
      FilterExpression: 'a = :s AND sk = :s',
      ...withValues(':s'),
    };
    expect(refusalOf(given)).toBe(
      'Filter Expression can only contain non-primary key attributes: Primary key attribute: sk',
    );
    expect(refusalOf({ FilterExpression: 'sk = :s', ...withValues(':s') })).toBe('accepted');
  });

  it('of an index without a sort key has one part', () => {
    const KeyConditionExpression = 'pk = :s AND a = :s';
    expect(() =>
      bind({ KeyConditionExpression, ...withValues(':s') }, { partitionKey: 'pk' }, ['pk', 'sk']),
    ).toThrow('Query key condition not supported');
  });
});

it('expressions as deep as their size allows are refused, too', () => {
  for (const open of ['(', 'NOT ', 'f(', 'size(', 'f((']) {
    const text = open.repeat(4_000 / open.length);
    expect(refusalOf({ ConditionExpression: text })).toMatch(/^Invalid ConditionExpression: /);
    expect(refusalOf({ UpdateExpression: `SET a = ${text}` })).toMatch(/^Invalid UpdateExpression: /);
  }
  expect(refusalOf({ ProjectionExpression: `a${'.b'.repeat(32)}` })).toBe(
    'Invalid ProjectionExpression: The document path has too many nesting levels; nesting levels: 33',
  );
});

describe('placeholders', () => {
  const ConditionExpression = 'attribute_exists(a)';
  it.each([
    [
      { ConditionExpression, ExpressionAttributeValues: { ':b': { S: 'b' }, ':c': { S: 'c' } } },
      'Value provided in ExpressionAttributeValues unused in expressions: keys: {:b, :c}',
    ],
    [
      { ConditionExpression, ExpressionAttributeNames: { b: 'b' } },
      'ExpressionAttributeNames contains invalid key: Syntax error; key: "b"',
    ],
    [{ ConditionExpression, ExpressionAttributeNames: {} }, 'ExpressionAttributeNames must not be empty'],
    [
      { ExpressionAttributeNames: { '#b': 'b' } },
      'ExpressionAttributeNames can only be specified when using expressions',
    ],
    [
      { ConditionExpression: 'a = :b', ExpressionAttributeValues: { ':b': { N: 'x' } } },
      'ExpressionAttributeValues contains invalid value: The parameter cannot be converted to a numeric value: x for key :b',
    ],
    [
      { ConditionExpression: '#b = a', ExpressionAttributeNames: { '#b': '' } },
      'ExpressionAttributeNames contains invalid value: Empty attribute name for key #b',
    ],
  ])('%j', (given, words) => {
    expect(refusalOf(given)).toBe(words);
  });
});
