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

/** These describe the kind of a request, or belong to one kind only. */
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

/** A delivery's signature, which an endpoint may forward with all headers of its request. */
const ofOneDelivery: ReadonlySet<string> = new Set(['webhook-id', 'webhook-timestamp', 'webhook-signature']);

const isForEndpoints = (name: string): boolean =>
  name === 'label' || (name.startsWith('workflow-') && !ofTheRun.has(name));

/**
 * Whether a forwarded header reaches the endpoint. A directly called endpoint starts its run with all headers of its request,
 * so headers that do not belong to the run are dropped instead of refused.
 *
 * @param name in lower case, as the endpoint would see it
 */
export function isForwardedToEndpoint(name: string, prefixes: Prefixes): boolean {
  const own = brandless(name, prefixes);
  if (own !== undefined) return isForEndpoints(own);
  return !isOwnHeader(name) && !ofOneDelivery.has(name) && !name.startsWith('content-');
}

/**
 * Whether a call's header reaches the third party. The client's version does not: a workflow endpoint would take the request
 * for a delivery.
 */
export const isForwardedToThirdParty = (name: string, prefixes: Prefixes): boolean =>
  !isOwnHeader(name) && brandless(name, prefixes) !== 'workflow-sdk-version';

export const forwardedToEndpoint = (headers: readonly Header[], prefixes: Prefixes): readonly Header[] =>
  headers.filter(([name]) => isForwardedToEndpoint(name, prefixes));

export const forwardedByRun = (headers: readonly Header[], prefixes: Prefixes): readonly Header[] =>
  forwardedToEndpoint(headers, prefixes).filter(([name]) => !ofOneKind.has(brandless(name, prefixes) ?? ''));

/** Replaces headers of the same names. */
export function overlaid(below: readonly Header[], above: readonly Header[]): readonly Header[] {
  const names = new Set(above.map(([name]) => name));
  return [...below.filter(([name]) => !names.has(name)), ...above];
}
