import type { Header } from '../shared/headers.ts';
import { createHash } from 'node:crypto';
import { badField, quote } from '../error/httpError.ts';

/** The parts of a message that are shown as their hash only. Deliveries have the original. */
export interface Redaction {
  readonly body: boolean;
  /** Every header, or those of these names in lower case. */
  readonly headers: 'all' | readonly string[];
}

export const noRedaction: Redaction = { body: false, headers: [] };

/**
 * Reads a list such as `body,header[authorization]`.
 *
 * @throws HttpError 400
 */
export function parseRedaction(field: string, value: string): Redaction {
  let body = false;
  let all = false;
  const names: string[] = [];
  for (const item of value.split(',').map((part) => part.trim())) {
    const name = /^headers?\[([^\]]+)\]$/i.exec(item)?.[1];
    if (/^body$/i.test(item)) body = true;
    else if (/^headers?$/i.test(item)) all = true;
    else if (name !== undefined) names.push(name.trim().toLowerCase());
    else {
      throw badField(
        `${field} is ${quote(value)}; allowed are body, headers and header[<name>], separated by commas.`,
      );
    }
  }
  return { body, headers: all ? 'all' : names };
}

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
