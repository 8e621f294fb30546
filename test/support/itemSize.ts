import type { AttributeValue } from '@aws-sdk/client-dynamodb';

/** DynamoDB's largest item, in bytes. */
export const largestItem = 400 * 1_024;

const utf8 = (text: string): number => Buffer.byteLength(text);

function valueBytes(value: AttributeValue): number {
  if (value.S !== undefined) return utf8(value.S);
  // DynamoDB counts a byte for two digits, and one more, so this is an upper limit.
  if (value.N !== undefined) return value.N.length + 1;
  if (value.B !== undefined) return value.B.length;
  if (value.L !== undefined) return value.L.reduce((sum, one) => sum + 1 + valueBytes(one), 3);
  if (value.M !== undefined) return 3 + Object.keys(value.M).length + itemBytes(value.M);
  return 1;
}

/** The most bytes that DynamoDB can count for an item ("Item sizes and formats"). */
export const itemBytes = (item: Readonly<Record<string, AttributeValue>>): number =>
  Object.entries(item).reduce((sum, [name, value]) => sum + utf8(name) + valueBytes(value), 0);
