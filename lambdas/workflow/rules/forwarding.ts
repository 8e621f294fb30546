/** The headers that go on from the start of a run to its deliveries. */
import type { Header } from '../../shared/headers.ts';
import { isOwnHeader } from '../../request/forwarding.ts';
import { brandless, type Prefixes } from './brands.ts';

/** The service sets these for each delivery: forwarded ones would be another run's. */
const ofTheRun: ReadonlySet<string> = new Set([
  'workflow-runid',
  'workflow-createdat',
  'workflow-url',
  'workflow-init',
  'workflow-calltype',
]);

/** The headers that tell the endpoint what kind of request it gets, or that belong to one kind only. */
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

/** The signature of a delivery, which an endpoint that forwards all headers of its request sends back. */
const ofOneDelivery: ReadonlySet<string> = new Set(['webhook-id', 'webhook-timestamp', 'webhook-signature']);

const isForEndpoints = (name: string): boolean =>
  name === 'label' || (name.startsWith('workflow-') && !ofTheRun.has(name));

/**
 * Whether a header that was given for forwarding reaches the endpoint. One that was called directly starts its run with all
 * headers of that request, so many come that are no part of the run: they are left behind, and not refused.
 *
 * @param name in lower case, as the endpoint would see it
 */
export function isForwardedToEndpoint(name: string, prefixes: Prefixes): boolean {
  const own = brandless(name, prefixes);
  if (own !== undefined) return isForEndpoints(own);
  if (isOwnHeader(name) || ofOneDelivery.has(name)) return false;
  return !name.startsWith('content-');
}

/**
 * Whether a header of a call reaches the third party: all that the user gave. A target that is a workflow endpoint itself
 * would take a request with the client's version for a delivery.
 */
export const isForwardedToThirdParty = (name: string, prefixes: Prefixes): boolean =>
  !isOwnHeader(name) && brandless(name, prefixes) !== 'workflow-sdk-version';

/** Picks the headers that the endpoint gets, of those that a message is to forward. */
export const forwardedToEndpoint = (headers: readonly Header[], prefixes: Prefixes): readonly Header[] =>
  headers.filter(([name]) => isForwardedToEndpoint(name, prefixes));

/** Picks the headers that all deliveries of a run have, of those that its start forwards. */
export const forwardedByRun = (headers: readonly Header[], prefixes: Prefixes): readonly Header[] =>
  forwardedToEndpoint(headers, prefixes).filter(([name]) => !ofOneKind.has(brandless(name, prefixes) ?? ''));

/** Puts headers over others of the same names. */
export function overlaid(below: readonly Header[], above: readonly Header[]): readonly Header[] {
  const names = new Set(above.map(([name]) => name));
  return [...below.filter(([name]) => !names.has(name)), ...above];
}
