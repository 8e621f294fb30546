/** Whether a delivery leaves out the headers that describe its message. */
import * as z from 'zod/mini';
import { made, parseBoolean, type FormFields, type Given, type Settings } from './option.ts';

export const settings = {
  'hide-headers': {
    description:
      '`true`: deliveries have no headers of the service except the signatures (`Svc-Signature`, `webhook-*`), so that a third party does not see ids or the publisher’s address. Default: `false`.',
    schema: { type: 'boolean' },
    example: 'true',
    scopes: ['message', 'callback', 'retry'],
  },
} as const satisfies Settings;

/** `false` is the default and is not stored. */
type Hidden = true | undefined;

export const parse = (given: Given): boolean | undefined => given.read('hide-headers', parseBoolean);

export const stored = /* @__PURE__ */ made(() => z.optional(z.boolean()));

export const answer = /* @__PURE__ */ made(() => ({
  hideHeaders: z.optional(
    z.boolean().check(z.describe('True if deliveries have no headers of the service except the signatures.')),
  ),
}));

export const show = (isHidden: boolean | undefined): { readonly hideHeaders: Hidden } => ({
  hideHeaders: isHidden === true ? true : undefined,
});

export const write = ({ hideHeaders }: { readonly hideHeaders?: boolean | undefined }) => ({
  'hide-headers': hideHeaders === true ? 'true' : undefined,
});

export const fields = {
  'hide-headers': {
    label: 'Send no headers of the service except signatures, for third parties',
    place: 'delivery',
    kind: 'switch',
  },
} satisfies FormFields;
