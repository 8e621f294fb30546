import { secondMs } from '../../shared/clock.ts';
import type { Config } from '../../shared/config.ts';
import { isForwardedToEndpoint, isForwardedToThirdParty } from '../rules/forwarding.ts';
import type { Prefixes } from '../rules/brands.ts';
import { stepDurationMs } from '../rules/time.ts';

const ofWorkflows = /^((failure-)?callback-)*(workflow-|feature-set$|telemetry-)/;
const forwardScope = /^((?:failure-)?callback-)*forward-/;
const durations = /^((failure-)?callback-)*(delay|timeout)$/;

/** Rounds Unix seconds up. Ordinary messages accept only whole seconds. */
const wholeSecond = (text: string): string =>
  /^\d+\.\d+$/.test(text) ? String(Math.ceil(Number(text))) : text;

/**
 * Converts a duration. A malformed one is left unchanged, so that the parser of ordinary messages refuses it.
 */
function ordinaryDuration(text: string): string {
  const ms = stepDurationMs(text);
  return ms === undefined ? text : `${Math.ceil(ms / secondMs)}s`;
}

/**
 * Makes the configuration that the parser of ordinary options accepts: removes names and forwarded headers
 * that it would refuse, and converts durations.
 *
 * @param isCall whether the message goes to a third party, not to the endpoint
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
