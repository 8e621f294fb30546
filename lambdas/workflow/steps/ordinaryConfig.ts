/** The part of a workflow message's configuration that every message has. */
import { secondMs } from '../../shared/clock.ts';
import type { Config } from '../../shared/config.ts';
import { isForwardedToEndpoint, isForwardedToThirdParty } from '../rules/forwarding.ts';
import type { Prefixes } from '../rules/brands.ts';
import { stepDurationMs } from '../rules/time.ts';

const ofWorkflows = /^((failure-)?callback-)*(workflow-|feature-set$|telemetry-)/;
const forwardScope = /^((?:failure-)?callback-)*forward-/;
const durations = /^((failure-)?callback-)*(delay|timeout)$/;

/** A moment in Unix seconds, of which an ordinary message has whole ones. */
const wholeSecond = (text: string): string =>
  /^\d+\.\d+$/.test(text) ? String(Math.ceil(Number(text))) : text;

/** Writes a duration of a workflow as an ordinary message has it; one that cannot be read stays, and is refused there. */
function ordinaryDuration(text: string): string {
  const ms = stepDurationMs(text);
  return ms === undefined ? text : `${Math.ceil(ms / secondMs)}s`;
}

/**
 * Leaves what the parser of an ordinary message's options reads: without what only workflows know, without headers for
 * forwarding that it would refuse, and with durations in its own form.
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
