/** How long a destination may take to answer, and how long after a 202: see `delivery/deferred.ts`. */
import * as z from 'zod/mini';
import type { Limits } from '../value/limits.ts';
import { positiveDurationForm } from '../shared/bounds.ts';
import { secondMs } from '../shared/clock.ts';
import { parseDurationMs, parseOpenMs } from '../value/duration.ts';
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
  deferred: {
    description:
      'Lets the destination answer later: after a 202 it has this long to complete the attempt, at the URL in `Svc-Complete-Url` or by `POST /v2/messages/{messageId}/complete`. Whole numbers with the units `s`, `m`, `h` and `d`, 7 days at most. In a run, it applies to calls and the failure function.',
    schema: { type: 'string', pattern: /* @__PURE__ */ positiveDurationForm('smhd') },
    example: '2h',
    scopes: ['message', 'callback', 'retry', 'trigger'],
  },
} as const satisfies Settings;

/** @returns milliseconds */
export const parse = (given: Given, limits: Limits): number | undefined =>
  given.read('timeout', (field, value) => {
    const timeoutMs = parseDurationMs(field, value, ['h', 'm', 's']);
    if (timeoutMs === 0) throw badField(`${field} is ${quote(value)}; allowed is 1s or more.`);
    return Math.min(timeoutMs, limits.timeout * secondMs);
  });

/** @returns milliseconds */
export const parseDeferred = (given: Given): number | undefined => given.read('deferred', parseOpenMs);

export const stored = /* @__PURE__ */ z.number();
export const storedDeferred = /* @__PURE__ */ made(() => z.optional(z.number()));

export const answer = /* @__PURE__ */ made(() => ({
  timeout: whole('Seconds that the destination may take to answer.'),
  deferred: z.optional(whole('Seconds that the destination has to complete an attempt after a 202.')),
}));

interface Options {
  readonly timeoutMs: number;
  readonly deferredMs?: number | undefined;
}

export const show = ({ timeoutMs, deferredMs }: Options) => ({
  timeout: timeoutMs / secondMs,
  deferred: deferredMs === undefined ? undefined : deferredMs / secondMs,
});

export const write = (of: { readonly timeout: number; readonly deferred?: number | undefined }) => ({
  timeout: `${of.timeout}s`,
  deferred: of.deferred === undefined ? undefined : `${of.deferred}s`,
});

export const fields = {
  timeout: { label: 'Timeout', placeholder: '30s', place: 'delivery' },
  deferred: { label: 'Time to complete later', placeholder: '2h', place: 'delivery' },
} satisfies FormFields;
