/** The options of a workflow message that ordinary messages have, too. */
import { now, secondMs } from '../../shared/clock.ts';
import { scoped, type Config } from '../../shared/config.ts';
import type { Account } from '../../account/account.ts';
import { settings } from '../../aws/settings.ts';
import type { DestinationRules } from '../../destination/destination.ts';
import { canonicalize } from '../../options/dialect.ts';
import { parsePublishOptions, type PublishOptions } from '../../options/publishOptions.ts';
import type { Header } from '../../shared/headers.ts';
import { isForwardedToEndpoint, isForwardedToThirdParty } from '../rules/forwarding.ts';
import type { Prefixes } from '../rules/brands.ts';
import { stepDurationMs } from '../rules/time.ts';

const ofWorkflows = /^((failure-)?callback-)*(workflow-|feature-set$|telemetry-)/;
const forwardScope = /^((?:failure-)?callback-)*forward-/;
const durations = /^((failure-)?callback-)*(delay|timeout)$/;

/** Rounds a moment in Unix seconds up: ordinary messages take whole seconds. */
const wholeSecond = (text: string): string =>
  /^\d+\.\d+$/.test(text) ? String(Math.ceil(Number(text))) : text;

/** Writes a duration of a workflow in the form of an ordinary message. A text of another form stays, for the parser to refuse. */
function ordinaryDuration(text: string): string {
  const ms = stepDurationMs(text);
  return ms === undefined ? text : `${Math.ceil(ms / secondMs)}s`;
}

/**
 * Makes the configuration that the parser of an ordinary message's options reads: without the names that only workflows have,
 * without headers for forwarding that it would refuse, and with durations in its own form.
 *
 * @param isCall whether the message's own headers go to a third party, and not to the endpoint
 */
export function ordinaryConfig(config: Config, isCall: boolean, prefixes: Prefixes): Config {
  const isKept = (name: string): boolean => {
    if (ofWorkflows.test(name)) return false;
    const scope = forwardScope.exec(name)?.[0];
    if (scope === undefined) return true;
    const header = name.slice(scope.length);
    return isCall && scope === 'forward-'
      ? isForwardedToThirdParty(header, prefixes)
      : isForwardedToEndpoint(header, prefixes);
  };
  return new Map(
    [...config].flatMap(([name, values]): [string, readonly string[]][] => {
      if (!isKept(name)) return [];
      if (name === 'not-before') return [[name, values.map(wholeSecond)]];
      return [[name, durations.test(name) ? values.map(ordinaryDuration) : values]];
    }),
  );
}

/**
 * Reads headers of a publish that stand in a submission's body.
 *
 * @throws HttpError as a publish does
 */
export function optionsOfHeaders(
  account: Account,
  prefix: string,
  headers: readonly Header[],
  rules: DestinationRules,
): PublishOptions {
  const { headerPrefixes } = settings;
  const { config } = canonicalize(headers, [], headerPrefixes);
  const ordinary = ordinaryConfig(config, false, headerPrefixes);
  return parsePublishOptions({ prefix, config: ordinary, otherHeaders: [] }, account, rules, now());
}

/** The headers that a publish with these headers would forward. */
export const forwardedBy = (headers: readonly Header[]): readonly Header[] =>
  [...scoped(canonicalize(headers, [], settings.headerPrefixes).config, 'forward')].flatMap(
    ([name, values]) => values.map((value): Header => [name, value]),
  );
