/** The settings with which a failed run goes on: its own, overridden by those of the request. */
import { parseOverrides } from '../../options/publishOptions.ts';
import type { Account } from '../../account/account.ts';
import { now } from '../../shared/clock.ts';
import { scoped, type Config } from '../../shared/config.ts';
import type { CallbackSettings } from '../../message/message.ts';
import { overlaid } from '../rules/forwarding.ts';
import type { RunStart } from '../rules/journal.ts';
import type { RerunKind } from '../rules/resuming.ts';
import type { RunIdentity } from '../../wire/workflowFilters.ts';
import { destinationRules } from '../../destination/rulesOfDeployment.ts';
import type { RetryRequest } from '../../publish/retryDeadLetters.ts';
import type { RerunPlan } from '../runs/copyRun.ts';

/** The settings of a failure callback that a request may give, each with its name behind `failure-callback-`. */
const ofFailureCallback = {
  method: 'method',
  timeoutMs: 'timeout',
  maxRetries: 'retries',
  retryDelay: 'retry-delay',
  delayMs: 'delay',
  labels: 'label',
  flowControl: 'flow-control-key',
  redaction: 'redact-fields',
} as const satisfies Partial<Record<keyof CallbackSettings, string>>;

/** Makes the failure callback: the URL of the request, with the settings that the request gives, else those of the failed run. */
function failureCallbackOf(
  failed: RunStart,
  given: CallbackSettings | undefined,
  config: Config,
): CallbackSettings | undefined {
  if (given === undefined) return failed.failureCallback;
  const { maxRetries, retryDelay, flowControl } = failed.settings;
  const before = failed.failureCallback ?? {
    ...given,
    headers: failed.forwarded,
    maxRetries,
    retryDelay,
    flowControl,
  };
  const own = scoped(config, 'failure-callback');
  const names: ReadonlyMap<string, string> = new Map(Object.entries(ofFailureCallback));
  const said = Object.entries(given).filter(([field]) => own.has(names.get(field) ?? ''));
  return {
    ...before,
    ...Object.fromEntries(said),
    url: given.url,
    headers: overlaid(before.headers, given.headers),
  };
}

/**
 * Reads how failed runs are to go on.
 *
 * @returns a function that makes the plan for one run
 * @throws HttpError as a publish does
 */
export async function rerunPlans(
  account: Account,
  kind: RerunKind,
  request: RetryRequest,
): Promise<(failed: RunIdentity) => RerunPlan> {
  const time = now();
  const rules = await destinationRules(request.host);
  const overrides = parseOverrides(request, account, rules, time);
  const { notBefore = time, failureCallback, ...given } = overrides;
  const { maxRetries, retryDelay, labels, flowControl } = given;
  const names = ['maxRetries', 'retryDelay', 'labels', 'flowControl'] as const;
  const ofRun = Object.fromEntries(
    Object.entries({ maxRetries, retryDelay, labels, flowControl }).filter(
      ([, value]) => value !== undefined,
    ),
  );
  const isOverridden = names.some((name) => given[name] !== undefined);
  return ({ runId, createdAt }) => ({
    kind,
    notBefore,
    startOf: (failed): RunStart => ({
      ...failed,
      settings: { ...failed.settings, ...ofRun },
      // These settings hold for all that follows, also where old clients give settings with each step.
      features: isOverridden
        ? [...new Set([...failed.features, 'WF_TriggerOnConfig' as const])]
        : failed.features,
      failureCallback: failureCallbackOf(failed, failureCallback, request.config),
      // The invoker was told of the failure, and does not wait any more.
      invoker: undefined,
      resumes: kind === 'resume' ? { runId, createdAt } : undefined,
    }),
  });
}
