/** The destinations of named tokens that may publish to some only. Few requests come with such a token, so this is loaded for the first. */
import { forbidden, quote } from '../error/httpError.ts';
import { nameForm } from '../shared/bounds.ts';
import type { Config } from '../shared/config.ts';
import { quoteUrl } from '../shared/urlCredentials.ts';
import { parseAddress, parseDestination, parseUrl, targetOf } from './destination.ts';
import { isFunction, matchesArn } from './functions.ts';

const name = new RegExp(nameForm);

/** The ARN of a Lambda function, in which `*` stands for any characters. */
const arn = /^arn:aws(-cn|-us-gov)?:lambda:[\w*:$-]+$/;

/**
 * Reads a pattern: the name of a URL group or a queue, the ARN of a function, or what a URL begins with.
 *
 * @returns the pattern as it is kept; undefined for a text that is none
 */
export function parsePattern(text: string): string | undefined {
  if (name.test(text) || arn.test(text)) return text;
  try {
    const { origin, pathname, username, password, search, hash } = new URL(parseUrl('It', text));
    const isPlain = [username, password, search, hash].every((part) => part === '') && !/[?#]/.test(text);
    return isPlain && !climbs(pathname) ? `${origin}${pathname}` : undefined;
  } catch {
    return undefined;
  }
}

/** Whether some receivers read a path as one that goes up: `/a/../b`, with the slashes encoded or turned, too. */
function climbs(path: string): boolean {
  try {
    return /(^|[/\\])\.\.([/\\]|$)/.test(decodeURIComponent(path));
  } catch {
    return true;
  }
}

/** Whether a function is as the pattern has it, or a URL has the pattern's scheme, host and port, and its path begins with the pattern's: as it stands, and normalized. */
function begins(pattern: string, url: string): boolean {
  if (isFunction(url)) return isFunction(pattern) && matchesArn(pattern, url);
  if (name.test(pattern) || isFunction(pattern)) return false;
  const [wanted, given] = [new URL(pattern), new URL(url)];
  const [path = ''] = targetOf(url).path.split('?', 1);
  return (
    given.origin === wanted.origin &&
    [path, given.pathname].every((one) => one.startsWith(wanted.pathname)) &&
    !climbs(path)
  );
}

/** The destination, the queue and the options of a message that a request publishes. */
export interface Publication {
  readonly destination: string;
  readonly queueName?: string | undefined;
  readonly config: Config;
}

/** The settings with the URLs of callbacks, those of callbacks included. */
const callbacks = /^((failure-)?callback-?)+$/;

/**
 * Makes the function that refuses what publishes elsewhere. A message may go to a URL or a group of the patterns, or through one of
 * their queues to anywhere; its callbacks may go to a URL of the patterns.
 *
 * @returns a function that throws HttpError 403, or 400 for a destination that is none
 */
export function onlyTo(patterns: readonly string[]): (wanted: Publication) => void {
  const isNamed = (one: string | undefined): boolean => one !== undefined && patterns.includes(one);
  const refuse = (field: string, given: string): Error =>
    forbidden(
      'token_scope_exceeded',
      `${field} is ${given}; the token may only publish to ${patterns.map(quote).join(', ')}.`,
    );
  return ({ destination, queueName, config }) => {
    const parsed = parseDestination(destination);
    const isAllowed =
      parsed.kind === 'group'
        ? isNamed(parsed.name)
        : patterns.some((pattern) => begins(pattern, parsed.url));
    if (!isAllowed && !isNamed(queueName)) throw refuse('The destination', quoteUrl(destination));
    for (const [field, values] of config) {
      if (!callbacks.test(field)) continue;
      for (const value of values) {
        const url = parseAddress(field, value.trim());
        if (!patterns.some((pattern) => begins(pattern, url))) throw refuse(field, quoteUrl(url));
      }
    }
  };
}
