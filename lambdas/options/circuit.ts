/** Whether a delivery waits while its host is down. If undefined, the queue or the account decides. */
import * as z from 'zod/mini';
import { made, oneOf, parseSwitch, type FormFields, type Given, type Settings } from './option.ts';

const switched = ['on', 'off'] as const;
type Switch = (typeof switched)[number] | undefined;

export const settings = {
  circuit: {
    description:
      '`on`: while the destination’s host is down, deliveries wait until it answers again, and use no retry. `off`: they do not wait. Default: the queue’s setting, else the account’s.',
    schema: { type: 'string', enum: switched },
    example: 'on',
    scopes: ['message', 'callback', 'retry'],
  },
} as const satisfies Settings;

export const parse = (given: Given): boolean | undefined => given.read('circuit', parseSwitch);

export const stored = /* @__PURE__ */ made(() => z.optional(z.boolean()));

export const answer = /* @__PURE__ */ made(() => ({
  circuit: z.optional(
    oneOf(
      switched,
      'Whether deliveries wait while their host is down; absent if the account’s setting applies.',
    ),
  ),
}));

export const show = (isOn: boolean | undefined): { readonly circuit: Switch } => ({
  circuit: isOn === undefined ? undefined : isOn ? 'on' : 'off',
});

export const write = ({ circuit }: { readonly circuit?: Switch }) => ({ circuit });

export const fields = {
  circuit: { label: 'Circuit', place: 'delivery', choices: switched },
} satisfies FormFields;
