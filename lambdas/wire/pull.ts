/** Requests of clients that take messages. */
import * as z from 'zod/mini';
import { parsePull, pullNameOf, pullOf } from '../destination/pull.ts';
import { badField, quote } from '../error/httpError.ts';
import { secondMs } from '../shared/clock.ts';
import { optionalField, parseShape } from '../shared/json.ts';
import { parseDurationMs, parseOpenMs } from '../value/duration.ts';

/** An API function on AWS ends after 28 s. */
const longestWaitMs = 20 * secondMs;
const mostMessages = 100;

const duration = (meaning: string) => optionalField(z.string().check(z.describe(meaning)));

export const pulling = z.strictObject({
  count: optionalField(
    z.int().check(z.minimum(1), z.maximum(mostMessages), z.describe('Messages at most. Default: 1.')),
  ),
  wait: duration('How long to wait for the first message: `0s` to `20s`. Default: `0s`.'),
  within: duration(
    'The time to complete each message, `1s` to `7d`. Without a completion, its attempt fails after this time. Default: `1m`.',
  ),
});

export const extension = z.strictObject({
  within: z.string().check(z.describe('The time from now on, `1s` to `7d`.')),
});

/**
 * @param body may be empty
 * @throws HttpError 400
 */
export function readPulling(name: string, body: Uint8Array) {
  const url = parsePull('The name', pullOf(name));
  const {
    count = 1,
    wait = '0s',
    within = '1m',
  } = body.length === 0
    ? {}
    : parseShape(
        'The body',
        body,
        pulling,
        '{"count"?: 1 to 100, "wait"?: "0s" to "20s", "within"?: "1s" to "7d"}',
      );
  const waitMs = parseDurationMs('wait', wait);
  if (waitMs > longestWaitMs) throw badField(`wait is ${quote(wait)}; allowed is 0s to 20s.`);
  return { url, name: pullNameOf(url), count, waitMs, withinMs: parseOpenMs('within', within) };
}

/** @returns milliseconds @throws HttpError 400 */
export const readExtension = (body: Uint8Array): number =>
  parseOpenMs('within', parseShape('The body', body, extension, '{"within": "1s" to "7d"}').within);
