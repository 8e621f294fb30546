import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  addNumbers,
  canonicalNumber,
  compareNumbers,
  numberKey,
} from '../../../../local/dynamodb/numbers.ts';
import { sizeOfItem } from '../../../../local/dynamodb/sizes.ts';
import { areEqual, checkedItem, checkedValue, compareValues } from '../../../../local/dynamodb/values.ts';

function nested(levels: number): object {
  let value: object = { S: 'leaf' };
  for (let level = 1; level < levels; level += 1) value = { L: [value] };
  return value;
}

describe('an item', () => {
  it('is returned unchanged if it is canonical', () => {
    const item = {
      id: { S: '' },
      count: { N: '17' },
      bytes: { B: new Uint8Array(3) },
      sets: {
        M: { texts: { SS: ['', 'a'] }, numbers: { NS: ['1', '-2.5'] }, bytes: { BS: [new Uint8Array()] } },
      },
      list: { L: [{ NULL: true }, { BOOL: false }, { M: {} }, { L: [] }] },
    };
    expect(checkedItem(item)).toBe(item);
  });

  it('has canonical numbers at all levels, and does not change the given item', () => {
    const item = {
      a: { N: '1.0' },
      b: { L: [{ N: '1e2' }] },
      c: { M: { d: { NS: ['05', '6'] } } },
      e: { S: 'x' },
    };
    const before = structuredClone(item);
    expect(checkedItem(item)).toEqual({
      a: { N: '1' },
      b: { L: [{ N: '100' }] },
      c: { M: { d: { NS: ['5', '6'] } } },
      e: { S: 'x' },
    });
    expect(item).toEqual(before);
  });

  it('loses undefined members', () => {
    const item = checkedItem({ a: { S: 'x', N: undefined }, b: undefined, c: { M: { d: undefined } } });
    expect(JSON.stringify(item)).toBe('{"a":{"S":"x"},"c":{"M":{}}}');
  });

  it('may have attributes named like members of objects', () => {
    const item = checkedItem(JSON.parse('{"__proto__":{"N":"1.0"},"constructor":{"S":"x"}}'));
    expect(JSON.stringify(item)).toBe('{"__proto__":{"N":"1"},"constructor":{"S":"x"}}');
  });

  it('may have 32 levels', () => {
    expect(checkedItem({ a: nested(32) })).toEqual({ a: nested(32) });
    expect(() => checkedItem({ a: nested(33) })).toThrow('Nesting Levels have exceeded supported limits');
  });
});

describe('a value', () => {
  const invalid = 'One or more parameter values were invalid: ';
  const one = 'must contain exactly one of the supported datatypes';
  it.each([
    [{}, `Supplied AttributeValue is empty, ${one}`],
    [{ X: 'a' }, `Supplied AttributeValue is empty, ${one}`],
    [{ S: 'a', N: '1' }, `Supplied AttributeValue has more than one datatypes set, ${one}`],
    [{ SS: [] }, `${invalid}An string set  may not be empty`],
    [{ NS: [] }, `${invalid}An number set  may not be empty`],
    [{ BS: [] }, `${invalid}Binary sets should not be empty`],
    [{ SS: ['a', 'b', 'a'] }, `${invalid}Input collection [a, b, a] contains duplicates.`],
    [{ NS: ['1', '1.0'] }, 'Input collection contains duplicates'],
    [{ NULL: false }, `${invalid}Null attribute value types must have the value of true`],
    [{ N: '' }, 'The parameter cannot be converted to a numeric value'],
    [{ N: 'one' }, 'The parameter cannot be converted to a numeric value: one'],
    [{ L: [{ N: ' 5' }] }, 'The parameter cannot be converted to a numeric value:  5'],
  ])('%j is refused', (value, message) => {
    expect(() => checkedValue(value)).toThrow(
      expect.objectContaining({ code: 'ValidationException', message }),
    );
  });

  it.each([
    [{ S: 5 }],
    [{ N: 5 }],
    [{ B: 'eA==' }],
    [{ L: 'a' }],
    [{ M: [] }],
    [{ SS: [1] }],
    ['text'],
    [null],
  ])('%j cannot be read', (value) => {
    expect(() => checkedValue(value)).toThrow(expect.objectContaining({ code: 'SerializationException' }));
  });

  it('is equal to one with the same content in any order of sets and maps', () => {
    const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
    const value = (members: readonly string[]) => ({
      M: {
        a: { SS: members },
        b: { BS: members.map(bytes) },
        c: { L: [{ NS: members.map((one) => String(one.length)) }] },
      },
    });
    expect(areEqual(value(['x', 'yy']), value(['yy', 'x']))).toBe(true);
    expect(areEqual(value(['x', 'yy']), value(['x', 'zz']))).toBe(false);
    expect(areEqual({ S: '1' }, { N: '1' })).toBe(false);
    expect(areEqual({ L: [{ S: 'a' }] }, { L: [{ S: 'a' }, { S: 'b' }] })).toBe(false);
    expect(areEqual({ SS: ['1'] }, { NS: ['1'] })).toBe(false);
  });
});

describe('a number', () => {
  it.each([
    ['1.0', '1'],
    ['1e2', '100'],
    ['-0', '0'],
    ['0e5', '0'],
    ['+5', '5'],
    ['.5', '0.5'],
    ['00.10', '0.1'],
    ['-1.50', '-1.5'],
    ['12345678901234567890123456789012345678.0', '12345678901234567890123456789012345678'],
    ['1e125', `1${'0'.repeat(125)}`],
    ['1E-130', `0.${'0'.repeat(129)}1`],
  ])('%s is %s', (text, canonical) => {
    expect(canonicalNumber(text)).toBe(canonical);
    expect(canonicalNumber(canonical)).toBe(canonical);
  });

  const overflow = 'Number overflow. Attempting to store a number with magnitude larger than supported range';
  const underflow =
    'Number underflow. Attempting to store a number with magnitude smaller than supported range';
  const precision = 'Attempting to store more than 38 significant digits in a Number';
  it.each([
    ['1e126', overflow],
    ['-9.99e999999', overflow],
    ['1e-131', underflow],
    ['123456789012345678901234567890123456789', precision],
    ['1e', 'The parameter cannot be converted to a numeric value: 1e'],
    ['0x10', 'The parameter cannot be converted to a numeric value: 0x10'],
    ['NaN', 'The parameter cannot be converted to a numeric value: NaN'],
  ])('%s is refused', (text, message) => {
    expect(() => canonicalNumber(text)).toThrow(message);
  });

  it.each([
    ['0.1', '0.2', 1, '0.3'],
    ['1', '2', -1, '-1'],
    ['5', '5', -1, '0'],
    ['999999999999999', '999999999999999', 1, '1999999999999998'],
    ['99999999999999999999', '1', 1, '100000000000000000000'],
  ] as const)('%s and %s, sign %d, make %s', (a, b, sign, sum) => {
    expect(addNumbers(a, b, sign)).toBe(sum);
  });

  it('is refused as a sum that DynamoDB cannot store', () => {
    expect(() => addNumbers(canonicalNumber('9.9e125'), canonicalNumber('9.9e125'), 1)).toThrow(overflow);
    expect(() => addNumbers(canonicalNumber('1e40'), '1', 1)).toThrow(precision);
  });

  const number = fc
    .tuple(fc.bigInt({ min: -(10n ** 20n), max: 10n ** 20n }), fc.integer({ min: -60, max: 60 }))
    .map(([digits, exponent]) => canonicalNumber(`${digits}e${exponent}`));
  it('has the order of its key', () => {
    fc.assert(
      fc.property(fc.oneof(number, fc.integer().map(String)), number, (a, b) => {
        const order = Math.sign(compareNumbers(a, b));
        expect(Math.sign(Buffer.compare(numberKey(a), numberKey(b)))).toBe(order);
        expect(order).toBe(a === b ? 0 : Math.sign(Number(a) - Number(b)) || order);
        expect(Math.sign(compareNumbers(b, a))).toBe(order === 0 ? 0 : -order);
      }),
    );
  });

  it('has a key that is no prefix of another', () => {
    fc.assert(
      fc.property(number, number, (a, b) => {
        fc.pre(a !== b);
        const [one, other] = [numberKey(a), numberKey(b)];
        expect(Buffer.compare(one, other.subarray(0, one.length))).not.toBe(0);
      }),
    );
  });
});

describe('keys', () => {
  it('have the order of their UTF-8 bytes', () => {
    const text = fc.string({
      unit: fc.oneof(
        fc.constantFrom('a', 'é', '\uffff', '\ue000', '😀', '𝕏'),
        fc.string({ unit: 'grapheme', maxLength: 1 }),
      ),
      maxLength: 6,
    });
    fc.assert(
      fc.property(text, text, (a, b) => {
        expect(Math.sign(compareValues({ S: a }, { S: b }) ?? NaN)).toBe(
          Buffer.compare(Buffer.from(a), Buffer.from(b)),
        );
      }),
    );
  });

  it('of different types, and values that are not keys, have no order', () => {
    expect(compareValues({ S: '1' }, { N: '1' })).toBeUndefined();
    expect(compareValues({ BOOL: true }, { BOOL: true })).toBeUndefined();
    expect(compareValues({ B: new Uint8Array([200]) }, { B: new Uint8Array([3]) })).toBe(1);
  });
});

it('sizes are those of "DynamoDB item sizes and formats"', () => {
  expect(sizeOfItem({ id: { S: 'abc' } })).toBe(5);
  expect(sizeOfItem({ é: { S: 'é' } })).toBe(4);
  expect(sizeOfItem({ n: { N: '0' } })).toBe(2);
  expect(sizeOfItem({ n: { N: '1.5' } })).toBe(4);
  expect(sizeOfItem({ n: { N: '12' } })).toBe(3);
  expect(sizeOfItem({ n: { N: '1700000000000' } })).toBe(4);
  expect(sizeOfItem({ n: { N: '12300' } })).toBe(4);
  expect(sizeOfItem({ n: { N: '-123' } })).toBe(5);
  expect(sizeOfItem({ n: { N: '0.0012' } })).toBe(3);
  expect(sizeOfItem({ b: { B: new Uint8Array(7) }, o: { BOOL: true }, z: { NULL: true } })).toBe(12);
  expect(sizeOfItem({ l: { L: [{ S: 'ab' }, { BOOL: true }] } })).toBe(1 + 3 + 2 + 2 + 1);
  expect(sizeOfItem({ m: { M: { k: { S: 'ab' } } } })).toBe(1 + 3 + 1 + 1 + 2);
  expect(sizeOfItem({ s: { SS: ['a', 'bc'] }, n: { NS: ['1', '22'] }, b: { BS: [new Uint8Array(2)] } })).toBe(
    12,
  );
});
