/**
 * DynamoDB's numbers: decimals with up to 38 significant digits. They are written in a canonical form,
 * without exponent and needless zeros, so that equal numbers are equal texts.
 */
import { Big } from 'big.js';
import { refused } from '../aws/awsError.ts';

const maxDigits = 38;
/** The largest and the smallest number: 9.99…E+125 and 1E-130. */
const maxExponent = 125;
const minExponent = -130;

/** Decimals with at most this many characters are exact as doubles. So are sums of two such integers. */
const exactLength = 15;

/** @throws AwsError if the text is not a number that DynamoDB can store */
export function canonicalNumber(text: string): string {
  return isPlainInteger(text) ? text : canonical(parsed(text));
}

/** Whether a text is a short integer in canonical form, as most numbers are. */
function isPlainInteger(text: string): boolean {
  const { length } = text;
  if (length === 0 || length > exactLength) return false;
  const start = text.charCodeAt(0) === minus ? 1 : 0;
  const first = text.charCodeAt(start);
  if (first === zero) return length === 1;
  for (let at = start; at < length; at += 1) {
    const code = text.charCodeAt(at);
    if (code < zero || code > nine) return false;
  }
  return length > start;
}

const minus = '-'.charCodeAt(0);
const zero = '0'.charCodeAt(0);
const nine = '9'.charCodeAt(0);

function parsed(text: string): Big {
  if (text === '') throw refused('The parameter cannot be converted to a numeric value');
  try {
    return new Big(text.startsWith('+') && !text.startsWith('+-') ? text.slice(1) : text);
  } catch {
    throw refused(`The parameter cannot be converted to a numeric value: ${text}`);
  }
}

function canonical(number: Big): string {
  const { c: digits, e: exponent } = number;
  if (digits[0] === 0) return '0';
  if (exponent > maxExponent) {
    throw refused('Number overflow. Attempting to store a number with magnitude larger than supported range');
  }
  if (exponent < minExponent) {
    throw refused(
      'Number underflow. Attempting to store a number with magnitude smaller than supported range',
    );
  }
  if (digits.length > maxDigits) {
    throw refused('Attempting to store more than 38 significant digits in a Number');
  }
  return number.toFixed();
}

/**
 * Adds or subtracts canonical numbers.
 *
 * @throws AwsError if DynamoDB cannot store the result
 */
export function addNumbers(a: string, b: string, sign: 1 | -1): string {
  if (isPlainInteger(a) && isPlainInteger(b)) return String(Number(a) + sign * Number(b));
  return canonical(sign === 1 ? new Big(a).plus(b) : new Big(a).minus(b));
}

/** Compares canonical numbers: negative if the first is smaller, 0 if they are equal. */
export function compareNumbers(a: string, b: string): number {
  if (a === b) return 0;
  return a.length <= exactLength && b.length <= exactLength ? Number(a) - Number(b) : new Big(a).cmp(b);
}

/**
 * Encodes a canonical number as bytes that sort like numbers. No encoded number is the beginning of another.
 * It has the sign, the exponent, two digits per byte, and an end. For negative numbers, all bytes after the
 * sign are inverted.
 */
export function numberKey(text: string): Uint8Array {
  const { c: digits, e: exponent, s: sign } = new Big(text);
  if (digits[0] === 0) return Uint8Array.of(signs.zero);
  const bytes = new Uint8Array(3 + Math.ceil(digits.length / 2));
  bytes[1] = exponent - minExponent;
  for (let at = 0; at < digits.length; at += 2) {
    bytes[2 + at / 2] = 1 + 10 * (digits[at] ?? 0) + (digits[at + 1] ?? 0);
  }
  bytes[0] = signs.positive;
  if (sign === 1) return bytes;
  const inverted = bytes.map((byte) => 0xff - byte);
  inverted[0] = signs.negative;
  return inverted;
}

const signs = { negative: 1, zero: 2, positive: 3 } as const;
