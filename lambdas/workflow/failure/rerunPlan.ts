import { parseCallbackOverrides, parseOverrides } from '../../request/publishOptions.ts';
import type { Account } from '../../account/account.ts';
import { now } from '../../shared/clock.ts';
import type { CallbackSettings } from '../../message/message.ts';
import { overlaid } from '../rules/forwarding.ts';
import type { RunStart } from '../rules/journal.ts';
import type { RerunKind } from '../rules/resuming.ts';
import type { RunIdentity } from '../../wire/workflowFilters.ts';
import { defined, inherited } from '../../options/options.ts';
import { destinationRules } from '../../destination/rulesOfDeployment.ts';
import type { RetryRequest } from '../../publish/retryDeadLetters.ts';
import type { RerunPlan } from '../runs/copyRun.ts';

/**
 * Replaces settings of the failure callback.
 *
 * @param asked the callback of the request, with defaults for missing settings
 * @param given the settings that the request has; others come from the failed run
 */
function failureCallbackOf(
  failed: RunStart,
  asked: CallbackSettings | undefined,
  given: Partial<CallbackSettings> | undefined,
): CallbackSettings | undefined {
  if (asked === undefined) return failed.failureCallback;
  const { maxRetries, retryDelay, flowControl, fairKey, priority } = failed.settings;
  const before = failed.failureCallback ?? {
    ...asked,
    headers: failed.forwarded,
    maxRetries,
    retryDelay,
    flowControl,
    fairKey,
    priority,
  };
  return { ...before, ...given, url: asked.url, headers: overlaid(before.headers, asked.headers) };
}

/**
 * @returns a function that makes the plan for one run
 * @throws HttpError as a publish does
 */
export async function rerunPlans(
  account: Account,
  kind: RerunKind,
  request: RetryRequest,
): Promise<(failed: RunIdentity) => RerunPlan> {
  const time = now();
  const rules = await destinationRules(request.host, account);
  const { notBefore = time, failureCallback, ...given } = parseOverrides(request, account, rules, time);
  const ofCallback = failureCallback && parseCallbackOverrides(request, 'failure-callback', account);
  const { redaction: _stays, ...ofRun } = defined(inherited(given));
  const isOverridden = Object.keys(ofRun).length > 0;
  return ({ runId, createdAt }) => ({
    kind,
    notBefore,
    startOf: (failed): RunStart => ({
      ...failed,
      settings: { ...failed.settings, ...ofRun },
      // The new settings apply to all later steps, even if old clients send settings with each step.
      features: isOverridden
        ? [...new Set([...failed.features, 'WF_TriggerOnConfig' as const])]
        : failed.features,
      failureCallback: failureCallbackOf(failed, failureCallback, ofCallback),
      // The run that waited for the failed run got its failure, and no longer waits.
      invoker: undefined,
      resumes: { runId, createdAt },
    }),
  });
}
