/** The headers of the request that started a run, as records of the run show them. */
import { shownUrl } from '../../../shared/urlCredentials.ts';
import { headerName, type Header } from '../../../shared/headers.ts';
import { noRedaction, redactHeaders } from '../../../options/redaction.ts';
import { branded } from '../../rules/brands.ts';
import type { RunStart } from '../../rules/journal.ts';

/** Writes limits as `Flow-Control-Value` has them; those that are not set are left out. */
const limitsText = (limits: Readonly<Record<string, number | undefined>>): string =>
  Object.entries(limits)
    .flatMap(([name, value]) => (value === undefined ? [] : [`${name}=${value}`]))
    .join(', ');

/** Makes the headers from the settings of a run and from what it forwards; redacted values are shown as hashes. */
export function startHeaders(runId: string, start: RunStart): readonly Header[] {
  const { prefix, settings, failureCallback } = start;
  const { flowControl, redaction = noRedaction, labels } = settings;
  const own = branded(prefix, {
    'workflow-init': 'true',
    'workflow-runid': runId,
    'workflow-url': shownUrl(start.url),
    'workflow-sdk-version': start.sdkVersion,
    'feature-set': start.features.length === 0 ? undefined : start.features.join(','),
    retries: String(settings.maxRetries),
    'retry-delay': settings.retryDelay,
    label: labels.length === 0 ? undefined : labels.join(','),
    'flow-control-key': flowControl?.key,
    'flow-control-value':
      flowControl &&
      limitsText({
        parallelism: flowControl.parallelism,
        rate: flowControl.rate,
        period: flowControl.period,
      }),
    'failure-callback': failureCallback && shownUrl(failureCallback.url),
  });
  const forwarded = redactHeaders(start.forwarded, redaction).map(([name, value]): Header => [
    name === 'content-type' ? name : headerName(prefix, `forward-${name}`).toLowerCase(),
    value,
  ]);
  return [...own, ...forwarded];
}
