/**
 * The headers of a run's requests to its endpoint. Calls to third parties are ordinary messages without these
 * headers.
 */
import type { Header } from '../../shared/headers.ts';
import { brandless, branded, type Prefixes } from '../rules/brands.ts';
import { forwardedByRun, forwardedToEndpoint, overlaid } from '../rules/forwarding.ts';
import type { RunStart } from '../rules/journal.ts';
import type { Run } from '../run.ts';
import type { CallType } from '../../wire/states.ts';

const protocolVersion = '1';

export interface DeliveringRun
  extends Run, Pick<RunStart, 'prefix' | 'forwarded' | 'sdkVersion' | 'isUnknownClient'> {}

/** Bodies for endpoints are always JSON, whichever type the payload has. */
const json: Header = ['content-type', 'application/json'];

const ofRun = (run: DeliveringRun, callType: CallType): readonly Header[] =>
  branded(run.prefix, {
    'workflow-runid': run.runId,
    'workflow-createdat': String(run.createdAt),
    'workflow-url': run.url,
    'workflow-init': 'false',
    'workflow-calltype': callType,
  });

/** Removes headers of the service, with any accepted prefix. */
const without = (
  headers: readonly Header[],
  names: readonly string[],
  prefixes: Prefixes,
): readonly Header[] => headers.filter(([name]) => !names.includes(brandless(name, prefixes) ?? ''));

const marksOfLists = ['workflow-sdk-version', 'workflow-unknown-sdk'] as const;

/**
 * Makes the headers of a delivery of entries. They name the client's version; otherwise the endpoint would
 * start another run.
 *
 * @param own forwarded headers of the delivered message itself
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
 * @param ofFailure headers that the start forwards to the failure callback, or those of the run if there are
 * none
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
