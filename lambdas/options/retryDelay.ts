/** The time before a retry: an expression that is evaluated for each retry. */
import * as z from 'zod/mini';
import { longestExpression } from '../shared/bounds.ts';
import { made, text, type FormFields, type Given, type Settings } from './option.ts';

export const settings = {
  'retry-delay': {
    description:
      'Milliseconds before a retry, as arithmetic over `retried` (0 for the first retry): numbers, `+ - * / %`, parentheses, `pow`, `exp`, `sqrt`, `abs`, `floor`, `ceil`, `round`, `min`, `max`. The value is kept between 0 and one day, and rounded up to whole seconds: `300` waits 1 s. Default: 12 s, 2 m 28 s, 30 m 8 s, 6 h 7 m, 24 h.',
    schema: { type: 'string', minLength: 1, maxLength: longestExpression },
    example: 'pow(2, retried) * 1000',
    scopes: ['message', 'callback', 'retry', 'trigger', 'resume'],
  },
} as const satisfies Settings;

/**
 * @param check refuses a text that is not an expression. It is an argument, so that only bundles that read
 * options contain its parser
 */
export const parse = (
  given: Given,
  check: (field: string, expression: string) => unknown,
): string | undefined =>
  given.read('retry-delay', (field, value) => {
    check(field, value);
    return value;
  });

export const stored = /* @__PURE__ */ made(() => z.optional(z.string()));

export const answer = /* @__PURE__ */ made(() => ({
  retryDelayExpression: z.optional(text('As `Svc-Retry-Delay` has it.')),
}));

export const show = (retryDelay: string | undefined) => ({ retryDelayExpression: retryDelay });

export const write = (of: { readonly retryDelayExpression?: string | undefined }) => ({
  'retry-delay': of.retryDelayExpression,
});

export const fields = {
  'retry-delay': {
    label: 'Retry delay, in milliseconds',
    placeholder: 'pow(2, retried) * 1000',
    place: 'delivery',
    isCode: true,
    isOfRun: true,
  },
} satisfies FormFields;
