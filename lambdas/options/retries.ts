/** The number of retries of a failed delivery. */
import * as z from 'zod/mini';
import type { Limits } from '../value/limits.ts';
import { badField, overLimit, quote } from '../error/httpError.ts';
import { made, whole, type FormFields, type Given, type Settings } from './option.ts';

export const settings = {
  retries: {
    description:
      'How often a failed delivery is retried; at most the account’s `max_retries`. Default: 3 on the free plan, 5 on the paid plan; for callbacks, the message’s number; for workflow runs, 3.',
    schema: { type: 'integer', minimum: 0 },
    example: '2',
    scopes: ['message', 'callback', 'retry', 'trigger', 'resume'],
  },
} as const satisfies Settings;

export const parse = (given: Given, { max_retries: most }: Limits): number | undefined =>
  given.read('retries', (field, value) => {
    if (!/^\d+$/.test(value)) {
      throw badField(`${field} is ${quote(value)}; allowed is a whole number from 0 to ${most}.`);
    }
    if (Number(value) > most) {
      throw overLimit(
        'retries_over_limit',
        `${field} is ${Number(value)}, but the account's limit max_retries is ${most}.`,
      );
    }
    return Number(value);
  });

export const stored = /* @__PURE__ */ z.number();

export const answer = /* @__PURE__ */ made(() => ({
  maxRetries: whole('How often a failed delivery is retried.'),
}));

export const show = (maxRetries: number) => ({ maxRetries });

export const write = ({ maxRetries }: { readonly maxRetries: number }) => ({ retries: String(maxRetries) });

export const fields = {
  retries: { label: 'Retries', placeholder: '3', place: 'delivery', isOfRun: true },
} satisfies FormFields;
