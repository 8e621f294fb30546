/** Rows as bytes: JSON in UTF-8. The first byte says whether the JSON contains binary values as base64. */
import type { Item, Value } from './values.ts';

const plain = 0;
const hasBase64 = 1;

export function encode(item: Item): Buffer {
  const isPlain = !Object.values(item).some(hasBytes);
  const text = JSON.stringify(isPlain ? item : itemToText(item));
  const bytes = Buffer.allocUnsafe(1 + Buffer.byteLength(text));
  bytes[0] = isPlain ? plain : hasBase64;
  bytes.write(text, 1);
  return bytes;
}

/** @throws SyntaxError if the bytes are not a row */
export function decode(bytes: Buffer): Item {
  const item: unknown = JSON.parse(bytes.toString('utf8', 1));
  if (bytes[0] !== plain && isMap(item)) for (const value of Object.values(item)) restoreBytes(value);
  return item as Item;
}

function hasBytes(value: Value): boolean {
  if ('S' in value || 'N' in value) return false;
  if ('B' in value || 'BS' in value) return true;
  if ('M' in value) return Object.values(value.M).some(hasBytes);
  return 'L' in value && value.L.some(hasBytes);
}

/** Replaces binary values with base64. Values without them are not copied. */
function itemToText(item: Item): object {
  const copy: Record<string, unknown> = { ...item };
  for (const [name, value] of Object.entries(item)) {
    // The copy already has this name, so `__proto__` is an ordinary property here.
    if (hasBytes(value)) Object.defineProperty(copy, name, { value: bytesToText(value), enumerable: true });
  }
  return copy;
}

/** Replaces base64 with bytes, in place. Nothing else refers to the value yet. */
function restoreBytes(value: unknown): void {
  if (!isMap(value)) return;
  const { B, BS, M, L } = value;
  if (typeof B === 'string') Reflect.set(value, 'B', fromBase64(B));
  else if (Array.isArray(BS)) Reflect.set(value, 'BS', BS.map(String).map(fromBase64));
  else if (Array.isArray(L)) L.forEach(restoreBytes);
  else if (isMap(M)) Object.values(M).forEach(restoreBytes);
}

/** Replaces binary values with base64. */
export function bytesToText(value: unknown): unknown {
  if (value instanceof Uint8Array) {
    return Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('base64');
  }
  if (Array.isArray(value)) return value.map(bytesToText);
  return isMap(value) ? membersToText(value) : value;
}

export const membersToText = (map: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> =>
  mapped(map, (_name, one) => bytesToText(one));

/**
 * Replaces base64 with bytes under the names of binary types. Other values under these names are not strings.
 */
export function textToBytes(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(textToBytes);
  if (!isMap(value)) return value;
  return mapped(value, (name, one) => {
    if (name === 'B' && typeof one === 'string') return fromBase64(one);
    if (name === 'BS' && Array.isArray(one)) {
      return one.map((text: unknown) => (typeof text === 'string' ? fromBase64(text) : text));
    }
    return textToBytes(one);
  });
}

const fromBase64 = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, 'base64'));

const isMap = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;

function mapped(
  map: Readonly<Record<string, unknown>>,
  change: (name: string, value: unknown) => unknown,
): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(map).map(([name, value]) => [name, change(name, value)]));
}
