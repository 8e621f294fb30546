/**
 * The URLs to which outcomes are reported. A callback is a separate message, whose options begin with
 * `callback-`.
 */
import * as z from 'zod/mini';
import { shownUrl } from '../shared/urlCredentials.ts';
import { made, text, type FormFields, type Settings } from './option.ts';

export const settings = {
  callback: {
    description: 'The URL that gets the outcome of each attempt.',
    schema: { type: 'string', format: 'uri' },
    example: 'https://example.com/done',
    scopes: ['message', 'retry'],
  },
  'failure-callback': {
    description: 'The URL that gets the failure after the last retry.',
    schema: { type: 'string', format: 'uri' },
    example: 'https://example.com/failed',
    scopes: ['message', 'retry', 'trigger', 'resume'],
  },
} as const satisfies Settings;

export const answer = /* @__PURE__ */ made(() => ({
  callback: z.optional(text('Without `user:password`.')),
  failureCallback: z.optional(text('Without `user:password`.')),
}));

interface To {
  readonly url: string;
}

export const show = (callback: To | undefined, failureCallback: To | undefined) => ({
  callback: callback && shownUrl(callback.url),
  failureCallback: failureCallback && shownUrl(failureCallback.url),
});

export const write = (of: {
  readonly callback?: string | undefined;
  readonly failureCallback?: string | undefined;
}) => ({ callback: of.callback, 'failure-callback': of.failureCallback });

export const fields = {
  callback: { label: 'Callback', placeholder: 'https://example.com/done', place: 'after' },
  'failure-callback': {
    label: 'Failure callback',
    placeholder: 'https://example.com/failed',
    place: 'after',
    isOfRun: true,
  },
} satisfies FormFields;
