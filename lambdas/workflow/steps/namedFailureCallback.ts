import { isDeepStrictEqual } from 'node:util';
import type { Account } from '../../account/account.ts';
import { settings } from '../../aws/settings.ts';
import type { DestinationRules } from '../../destination/destination.ts';
import { HttpError } from '../../error/httpError.ts';
import type { CallbackSettings, DeliverySettings } from '../../message/message.ts';
import { parsePublishOptions, type PublishOptions } from '../../request/publishOptions.ts';
import { now } from '../../shared/clock.ts';
import { scoped, type Config } from '../../shared/config.ts';
import type { RunKey, RunStart, Snapshot } from '../rules/journal.ts';
import { changeRun, settingsOfRun, type Decision } from '../runs/changeRun.ts';
import { hasEnded } from '../run.ts';
import { ordinaryConfig } from './ordinaryConfig.ts';

type Fallback = Pick<DeliverySettings, 'maxRetries' | 'retryDelay' | 'flowControl' | 'fairKey' | 'priority'>;

/** @param config of the message that names the failure callback */
export const failureCallbackIn = (
  config: Config,
  { failureCallback }: Pick<PublishOptions, 'failureCallback'>,
  { maxRetries, retryDelay, flowControl, fairKey, priority }: Fallback,
): CallbackSettings | undefined =>
  failureCallback && {
    ...failureCallback,
    maxRetries: config.has('failure-callback-retries') ? failureCallback.maxRetries : maxRetries,
    retryDelay: failureCallback.retryDelay ?? retryDelay,
    flowControl: failureCallback.flowControl ?? flowControl,
    fairKey: failureCallback.fairKey ?? fairKey,
    priority: failureCallback.priority ?? priority,
  };

export interface TellingConfig {
  readonly config: Config;
  readonly options: PublishOptions;
}

const givenWith = (
  { config, options }: TellingConfig,
  { settings: ofRun }: RunStart,
): CallbackSettings | undefined =>
  failureCallbackIn(config, options, {
    maxRetries: config.has('retries') ? options.maxRetries : ofRun.maxRetries,
    retryDelay: options.retryDelay ?? ofRun.retryDelay,
    flowControl: options.flowControl ?? ofRun.flowControl,
    fairKey: options.fairKey ?? ofRun.fairKey,
    priority: options.priority ?? ofRun.priority,
  });

/**
 * Reads the failure callback that a call or step names for its run. A call names it in its `callback-`
 * headers, because the call can fail without failing the run.
 *
 * @throws HttpError as a publish does
 */
export function givenWithCallback(
  account: Account,
  prefix: string,
  config: Config,
  rules: DestinationRules,
): TellingConfig {
  const inner = ordinaryConfig(scoped(config, 'callback'), false, settings.headerPrefixes);
  const options = parsePublishOptions({ prefix, config: inner, otherHeaders: [] }, account, rules, now());
  return { config: inner, options };
}

/**
 * Reads only the failure callback from a refused submission.
 *
 * @param configs the configurations that may have it, the most important first
 * @returns undefined if there is no valid failure callback
 */
export function givenWithRefused(
  account: Account,
  prefix: string,
  configs: readonly Config[],
  rules: DestinationRules,
): TellingConfig | undefined {
  const found = configs.find((config) => config.has('failure-callback'));
  if (found === undefined) return undefined;
  const config = new Map([...found].filter(([name]) => name.startsWith('failure-callback')));
  const ordinary = ordinaryConfig(config, false, settings.headerPrefixes);
  try {
    const request = { prefix, config: ordinary, otherHeaders: [] };
    return { config, options: parsePublishOptions(request, account, rules, now()) };
  } catch (error) {
    if (!(error instanceof HttpError)) throw error;
    return undefined;
  }
}

/** Headers are not compared: the client takes them from the run's start and repeats them with each step. */
const isSame = (one: CallbackSettings | undefined, { headers: _headers, ...other }: CallbackSettings) => {
  if (one === undefined) return false;
  const { headers: _ofOne, ...rest } = one;
  return isDeepStrictEqual(rest, other);
};

/**
 * Records the failure callback that a submission names, for the rest of the run. Can be repeated.
 *
 * @returns the settings of the run
 */
export async function noteFailureCallback(
  { key, snapshot, start }: { readonly key: RunKey; readonly snapshot: Snapshot; readonly start: RunStart },
  given: TellingConfig | undefined,
): Promise<RunStart> {
  const failureCallback = given && givenWith(given, start);
  if (failureCallback === undefined || isSame(start.failureCallback, failureCallback)) return start;
  const { result = start } = await changeRun(
    key,
    async (current): Promise<Decision<RunStart> | undefined> => {
      if (current?.startSeq !== snapshot.startSeq || hasEnded(current.state)) return undefined;
      const before = await settingsOfRun(key, current);
      if (isSame(before.failureCallback, failureCallback)) return { result: before };
      const after: RunStart = { ...before, failureCallback };
      return { record: { kind: 'settings', at: now(), start: after }, result: after };
    },
  );
  return result;
}
