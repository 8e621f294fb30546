/**
 * AWS's rules for billed units, from "DynamoDB item sizes and formats", "DynamoDB read and write operations", and the SQS
 * pricing page.
 */
import type { AttributeValue } from '@aws-sdk/client-dynamodb';

export type Item = Readonly<Record<string, AttributeValue>>;

const kilobyte = 1024;

const textBytes = (text: string): number => Buffer.byteLength(text, 'utf8');

/**
 * The size of a number: a byte for each pair of digits from the first to the last that is not zero, pairs
 * beginning at the point; one more; and another for a sign.
 */
function numberBytes(text: string): number {
  const [whole = '', fraction = ''] = text.replace(/^[+-]/, '').split('.');
  const pairs = `${'0'.repeat(whole.length % 2)}${whole}${fraction}${'0'.repeat(fraction.length % 2)}`;
  const bytes = pairs.replaceAll(/^(00)+|(00)+$/g, '').length / 2;
  return bytes + 1 + (text.startsWith('-') ? 1 : 0);
}

function valueBytes(value: AttributeValue): number {
  if (value.S !== undefined) return textBytes(value.S);
  if (value.N !== undefined) return numberBytes(value.N);
  if (value.B !== undefined) return value.B.byteLength;
  if (value.BOOL !== undefined || value.NULL !== undefined) return 1;
  // Three bytes for a list or map, and one for each element.
  if (value.L !== undefined) return value.L.reduce((sum, element) => sum + 1 + valueBytes(element), 3);
  if (value.M !== undefined) return 3 + Object.keys(value.M).length + itemBytes(value.M);
  throw new Error(`No message has an attribute like ${JSON.stringify(value)}.`);
}

/** An item's billed size in DynamoDB, in bytes. */
export const itemBytes = (item: Item): number =>
  Object.entries(item).reduce((sum, [name, value]) => sum + textBytes(name) + valueBytes(value), 0);

/** Write request units of an item, in a table or index: one per kilobyte, rounded up. */
export const writeUnits = (item: Item): number => Math.max(1, Math.ceil(itemBytes(item) / kilobyte));

/**
 * Read request units of a request: one per four kilobytes in total, rounded up, and half of that for eventually consistent
 * reads. An empty result costs the minimum.
 */
export function readUnits(items: readonly Item[], consistent: boolean): number {
  const size = items.reduce((sum, item) => sum + itemBytes(item), 0);
  return Math.max(1, Math.ceil(size / (4 * kilobyte))) * (consistent ? 1 : 0.5);
}

/** SQS requests per call: one per 64 KB, rounded up. */
export const sqsRequests = (payloadBytes: number): number =>
  Math.max(1, Math.ceil(payloadBytes / (64 * kilobyte)));
