/** Sizes of items in bytes, from "DynamoDB item sizes and formats". */
import { attributeOf, type Item, type Value } from './values.ts';

/** The additional bytes of a list or map, and of each of its elements. */
const ofCollection = 3;
const ofElement = 1;

export function sizeOfItem(item: Item): number {
  let size = 0;
  for (const name of Object.keys(item)) {
    const value = attributeOf(item, name);
    if (value !== undefined) size += Buffer.byteLength(name) + sizeOfValue(value);
  }
  return size;
}

function sizeOfValue(value: Value): number {
  if ('S' in value) return Buffer.byteLength(value.S);
  if ('N' in value) return sizeOfNumber(value.N);
  if ('B' in value) return value.B.length;
  if ('M' in value) return ofCollection + sizeOfItem(value.M) + ofElement * Object.keys(value.M).length;
  if ('L' in value) return ofCollection + sum(value.L, (element) => ofElement + sizeOfValue(element));
  if ('SS' in value) return sum(value.SS, (member) => Buffer.byteLength(member));
  if ('NS' in value) return sum(value.NS, sizeOfNumber);
  if ('BS' in value) return sum(value.BS, ({ length }) => length);
  return 1;
}

/**
 * The size of a number: a byte for each pair of digits (pairs begin at even powers of ten), one more, and
 * another for a negative sign. Zero takes one byte.
 */
function sizeOfNumber(number: string): number {
  const isNegative = number.charCodeAt(0) === minus;
  const point = number.indexOf('.');
  const whole = point === -1 ? number.length : point;
  let first: number | undefined;
  let last = 0;
  for (let at = isNegative ? 1 : 0; at < number.length; at += 1) {
    const code = number.charCodeAt(at);
    if (code === zero || at === point) continue;
    const power = at < whole ? whole - 1 - at : whole - at;
    last = Math.floor(power / 2);
    first ??= last;
  }
  return first === undefined ? 1 : first - last + 2 + (isNegative ? 1 : 0);
}

const minus = '-'.charCodeAt(0);
const zero = '0'.charCodeAt(0);

const sum = <Member>(members: readonly Member[], sizeOf: (member: Member) => number): number =>
  members.reduce((total, member) => total + sizeOf(member), 0);
