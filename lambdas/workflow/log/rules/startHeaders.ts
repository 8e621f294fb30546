import { shownUrl } from '../../../shared/urlCredentials.ts';
import { headerName, type Header } from '../../../shared/headers.ts';
import { writeRun } from '../../../options/options.ts';
import { noRedaction, redactHeaders } from '../../../message/redaction.ts';
import { branded } from '../../rules/brands.ts';
import type { RunStart } from '../../rules/journal.ts';

/** Rebuilds the headers of the request that started a run. Redacted values are hashes. */
export function startHeaders(runId: string, start: RunStart): readonly Header[] {
  const { prefix, settings, failureCallback } = start;
  const {
    maxRetries,
    retryDelay,
    labels,
    flowControl,
    fairKey,
    priority,
    redaction = noRedaction,
  } = settings;
  const options = writeRun({
    maxRetries,
    retryDelayExpression: retryDelay,
    labels: labels.length === 0 ? undefined : labels,
    flowControlKey: flowControl?.key,
    ...flowControl,
    fairKey,
    priority,
  });
  const own = branded(prefix, {
    'workflow-init': 'true',
    'workflow-runid': runId,
    'workflow-url': shownUrl(start.url),
    'workflow-sdk-version': start.sdkVersion,
    'feature-set': start.features.length === 0 ? undefined : start.features.join(','),
    ...options,
    'failure-callback': failureCallback && shownUrl(failureCallback.url),
  });
  const forwarded = redactHeaders(start.forwarded, redaction).map(([name, value]): Header => [
    name === 'content-type' ? name : headerName(prefix, `forward-${name}`).toLowerCase(),
    value,
  ]);
  return [...own, ...forwarded];
}
