/** The statuses that are not retried, and whether a 410 removes an endpoint from its URL group. */
import * as z from 'zod/mini';
import { badField, quote } from '../error/httpError.ts';
import { allowedStatusList, parseStatusList, statusListForm } from '../value/statusList.ts';
import { made, oneOf, text, type FormFields, type Given, type Settings } from './option.ts';

const goneChoices = ['remove', 'keep'] as const;
export type Gone = (typeof goneChoices)[number] | undefined;

export const settings = {
  'fail-on': {
    description:
      'Statuses that fail the message at once, without retries: statuses and ranges, with `!` before exceptions. Default: the account’s `fail_on`. It does not apply to messages of runs.',
    schema: { type: 'string', pattern: statusListForm },
    example: '400-499,!408,!429',
    scopes: ['message', 'callback', 'retry'],
  },
  gone: {
    description:
      '`remove`: an endpoint of a URL group that answers 410 fails the message at once and is removed from its group. Usually a default header of the group. Default: `keep`.',
    schema: { type: 'string', enum: goneChoices },
    example: 'remove',
    scopes: ['message', 'retry'],
  },
} as const satisfies Settings;

/** @returns the list as `value/statusList.ts` writes it */
export const parse = (given: Given): string | undefined =>
  given.read('fail-on', (field, value) => {
    const list = parseStatusList(value);
    if (list === undefined) throw badField(`${field} is ${quote(value)}; allowed are ${allowedStatusList}.`);
    return list;
  });

export const parseGone = (given: Given): Gone =>
  given.read('gone', (field, value) => {
    const choice = goneChoices.find((known) => known === value.toLowerCase());
    if (choice === undefined)
      throw badField(`${field} is ${quote(value)}; allowed are ${goneChoices.join(' and ')}.`);
    return choice;
  });

export const stored = /* @__PURE__ */ made(() => z.optional(z.string()));
export const storedGone = /* @__PURE__ */ made(() => z.optional(z.enum(goneChoices)));

export const answer = /* @__PURE__ */ made(() => ({
  failOn: z.optional(text('Statuses that fail the message at once; absent if the account’s apply.')),
  gone: z.optional(oneOf(goneChoices, 'Whether an endpoint that answers 410 is removed from its URL group.')),
}));

interface Options {
  readonly failOn?: string | undefined;
  readonly gone?: Gone;
}

export const show = ({ failOn, gone }: Options) => ({ failOn, gone });

export const write = ({ failOn, gone }: Options) => ({ 'fail-on': failOn, gone });

export const fields = {
  'fail-on': { label: 'Permanent failure statuses', placeholder: '400-499,!408,!429', place: 'delivery' },
  gone: { label: 'Endpoint that answers 410', place: 'delivery', choices: goneChoices, isOfMessage: true },
} satisfies FormFields;
