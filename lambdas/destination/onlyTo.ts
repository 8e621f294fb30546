/** The destinations of named tokens that may publish to some only. Few requests come with such a token, so this is loaded for the first. */
import { forbidden, quote } from '../error/httpError.ts';
import { nameForm } from '../shared/bounds.ts';
import { quoteUrl } from '../shared/urlCredentials.ts';
import { parseUrl, targetOf, type Scope } from './destination.ts';
import { isArn, matchesArn } from './arns.ts';

/** The name of a URL group or a queue: `group:<name>`, `queue:<name>`, or a plain name, which is that of a group. */
const named = new RegExp(`^(?:(group|queue):)?(${nameForm.replace(/^\^|\$$/g, '')})$`);

/** The ARN of a destination in AWS, in which `*` stands for any characters. */
const arn = /^arn:aws(-cn|-us-gov)?:(lambda|sqs|sns|events):[\w*:$./-]+$/;

/**
 * Reads a pattern: the name of a URL group or a queue, an ARN, or what a URL begins with. In a URL, `*` would look like
 * any text and mean only itself, so it is refused.
 *
 * @returns the pattern as it is kept; undefined for a text that is none
 */
export function parsePattern(text: string): string | undefined {
  if (named.test(text) || arn.test(text)) return text;
  try {
    const url = parseUrl('It', text);
    const { origin, pathname, username, password, search, hash } = new URL(url);
    const isPlain = [username, password, search, hash].every((part) => part === '') && !/[?#*]/.test(text);
    return isPlain && !climbs(targetOf(url).path) ? `${origin}${pathname}` : undefined;
  } catch {
    return undefined;
  }
}

/** Decodes a text in which a `%` may stand for itself. @throws URIError for bytes that are not UTF-8 */
const decodeWhereEncoded = (text: string): string =>
  text.replace(/(?:%[\da-f]{2})+/gi, (encoded) => decodeURIComponent(encoded));

/** Encodings within encodings that are undone; a path with more is refused. */
const mostEncodings = 3;

/**
 * Whether some receivers read a path as one that goes up: `/a/../b`, also where it is encoded (once or more), where slashes are
 * turned, where the dots are wide, or where a server cuts off what follows the dots (`..;a`, `..%00a`, `.. `).
 */
function climbs(path: string): boolean {
  let decoded = path;
  try {
    decoded = decodeURIComponent(path);
    for (let level = 1; level < mostEncodings; level += 1) decoded = decodeWhereEncoded(decoded);
    if (decodeWhereEncoded(decoded) !== decoded) return true;
  } catch {
    return true;
  }
  return decoded
    .normalize('NFKC')
    .split(/[/\\]/)
    .some((segment) => /^\.\.([;\s\p{C}]|$)/u.test(segment.trim()));
}

/** Whether an ARN is as the pattern has it, or a URL has the pattern's scheme, host and port, and its path begins with the pattern's: as it stands, and normalized. */
function begins(pattern: string, url: string): boolean {
  if (isArn(url)) return isArn(pattern) && matchesArn(pattern, url);
  if (named.test(pattern) || isArn(pattern)) return false;
  const [wanted, given] = [new URL(pattern), new URL(url)];
  const [path = ''] = targetOf(url).path.split('?', 1);
  return (
    given.origin === wanted.origin &&
    [path, given.pathname].every((one) => one.startsWith(wanted.pathname)) &&
    !climbs(path)
  );
}

/** Whether a pattern names a URL group or a queue. */
function names(pattern: string, kind: 'group' | 'queue', name: string): boolean {
  const [, given = 'group', own] = named.exec(pattern) ?? [];
  return given === kind && own === name;
}

/**
 * Makes the scope of a token that may not publish to all. A message may go to a URL, ARN or group of the patterns, and through
 * one of their queues only; whatever else a request can make the service call is held to their URLs and ARNs.
 *
 * @param known URLs that are allowed besides, to the letter, but for a query that a request adds
 */
export function onlyTo(patterns: readonly string[], known: readonly string[] = []): Scope {
  const refuse = (field: string, given: string): Error =>
    forbidden(
      'token_scope_exceeded',
      `${field} is ${given}; the token may only publish to ${patterns.map(quote).join(', ')}.`,
    );
  const allows = (url: string): boolean =>
    known.some((one) => url === one || url.startsWith(one + (one.includes('?') ? '&' : '?'))) ||
    patterns.some((pattern) => begins(pattern, url));
  return {
    allows,
    refuse: (field, url) => {
      if (!allows(url)) throw refuse(field, quoteUrl(url));
    },
    refuseGroup: (field, name) => {
      if (!patterns.some((pattern) => names(pattern, 'group', name))) throw refuse(field, quote(name));
    },
    refuseQueue: (field, name) => {
      if (!patterns.some((pattern) => names(pattern, 'queue', name))) throw refuse(field, quote(name));
    },
    withKnown: (urls) => onlyTo(patterns, [...known, ...urls]),
  };
}
