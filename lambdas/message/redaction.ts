import type { Header } from '../shared/headers.ts';
import { createHash } from 'node:crypto';
import type { Redaction } from '../options/redaction.ts';

export const noRedaction: Redaction = { body: false, headers: [] };

/** Replaces a value with its hash. It cannot be recovered, but equal values have equal hashes. */
export const redacted = (value: Uint8Array | string): string =>
  `REDACTED:${createHash('sha256').update(value).digest('hex')}`;

export function redactHeaders(headers: readonly Header[], redaction: Redaction): readonly Header[] {
  const { headers: names } = redaction;
  return headers.map(([name, value]): Header => {
    const hidden = names === 'all' || names.includes(name);
    return [name, hidden ? redacted(Buffer.from(value, 'latin1')) : value];
  });
}
