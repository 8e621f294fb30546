/** The parts of a message that are shown only as hashes. `message/redaction.ts` makes the hashes. */
import * as z from 'zod/mini';
import { badField, quote } from '../error/httpError.ts';
import { made, type FormFields, type Given, type Settings, type Shape } from './option.ts';

export interface Redaction {
  readonly body: boolean;
  /** All headers, or those with these names (in lower case). */
  readonly headers: 'all' | readonly string[];
}

export const settings = {
  'redact-fields': {
    description:
      'The parts that answers and logs show only as a hash: `body`, `headers`, `header[<name>]`, separated by commas. Deliveries have the original.',
    schema: { type: 'string', minLength: 1 },
    example: 'body,header[authorization]',
    scopes: ['message', 'callback', 'retry', 'trigger'],
  },
} as const satisfies Settings;

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

export const parse = (given: Given): Redaction | undefined => given.read('redact-fields', parseRedaction);

export const stored = /* @__PURE__ */ made(() =>
  z.optional(
    z.object({
      body: z.boolean(),
      headers: z.union([z.literal('all'), z.array(z.string())]),
    } satisfies Shape<Redaction>),
  ),
);

/** Whether a body or a header's value is a hash. */
export const isRedacted = (text: string): boolean => text.startsWith('REDACTED:');

/** Writes the setting. Answers do not have it, so it is derived from their hashes. */
export function write({
  header,
  body = '',
}: {
  readonly header: Readonly<Record<string, readonly string[]>>;
  readonly body?: string | undefined;
}) {
  const names = Object.entries(header).flatMap(([name, values]) =>
    values.some(isRedacted) ? `header[${name.toLowerCase()}]` : [],
  );
  const parts = [...(isRedacted(body) ? ['body'] : []), ...names];
  return { 'redact-fields': parts.length === 0 ? undefined : parts.join(',') };
}

export const fields = {
  'redact-fields': { label: 'Redact', placeholder: 'body, header[authorization]', place: 'message' },
} satisfies FormFields;
