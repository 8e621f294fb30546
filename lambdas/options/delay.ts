/** The earliest time of a message's delivery, as a delay or as a time. */
import type { Limits } from '../value/limits.ts';
import { durationForm } from '../shared/bounds.ts';
import { secondMs } from '../shared/clock.ts';
import { parseDurationMs } from '../value/duration.ts';
import { badField, overLimit, quote } from '../error/httpError.ts';
import type { FormFields, Given, Settings } from './option.ts';

export const settings = {
  delay: {
    description:
      'How long the delivery waits: whole numbers with the units `s`, `m`, `h` and `d`; at most the account’s `max_delay`.',
    schema: { type: 'string', pattern: /* @__PURE__ */ durationForm('smhd') },
    example: '1m30s',
    scopes: ['message', 'callback', 'retry', 'trigger', 'resume'],
  },
  'not-before': {
    description: 'Unix time in seconds before which it is not delivered. It takes precedence over the delay.',
    schema: { type: 'integer', format: 'int64', minimum: 0 },
    example: '1767225600',
    scopes: ['message', 'retry', 'trigger'],
  },
} as const satisfies Settings;

/**
 * @param value as the client wrote it
 * @throws HttpError 412 above the account's limit
 */
function checkDelay(field: string, value: string, delayMs: number, { max_delay: most }: Limits): void {
  if (delayMs > most * secondMs) {
    throw overLimit(
      'delay_over_limit',
      `${field} is ${quote(value)}, but the account's limit max_delay is ${most} seconds from now.`,
    );
  }
}

/** @returns milliseconds */
export const parseDelay = (given: Given, limits: Limits): number | undefined =>
  given.read('delay', (field, value) => {
    const delayMs = parseDurationMs(field, value);
    checkDelay(field, value, delayMs, limits);
    return delayMs;
  });

/** @returns Unix milliseconds, not before `now` */
export const parseNotBefore = (given: Given, limits: Limits, now: number): number | undefined =>
  given.read('not-before', (field, value) => {
    if (!/^\d+$/.test(value)) {
      throw badField(`${field} is ${quote(value)}; allowed is a Unix time in whole seconds.`);
    }
    const notBefore = Number(value) * secondMs;
    checkDelay(field, value, notBefore - now, limits);
    return Math.max(notBefore, now);
  });

export const fields = {
  delay: { label: 'Delay', placeholder: '90s, 5m, 1d12h30m', place: 'delivery', isOfRun: true },
  'not-before': { label: 'Not before', place: 'delivery', kind: 'time', only: 'publish' },
} satisfies FormFields;
