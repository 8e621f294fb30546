/** Requests that hold deliveries. */
import * as z from 'zod/mini';
import { longestHost } from '../circuit/verdict.ts';
import { isArn } from '../destination/arns.ts';
import { isPull } from '../destination/pull.ts';
import { hostOf } from '../destination/place.ts';
import { badField, quote } from '../error/httpError.ts';
import { charactersIn } from '../options/option.ts';
import { longestLabel } from '../shared/bounds.ts';
import { dayMs, now, secondMs } from '../shared/clock.ts';
import { optionalField, parseShape } from '../shared/json.ts';
import { parseDurationMs } from '../value/duration.ts';
import { parseName } from '../value/names.ts';
import type { HeldKind } from './states.ts';

const longestHoldMs = 365 * dayMs;

const reasonForm = '^[^\\x00-\\x1f\\x7f-\\x9f\\u2028\\u2029]{1,200}$';

export const holdSettings = z.strictObject({
  reason: optionalField(
    z
      .string()
      .check(
        z.regex(new RegExp(reasonForm, 'u'), 'it is not 1 to 200 printable characters'),
        z.describe('Why: 1 to 200 printable characters, for colleagues and the audit trail.'),
      ),
  ),
  duration: optionalField(
    z
      .string()
      .check(
        z.describe('After this the hold ends by itself: `2h`; at most 365 days. By default it does not.'),
      ),
  ),
  until: optionalField(
    z
      .union([z.string(), z.number()])
      .check(z.describe('When the hold ends by itself, in Unix seconds, in place of `duration`.')),
  ),
});

interface HoldRequest {
  readonly reason: string | undefined;
  readonly until: number | undefined;
}

/** Normalizes a host like parsers of URLs. */
function hostIn(text: string): string {
  const isHost =
    isArn(text) || isPull(text) || (/^[^/?#@\\\s]+$/.test(text) && URL.canParse(`https://${text}`));
  const host = isHost ? hostOf(isArn(text) || isPull(text) ? text : `https://${text}`) : '';
  if (isHost && host.length <= longestHost) return host;
  throw badField(
    `The host is ${quote(text)}; allowed is the host of a URL, as in "example.com" or "example.com:8443", or an ARN.`,
  );
}

function labelIn(text: string): string {
  const label = text.trim();
  if (label !== '' && charactersIn(label) <= longestLabel && !label.includes(',')) return label;
  throw badField(`The label is ${quote(text)}; allowed are 1 to ${longestLabel} characters without a comma.`);
}

const readers: Readonly<Record<HeldKind, (text: string) => string>> = {
  host: hostIn,
  label: labelIn,
  urlGroup: (text) => parseName('The name of the URL group', text),
  account: () => '',
};

/**
 * Reads the name of what is held.
 *
 * @throws HttpError 400
 */
export const readHeld = (kind: HeldKind, which: string): string => readers[kind](which);

function endOf(duration: string | undefined, until: string | number | undefined): number | undefined {
  if (duration !== undefined && until !== undefined) {
    throw badField('duration and until are both given; allowed is one of them.');
  }
  if (duration === undefined && until === undefined) return undefined;
  const untilMs =
    duration === undefined ? Number(until) * secondMs : now() + parseDurationMs('duration', duration);
  if (untilMs > now() && untilMs <= now() + longestHoldMs && /^(\d+)?$/.test(String(until ?? ''))) {
    return untilMs;
  }
  throw badField(
    duration === undefined
      ? `until is ${quote(String(until))}; allowed is a Unix time in whole seconds, later than now and at most 365 days from now.`
      : `duration is ${quote(duration)}; allowed is more than 0s and at most 365d.`,
  );
}

/**
 * @returns `until`
 * @throws HttpError 400
 */
export function readHold(body: Uint8Array): HoldRequest {
  if (body.length === 0) return { reason: undefined, until: undefined };
  const allowed =
    '{"reason"?: 1 to 200 printable characters, "duration"?: "2h" or "until"?: a Unix time in seconds}';
  const { reason, duration, until } = parseShape('The body', body, holdSettings, allowed);
  return { reason, until: endOf(duration, until) };
}
