import { isUtf8 } from 'node:buffer';
import type { Header } from '../../shared/headers.ts';
import { headersByName } from './headersByName.ts';

export interface BusEvent {
  readonly source: string;
  readonly detailType: string;
  /** A JSON object. */
  readonly detail: string;
}

/** These headers choose the source and the type of the event. The detail has them, too. */
const sourceHeader = 'source';
const detailTypeHeader = 'detail-type';

/**
 * The field `body` of the detail. A JSON object or list is copied byte for byte, so that no number loses
 * digits. Other text becomes a string, and bytes that are not UTF-8 become base64.
 */
function bodyMembers(body: Uint8Array): readonly string[] {
  if (body.length === 0) return [];
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.length);
  if (!isUtf8(bytes)) return [`"body":"${bytes.toString('base64')}"`, '"isBase64Encoded":true'];
  const text = bytes.toString('utf8');
  return [`"body":${isStructure(text) ? text : JSON.stringify(text)}`];
}

function isStructure(text: string): boolean {
  if (!/^[\s]*[{[]/.test(text)) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

export function busEvent(headers: readonly Header[], body: Uint8Array): BusEvent {
  const values = headersByName(headers);
  const members = [`"headers":${JSON.stringify(Object.fromEntries(values))}`, ...bodyMembers(body)];
  return {
    source: values.get(sourceHeader) ?? 'svc-queue',
    detailType: values.get(detailTypeHeader) ?? 'message',
    detail: `{${members.join()}}`,
  };
}

/** The bytes of an event ("Calculating PutEvents event entry size", EventBridge User Guide). */
export const sizeOfEvent = ({ source, detailType, detail }: BusEvent): number =>
  Buffer.byteLength(source + detailType + detail);
