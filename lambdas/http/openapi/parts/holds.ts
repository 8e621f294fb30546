/** Operations on holds, for two functions. */
import { hold } from './examples.ts';
import type { Operation } from './operation.ts';

const texts = {
  host: ['a host', 'Host', 'Deliveries to the host, callbacks too,', '"hooks.example.com"'],
  label: ['a label', 'Label', 'Deliveries of messages and runs with the label', '"nightly"'],
  urlGroup: ['a URL group', 'UrlGroup', 'Deliveries of messages to the URL group', '"orders"'],
  account: ['the account', 'Account', 'All deliveries of the account, callbacks too,', 'the account'],
} as const;

const busy = ['busy', 'It is being changed by many at once; send the change again.'] as const;

const wrong = {
  host: 'The host is "example.com/hook"; allowed is the host of a URL, as in "example.com" or "example.com:8443", or an ARN.',
  label: 'The label is "a,b"; allowed are 1 to 100 characters without a comma.',
  urlGroup: 'The name of the URL group is "or ders"; allowed are 1 to 128 letters, digits, ".", "_" and "-".',
  account: undefined,
} as const;

export const holdOf = (kind: keyof typeof texts): Operation => {
  const [what, id, deliveries] = texts[kind];
  return {
    id: `hold${id}`,
    summary: `Hold the deliveries ${kind === 'host' ? 'to' : 'of'} ${what}`,
    description: `${deliveries} wait until the hold is released or ends, however long that takes: no attempt is made, and no retry is used up. Attempts in flight end normally. All processes know of it after 11 seconds at most. Another hold replaces the reason and the end.`,
    body: {
      required: false,
      schema: 'HoldSettings',
      example: { reason: 'The receiver is being moved.', duration: '2h' },
    },
    answers: { 200: { description: 'It is held.', schema: 'Nothing', example: {} } },
    errors: {
      400: [
        ['field_invalid', 'duration is "0s"; allowed is more than 0s and at most 365d.'],
        ['field_invalid', 'duration and until are both given; allowed is one of them.'],
        ...(wrong[kind] === undefined ? [] : [['field_invalid', wrong[kind]] as const]),
      ],
      ...(kind === 'urlGroup' && { 404: [['url_group_not_found', 'There is no URL group "orders".']] }),
      412: [
        [
          'hold_limit_reached',
          'The hold would be number 101, but an account may have 100 holds, and those that ended within the last day count.',
        ],
      ],
      503: [busy],
    },
  };
};

export const releaseOf = (kind: keyof typeof texts): Operation => {
  const [what, id, , which] = texts[kind];
  return {
    id: `release${id}`,
    summary: `Release the deliveries ${kind === 'host' ? 'to' : 'of'} ${what}`,
    description: 'Waiting deliveries start in order, one at first and more with each that ends.',
    answers: { 200: { description: 'It is released.', schema: 'Nothing', example: {} } },
    errors: {
      ...(wrong[kind] !== undefined && { 400: [['field_invalid', wrong[kind]]] }),
      404: [['hold_not_found', `There is no hold of ${which}.`]],
      503: [busy],
    },
  };
};

export const listHolds: Operation = {
  id: 'listHolds',
  summary: 'List the holds',
  description: 'The deliveries that a person has stopped, with who did it and why, and how many wait.',
  answers: { 200: { description: 'All of them: at most 100.', schema: 'Holds', example: [hold] } },
};
