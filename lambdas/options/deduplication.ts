/**
 * How a message is recognized as a duplicate, which is not sent: by an id that its publisher gives it, or by
 * its content. Or how it replaces an earlier message: see `publish/repeated/debounce.ts`.
 */
import { longestDeduplicationId, positiveDurationForm } from '../shared/bounds.ts';
import { dayMs, minuteMs } from '../shared/clock.ts';
import { parseDurationMs } from '../value/duration.ts';
import { badField, quote } from '../error/httpError.ts';
import { charactersIn, parseBoolean, type FormFields, type Given, type Settings } from './option.ts';

export type Deduplication =
  | { readonly by: 'id'; readonly id: string }
  /** A restricted token's messages are compared only with each other. */
  | { readonly by: 'content'; readonly token?: string | undefined };

export interface Debounce {
  readonly by: 'debounce';
  readonly id: string;
  /** The message is delivered when no other one has arrived for this long. */
  readonly quietMs: number;
  /** It is delivered at the latest this long after the first one. */
  readonly mostMs: number;
}

/** The longest delay of SQS. Each publish delays the message again. */
const longestQuietMs = 15 * minuteMs;
const longestDebounceMs = 7 * dayMs;

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
      'Like `Svc-Deduplication-Id`, but by destination, body, content type and forwarded headers. Default: `false`.',
    schema: { type: 'boolean' },
    example: 'true',
    scopes: ['message'],
  },
  debounce: {
    description:
      'With `Svc-Debounce-Id`: the message is delivered when no other with this id has arrived for this long, with the newest body and settings. Whole numbers with the units `s` and `m`, at most 15 minutes.',
    schema: { type: 'string', pattern: /* @__PURE__ */ positiveDurationForm('sm') },
    example: '30s',
    scopes: ['message'],
  },
  'debounce-id': {
    description: 'The id of the messages that replace each other.',
    schema: { type: 'string', pattern: '\\S', minLength: 1, maxLength: longestDeduplicationId },
    example: 'cart-4711',
    scopes: ['message'],
  },
  'debounce-max': {
    description:
      'How long after the first message the delivery may be delayed. Whole numbers with the units `s`, `m`, `h` and `d`. Default, and most: 7 days.',
    schema: { type: 'string', pattern: /* @__PURE__ */ positiveDurationForm('smhd') },
    example: '10m',
    scopes: ['message'],
  },
} as const satisfies Settings;

function parseId(field: string, id: string): Deduplication {
  if (id === '' || charactersIn(id) > longestDeduplicationId) {
    throw badField(`${field} is ${quote(id)}; allowed are 1 to ${longestDeduplicationId} characters.`);
  }
  return { by: 'id', id };
}

const parseDeduplication = (given: Given, token: string | undefined): Deduplication | undefined =>
  given.read('deduplication-id', parseId) ??
  (given.read('content-based-deduplication', parseBoolean) === true ? { by: 'content', token } : undefined);

const parseWithin = (given: Given, name: string, longestMs: number, longest: string): number | undefined =>
  given.read(name, (field, value) => {
    const ms = parseDurationMs(field, value);
    if (ms > 0 && ms <= longestMs) return ms;
    throw badField(`${field} is ${quote(value)}; allowed is 1s to ${longest}.`);
  });

function parseDebounce(given: Given): Debounce | undefined {
  const quietMs = parseWithin(given, 'debounce', longestQuietMs, '15m');
  const mostMs = parseWithin(given, 'debounce-max', longestDebounceMs, '7d');
  const named = given.read('debounce-id', parseId);
  const [debounce, debounceId] = [given.field('debounce'), given.field('debounce-id')];
  if (quietMs === undefined && mostMs === undefined && named === undefined) return undefined;
  if (quietMs === undefined) throw badField(`${debounce} is missing; allowed is a duration such as 30s.`);
  if (named?.by !== 'id') throw badField(`${debounceId} is missing; ${debounce} asks for it.`);
  if (mostMs !== undefined && mostMs < quietMs) {
    const field = given.field('debounce-max');
    throw badField(`${field} is shorter than ${debounce}; allowed is as long, or longer.`);
  }
  const other = ['delay', 'not-before', 'deduplication-id', 'content-based-deduplication'].find(
    (name) => given.single(name) !== undefined,
  );
  if (other !== undefined)
    throw badField(`${given.field(other)} and ${debounce} are both given; allowed is one of them.`);
  return { by: 'debounce', id: named.id, quietMs, mostMs: mostMs ?? longestDebounceMs };
}

export const parse = (given: Given, token?: string): Deduplication | Debounce | undefined =>
  parseDebounce(given) ?? parseDeduplication(given, token);

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
  debounce: { label: 'Debounce', placeholder: '30s', place: 'after', only: 'publish' },
  'debounce-id': { label: 'Debounce id', placeholder: 'cart-4711', place: 'after', only: 'publish' },
  'debounce-max': { label: 'Longest debounce', placeholder: '10m', place: 'after', only: 'publish' },
} satisfies FormFields;
