/**
 * W3C Trace Context, by which tracers such as OpenTelemetry connect requests. The headers of a request are
 * passed on unchanged to the requests that it causes.
 */
import { valuesOf, type Header } from '../shared/headers.ts';
import { addMissingHeaders } from './forwarding.ts';

/**
 * Version, trace, span and flags. Version `ff` and ids that are only zeros are invalid. Only later versions
 * may have more fields.
 */
const parentForm =
  /^(?:00-(?!0{32})[\da-f]{32}-(?!0{16})[\da-f]{16}-[\da-f]{2}|(?!00|ff)[\da-f]{2}-(?!0{32})[\da-f]{32}-(?!0{16})[\da-f]{16}-[\da-f]{2}(?:-.*)?)$/;

/** A member of `tracestate`: the tracer's key, and its value. */
const memberForm =
  /^[a-z\d][a-z\d_\-*/@]{0,255}=[\x20-\x2b\x2d-\x3c\x3e-\x7e]{0,255}[\x21-\x2b\x2d-\x3c\x3e-\x7e]$/;
const mostMembers = 32;

function isState(value: string): boolean {
  const members = value
    .split(',')
    .map((member) => member.trim())
    .filter((member) => member !== '');
  return members.length <= mostMembers && members.every((member) => memberForm.test(member));
}

/** Finds a request's valid `traceparent`, with its `tracestate`, which has no meaning without it. */
function traceOf(headers: readonly Header[]): readonly Header[] {
  const [parent = '', ...others] = valuesOf(headers, 'traceparent');
  if (others.length > 0 || !parentForm.test(parent)) return [];
  const state = valuesOf(headers, 'tracestate').join(',');
  return [
    ['traceparent', parent],
    ...(state !== '' && isState(state) ? [['tracestate', state] as const] : []),
  ];
}

/** Adds the trace of other headers if these have none. */
export const withTrace = (headers: readonly Header[], from: readonly Header[]): readonly Header[] =>
  valuesOf(headers, 'traceparent').length > 0 ? headers : addMissingHeaders(headers, traceOf(from));
