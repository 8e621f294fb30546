/**
 * A message's turn in a waiting line: its fair key decides among tenants, its priority among its tenant's
 * messages.
 */
import * as z from 'zod/mini';
import { longestFairKey } from '../shared/bounds.ts';
import { badField, quote } from '../error/httpError.ts';
import { checkKey } from '../value/flowControl.ts';
import { priorities, type Priority, type Turn } from '../value/turn.ts';
import { made, oneOf, type FormFields, type Given, type Settings } from './option.ts';

const scopes = ['message', 'callback', 'retry', 'trigger', 'resume'] as const;

export const settings = {
  'fair-key': {
    description:
      'The message’s tenant. If messages wait for a queue, a flow-control key or the account’s parallelism, tenants take turns, and each tenant’s messages keep their order. Messages without a fair key form one tenant.',
    schema: { type: 'string', minLength: 1, maxLength: longestFairKey },
    example: 'customer-42',
    scopes,
  },
  priority: {
    description:
      'The order among the waiting messages of one fair key, or of those without one: `high` before `normal` before `low`. If messages of a lower priority wait, they get one of eight starts. Default: `normal`.',
    schema: { type: 'string', enum: priorities },
    example: 'high',
    scopes,
  },
} as const satisfies Settings;

export const parse = (given: Given): string | undefined =>
  given.read('fair-key', (field, value) => {
    checkKey(field, value, longestFairKey);
    return value;
  });

export const parsePriority = (given: Given): Priority | undefined =>
  given.read('priority', (field, value) => {
    const priority = priorities.find((known) => known === value.toLowerCase());
    if (priority !== undefined) return priority;
    throw badField(`${field} is ${quote(value)}; allowed are high, normal and low.`);
  });

export const stored = /* @__PURE__ */ made(() => z.optional(z.string()));
export const storedPriority = /* @__PURE__ */ made(() => z.optional(z.enum(priorities)));

export const answer = /* @__PURE__ */ made(() => ({
  fairKey: z.optional(z.string()),
  priority: z.optional(oneOf(priorities, 'The `Svc-Priority`; absent if it was not given.')),
}));

export const show = ({ fairKey, priority }: Turn) => ({ fairKey, priority });

export const write = ({ fairKey, priority }: Turn) => ({ 'fair-key': fairKey, priority });

export const fields = {
  'fair-key': { label: 'Fair key', placeholder: 'customer-42', place: 'lane', isOfRun: true },
  priority: { label: 'Priority', place: 'lane', choices: priorities, isOfRun: true },
} satisfies FormFields;
