/** Whom to tell of the failure of a run: its start says so, or a later submission, as those of older clients do. */
import { isDeepStrictEqual } from 'node:util';
import type { Account } from '../../account/account.ts';
import { settings } from '../../aws/settings.ts';
import type { DestinationRules } from '../../destination/destination.ts';
import { HttpError } from '../../error/httpError.ts';
import type { CallbackSettings, DeliverySettings } from '../../message/message.ts';
import { canonicalize } from '../../request/dialect.ts';
import { parsePublishOptions, type PublishOptions } from '../../request/publishOptions.ts';
import { now } from '../../shared/clock.ts';
import { scoped, type Config } from '../../shared/config.ts';
import type { Header } from '../../shared/headers.ts';
import type { RunKey, RunStart, Snapshot } from '../rules/journal.ts';
import { changeRun, settingsOfRun, type Decision } from '../runs/changeRun.ts';
import { hasEnded } from '../run.ts';
import { ordinaryConfig } from './ordinaryConfig.ts';

type Fallback = Pick<DeliverySettings, 'maxRetries' | 'retryDelay' | 'flowControl' | 'fairKey' | 'priority'>;

/**
 * Makes the settings of a failure callback: its own, else those of the message that it came with.
 *
 * @param config the configuration of that message
 */
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

/** A submission as far as it tells of a failure callback. */
export interface TellingConfig {
  readonly config: Config;
  readonly options: PublishOptions;
}

/** Picks what a submission tells of the failure of its run. */
export const givenWith = (
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

/** Picks what headers in the body of a submission tell of the failure of its run. @param options read from them */
export const givenInHeaders = (headers: readonly Header[], options: PublishOptions): TellingConfig => ({
  config: canonicalize(headers, [], settings.headerPrefixes).config,
  options,
});

/**
 * Reads what a call tells of the failure of its run: it is below `callback-`, because the call's own failure is not the run's.
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
 * Reads what a refused submission tells of the failure of its run, and nothing else of it.
 *
 * @param configs those in which it may stand; the first that has it counts
 * @returns undefined where none tells it, or it cannot be read either
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

/** The headers are those of the run's start, and come with each step again: others that one step has do not count. */
const isSame = (one: CallbackSettings | undefined, { headers: _headers, ...other }: CallbackSettings) => {
  if (one === undefined) return false;
  const { headers: _ofOne, ...rest } = one;
  return isDeepStrictEqual(rest, other);
};

/**
 * Notes what a submission tells of the failure of its run: it holds for the run from then on. May be repeated without harm.
 *
 * @returns the settings of the run
 */
export async function noteFailureCallback(
  { key, snapshot, start }: { readonly key: RunKey; readonly snapshot: Snapshot; readonly start: RunStart },
  given: TellingConfig | undefined,
): Promise<RunStart> {
  const failureCallback = given && givenWith(given, start);
  if (failureCallback === undefined || isSame(start.failureCallback, failureCallback)) return start;
  const { result } = await changeRun(key, async (current): Promise<Decision<RunStart>> => {
    if (current?.startSeq !== snapshot.startSeq || hasEnded(current.state)) return { result: start };
    const before = await settingsOfRun(key, current);
    if (isSame(before.failureCallback, failureCallback)) return { result: before };
    const after: RunStart = { ...before, failureCallback };
    return { record: { kind: 'settings', at: now(), start: after }, result: after };
  });
  return result;
}
