/**
 * The rules by which AWS turns requests into billed units, from its documents: "DynamoDB item sizes and formats", "DynamoDB read and write
 * operations", and the SQS pricing page.
 */
import type { AttributeValue } from '@aws-sdk/client-dynamodb';

export type Item = Readonly<Record<string, AttributeValue>>;

const kilobyte = 1024;

const textBytes = (text: string): number => Buffer.byteLength(text, 'utf8');

/** A byte for two significant digits, and one more; a sign takes another. */
function numberBytes(text: string): number {
  const digits = text
    .replace(/^[+-]/, '')
    .replace(/e.*$/i, '')
    .replace('.', '')
    .replace(/^0+|0+$/g, '');
  return Math.ceil(digits.length / 2) + 1 + (text.startsWith('-') ? 1 : 0);
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

/** An item's size as DynamoDB bills it, in bytes. */
export const itemBytes = (item: Item): number =>
  Object.entries(item).reduce((sum, [name, value]) => sum + textBytes(name) + valueBytes(value), 0);

/** Write request units of one item, in a table or in an index: one for each kilobyte that is begun. */
export const writeUnits = (item: Item): number => Math.max(1, Math.ceil(itemBytes(item) / kilobyte));

/**
 * Read request units of what one request reads: one for each four kilobytes of it all together that are begun, half of that
 * where the read need not be consistent. A request that finds nothing pays for the least there is.
 */
export function readUnits(items: readonly Item[], consistent: boolean): number {
  const size = items.reduce((sum, item) => sum + itemBytes(item), 0);
  return Math.max(1, Math.ceil(size / (4 * kilobyte))) * (consistent ? 1 : 0.5);
}

/** SQS requests that one call counts as: one for each 64 KB that is begun. */
export const sqsRequests = (payloadBytes: number): number =>
  Math.max(1, Math.ceil(payloadBytes / (64 * kilobyte)));
