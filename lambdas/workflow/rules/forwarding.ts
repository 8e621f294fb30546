/** The headers that a run's deliveries take from its start. */
import type { Header } from '../../shared/headers.ts';
import { isOwnHeader } from '../../request/forwarding.ts';
import { brandless, type Prefixes } from './brands.ts';

const ofTheRun: ReadonlySet<string> = new Set([
  'workflow-runid',
  'workflow-createdat',
  'workflow-url',
  'workflow-init',
  'workflow-calltype',
]);

/** Headers that say which kind of request this is, or that only one kind has. */
const ofOneKind: ReadonlySet<string> = new Set([
  'workflow-is-failure',
  'workflow-failure-callback',
  'workflow-callback',
  'workflow-stepid',
  'workflow-stepname',
  'workflow-steptype',
  'workflow-concurrent',
  'workflow-contenttype',
]);

/** The signature of a delivery. An endpoint may forward it along with all other headers of its request. */
const ofOneDelivery: ReadonlySet<string> = new Set(['webhook-id', 'webhook-timestamp', 'webhook-signature']);

const isForEndpoints = (name: string): boolean =>
  name === 'label' || (name.startsWith('workflow-') && !ofTheRun.has(name));

/**
 * Whether the endpoint receives a forwarded header. A run that starts when its endpoint is called directly
 * has all headers of that request, so headers that do not belong to the run are dropped, not refused.
 *
 * @param name in lower case, as the endpoint would see it
 */
export function isForwardedToEndpoint(name: string, prefixes: Prefixes): boolean {
  const own = brandless(name, prefixes);
  if (own !== undefined) return isForEndpoints(own);
  return !isOwnHeader(name) && !ofOneDelivery.has(name) && !name.startsWith('content-');
}

/**
 * Whether the third party receives a header of a call. It does not receive the client's version: a workflow
 * endpoint would take the request for a delivery.
 */
export const isForwardedToThirdParty = (name: string, prefixes: Prefixes): boolean =>
  !isOwnHeader(name) && brandless(name, prefixes) !== 'workflow-sdk-version';

export const forwardedToEndpoint = (headers: readonly Header[], prefixes: Prefixes): readonly Header[] =>
  headers.filter(([name]) => isForwardedToEndpoint(name, prefixes));

export const forwardedByRun = (headers: readonly Header[], prefixes: Prefixes): readonly Header[] =>
  forwardedToEndpoint(headers, prefixes).filter(([name]) => !ofOneKind.has(brandless(name, prefixes) ?? ''));

/** Adds headers, which replace those with the same names. */
export function overlaid(below: readonly Header[], above: readonly Header[]): readonly Header[] {
  const names = new Set(above.map(([name]) => name));
  return [...below.filter(([name]) => !names.has(name)), ...above];
}
