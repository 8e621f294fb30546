/**
 * The headers of a run's requests to its endpoint: the service's own, and those that the run forwards. Calls to third parties
 * have none of them: they are ordinary messages, with the headers that the user gave them.
 */
import type { Header } from '../../shared/headers.ts';
import { brandless, branded, type Prefixes } from '../rules/brands.ts';
import { forwardedByRun, forwardedToEndpoint, overlaid } from '../rules/forwarding.ts';
import type { Run } from '../run.ts';
import type { CallType } from '../../wire/states.ts';

/** The version of the protocol that clients speak. */
export const protocolVersion = '1';

/** The details of a run that the headers of its deliveries are made of. */
export interface DeliveringRun extends Run {
  /** The header prefix of the run's dialect. */
  readonly prefix: string;
  /** Headers that its start gave for forwarding; names in lower case. */
  readonly forwarded: readonly Header[];
  /** The client's version of the protocol as the start named it. */
  readonly sdkVersion: string | undefined;
  /** Whether its endpoint is asked what client it has, and has not yet answered. */
  readonly isUnknownClient: boolean;
}

/** All bodies for endpoints are JSON, whatever type the payload has. */
const json: Header = ['content-type', 'application/json'];

const ofRun = (run: DeliveringRun, callType: CallType): readonly Header[] =>
  branded(run.prefix, {
    'workflow-runid': run.runId,
    'workflow-createdat': String(run.createdAt),
    'workflow-url': run.url,
    'workflow-init': 'false',
    'workflow-calltype': callType,
  });

/** Leaves out headers of the service, whatever prefix they were written with. */
const without = (
  headers: readonly Header[],
  names: readonly string[],
  prefixes: Prefixes,
): readonly Header[] => headers.filter(([name]) => !names.includes(brandless(name, prefixes) ?? ''));

/** The headers that make the client read a request as a list of entries. */
const marksOfLists = ['workflow-sdk-version', 'workflow-unknown-sdk'] as const;

/**
 * Makes the headers of a delivery of entries. Without the client's version the endpoint would take it for a direct call, and
 * start another run.
 *
 * @param own headers that the delivered message gives for forwarding itself
 */
export function listHeaders(
  run: DeliveringRun,
  own: readonly Header[],
  prefixes: Prefixes,
): readonly Header[] {
  const forwarded = overlaid(forwardedByRun(run.forwarded, prefixes), forwardedByRun(own, prefixes));
  const marks = branded(run.prefix, {
    'workflow-sdk-version': run.sdkVersion ?? protocolVersion,
    'workflow-unknown-sdk': run.isUnknownClient ? 'true' : undefined,
  });
  return overlaid(forwarded, [...ofRun(run, 'step'), ...marks, json]);
}

/**
 * Makes the headers of a delivery that brings the answer to a call.
 *
 * @param ofCallback headers that the call gave for forwarding with its answer
 */
export function callResultHeaders(
  run: DeliveringRun,
  ofCallback: readonly Header[],
  prefixes: Prefixes,
): readonly Header[] {
  const forwarded = overlaid(
    forwardedByRun(run.forwarded, prefixes),
    forwardedToEndpoint(ofCallback, prefixes),
  );
  return overlaid(without(forwarded, marksOfLists, prefixes), [...ofRun(run, 'fromCallback'), json]);
}

/**
 * Makes the headers of a failure request.
 *
 * @param ofFailure headers that the start gave for forwarding with it; the run's own where it gave no failure callback
 */
export function failureHeaders(
  run: DeliveringRun,
  ofFailure: readonly Header[],
  prefixes: Prefixes,
): readonly Header[] {
  const marks = branded(run.prefix, { 'workflow-is-failure': 'true', 'workflow-failure-callback': 'true' });
  const forwarded = without(forwardedToEndpoint(ofFailure, prefixes), marksOfLists, prefixes);
  return overlaid(forwarded, [...ofRun(run, 'failureCall'), ...marks, json]);
}
