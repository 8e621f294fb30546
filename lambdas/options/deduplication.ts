/** The rule by which a message is a duplicate of one before and is not sent: its publisher's id for it, or its content. */
import { longestDeduplicationId } from '../shared/bounds.ts';
import { badField, quote } from '../error/httpError.ts';
import { charactersIn, parseBoolean, type FormFields, type Given, type Settings } from './option.ts';

export type Deduplication = { readonly by: 'id'; readonly id: string } | { readonly by: 'content' };

export const settings = {
  'deduplication-id': {
    description:
      'A message with the same id within 10 minutes is answered with 202 and the first one’s id, and is not sent.',
    schema: { type: 'string', pattern: '\\S', minLength: 1, maxLength: longestDeduplicationId },
    example: 'order-4711',
    scopes: ['message'],
  },
  'content-based-deduplication': {
    description:
      'As `Svc-Deduplication-Id`, by destination, body, content type and forwarded headers. Default: `false`.',
    schema: { type: 'boolean' },
    example: 'true',
    scopes: ['message'],
  },
} as const satisfies Settings;

function parseId(field: string, id: string): Deduplication {
  if (id === '' || charactersIn(id) > longestDeduplicationId) {
    throw badField(`${field} is ${quote(id)}; allowed are 1 to ${longestDeduplicationId} characters.`);
  }
  return { by: 'id', id };
}

export const parse = (given: Given): Deduplication | undefined =>
  given.read('deduplication-id', parseId) ??
  (given.read('content-based-deduplication', parseBoolean) === true ? { by: 'content' } : undefined);

export const fields = {
  'deduplication-id': {
    label: 'Deduplication id',
    placeholder: 'order-4711',
    place: 'after',
    only: 'publish',
  },
  'content-based-deduplication': {
    label: 'A message with the same content within ten minutes is a duplicate',
    place: 'after',
    kind: 'switch',
    only: 'publish',
  },
} satisfies FormFields;
