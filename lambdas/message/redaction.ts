import type { Header } from '../shared/headers.ts';
import { createHash } from 'node:crypto';
import type { Redaction } from '../options/redaction.ts';

export const noRedaction: Redaction = { body: false, headers: [] };

/** Shows a redacted value as its hash: the value cannot be got back from it, but equal values look equal. */
export const redacted = (value: Uint8Array | string): string =>
  `REDACTED:${createHash('sha256').update(value).digest('hex')}`;

/** Replaces the values of redacted headers by their hashes. */
export function redactHeaders(headers: readonly Header[], redaction: Redaction): readonly Header[] {
  const { headers: names } = redaction;
  return headers.map(([name, value]): Header => {
    const hidden = names === 'all' || names.includes(name);
    return [name, hidden ? redacted(value) : value];
  });
}
