/** The time in which a destination has to answer, connecting included. */
import * as z from 'zod/mini';
import type { Limits } from '../value/limits.ts';
import { positiveDurationForm } from '../shared/bounds.ts';
import { secondMs } from '../shared/clock.ts';
import { parseDurationMs } from '../value/duration.ts';
import { badField, quote } from '../error/httpError.ts';
import { made, whole, type FormFields, type Given, type Settings } from './option.ts';

export const settings = {
  timeout: {
    description:
      'How long the destination may take to answer: whole numbers with the units `s`, `m` and `h`. Default, and most: the account’s `timeout`.',
    schema: { type: 'string', pattern: /* @__PURE__ */ positiveDurationForm('smh') },
    example: '10s',
    scopes: ['message', 'callback', 'retry'],
  },
} as const satisfies Settings;

/** @returns milliseconds */
export const parse = (given: Given, limits: Limits): number | undefined =>
  given.read('timeout', (field, value) => {
    const timeoutMs = parseDurationMs(field, value, ['h', 'm', 's']);
    if (timeoutMs === 0) throw badField(`${field} is ${quote(value)}; allowed is 1s or more.`);
    return Math.min(timeoutMs, limits.timeout * secondMs);
  });

export const stored = /* @__PURE__ */ z.number();

export const answer = /* @__PURE__ */ made(() => ({
  timeout: whole('Seconds that the destination may take to answer.'),
}));

export const show = (timeoutMs: number) => ({ timeout: timeoutMs / secondMs });

export const write = ({ timeout }: { readonly timeout: number }) => ({ timeout: `${timeout}s` });

export const fields = {
  timeout: { label: 'Timeout', placeholder: '30s', place: 'delivery' },
} satisfies FormFields;
