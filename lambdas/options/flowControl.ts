/** The flow-control key of a delivery, and the key's limits. */
import * as z from 'zod/mini';
import type { Limits } from '../value/limits.ts';
import { longestFlowControlKey } from '../shared/bounds.ts';
import { overLimit } from '../error/httpError.ts';
import { parseFlowControl, shownPeriod, type FlowControl } from '../value/flowControl.ts';
import { made, whole, type FormFields, type Given, type Settings, type Shape } from './option.ts';

export const settings = {
  'flow-control-key': {
    description:
      'Messages with the same key share the limits of `Svc-Flow-Control-Value`, and deliveries above them wait. The newest message’s values apply to the key, unless they are pinned.',
    schema: { type: 'string', minLength: 1, maxLength: longestFlowControlKey },
    example: 'tenant-7',
    scopes: ['message', 'callback', 'retry', 'trigger', 'resume'],
  },
  'flow-control-value': {
    description:
      '`parallelism=<n>`, the deliveries that may be in flight at once, at most the account’s `max_parallelism`; `rate=<n>`, those that may start in a period; and `period=<seconds, or a duration such as 1m>`, up to a week, by default 1 second. They are separated by commas; at least one of the first two. Needs `Svc-Flow-Control-Key`.',
    schema: { type: 'string', pattern: '^\\s*\\w+\\s*=\\s*\\w+\\s*(,\\s*\\w+\\s*=\\s*\\w+\\s*)*$' },
    example: 'parallelism=3, rate=10, period=1m',
    scopes: ['message', 'callback', 'retry', 'trigger', 'resume'],
  },
} as const satisfies Settings;

export function parse(given: Given, { max_parallelism: most }: Limits): FlowControl | undefined {
  const [key, value] = ['flow-control-key', 'flow-control-value'] as const;
  const fields = { key: given.field(key), value: given.field(value) };
  const flowControl = parseFlowControl(fields, given.single(key), given.single(value));
  if (flowControl?.parallelism !== undefined && flowControl.parallelism > most) {
    throw overLimit(
      'parallelism_over_limit',
      `${fields.value} asks for a parallelism of ${flowControl.parallelism}, but the account's limit max_parallelism is ${most}.`,
    );
  }
  return flowControl;
}

export const stored = /* @__PURE__ */ made(() =>
  z.optional(
    z.object({
      key: z.string(),
      parallelism: z.optional(z.number()),
      rate: z.optional(z.number()),
      period: z.optional(z.number()),
    } satisfies Shape<FlowControl>),
  ),
);

export const answer = /* @__PURE__ */ made(() => ({
  flowControlKey: z.optional(z.string()),
  parallelism: z.optional(whole('Deliveries in flight at once.')),
  rate: z.optional(whole('Deliveries that may start in one period.')),
  ratePerSecond: z.optional(whole('`rate`, for older clients.')),
  period: z.optional(whole('Seconds. Present with every flow-control key; 1 if none was given.')),
}));

export const show = (flowControl: FlowControl | undefined) => ({
  flowControlKey: flowControl?.key,
  parallelism: flowControl?.parallelism,
  rate: flowControl?.rate,
  ratePerSecond: flowControl?.rate,
  period: flowControl && shownPeriod(flowControl.period),
});

/** Writes the two settings. Limits that are not set are left out. */
export const write = ({
  flowControlKey,
  parallelism,
  rate,
  period,
}: {
  readonly flowControlKey?: string | undefined;
  readonly parallelism?: number | undefined;
  readonly rate?: number | undefined;
  readonly period?: number | undefined;
}) => ({
  'flow-control-key': flowControlKey,
  'flow-control-value':
    flowControlKey === undefined
      ? undefined
      : Object.entries({ parallelism, rate, period })
          .flatMap(([name, value]) => (value === undefined ? [] : `${name}=${value}`))
          .join(', '),
});

export const fields = {
  'flow-control-key': { label: 'Flow-control key', placeholder: 'tenant-7', place: 'lane', isOfRun: true },
  'flow-control-value': {
    label: 'Flow-control limits',
    place: 'lane',
    isOfRun: true,
    parts: {
      parallelism: { label: 'Parallelism', placeholder: '3' },
      rate: { label: 'Rate', placeholder: '10' },
      period: { label: 'Period of the rate', placeholder: '1m' },
    },
  },
} satisfies FormFields;
