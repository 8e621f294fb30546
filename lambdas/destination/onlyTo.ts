/** Tokens that are restricted to some destinations. Loaded when needed, because they are rare. */
import { badField, forbidden, quote } from '../error/httpError.ts';
import { nameForm } from '../shared/bounds.ts';
import type { Config } from '../shared/config.ts';
import { headerName } from '../shared/headers.ts';
import { quoteUrl } from '../shared/urlCredentials.ts';
import { parseUrl, targetOf, type Scope } from './destination.ts';
import { arnServices, isArn, matchesArn } from './arns.ts';
import { isPull } from './pull.ts';

/** `group:<name>`, `queue:<name>`, or a group's plain name. */
const named = new RegExp(`^(?:(group|queue):)?(${nameForm.replace(/^\^|\$$/g, '')})$`);

const arn = new RegExp(`^arn:aws(-cn|-us-gov)?:(${arnServices.join('|')}):[\\w*:$./-]+$`);

/**
 * Parses a URL group, a queue, an ARN, or the beginning of a URL. A URL with `*` is refused, because it would
 * match only itself.
 *
 * @returns the pattern to store; undefined if invalid
 */
export function parsePattern(text: string): string | undefined {
  if (named.test(text) || arn.test(text) || isPull(text)) return text;
  try {
    const url = parseUrl('It', text);
    const { origin, pathname, username, password, search, hash } = new URL(url);
    const isPlain = [username, password, search, hash].every((part) => part === '') && !/[?#*]/.test(text);
    return isPlain && !climbs(targetOf(url).path) ? `${origin}${pathname}` : undefined;
  } catch {
    return undefined;
  }
}

/** Decodes a text that may contain unencoded `%`. @throws URIError for bytes that are not UTF-8 */
const decodeWhereEncoded = (text: string): string =>
  text.replace(/(?:%[\da-f]{2})+/gi, (encoded) => decodeURIComponent(encoded));

/** How many nested encodings are decoded. A path with more is refused. */
const mostEncodings = 3;

/**
 * Whether a server may read a path as going up, as in `/a/../b`. The dots may be encoded (even repeatedly),
 * follow backslashes, be wide dots, or be followed by something that servers cut off (`..;a`, `..%00a`, `..
 * `).
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

/**
 * Whether an ARN matches the pattern; or a URL has the pattern's scheme, host and port, and its path begins
 * with the pattern's, both as written and normalized.
 */
function begins(pattern: string, url: string): boolean {
  if (isPull(url)) return pattern === url;
  if (isArn(url)) return isArn(pattern) && matchesArn(pattern, url);
  if (named.test(pattern) || isArn(pattern) || isPull(pattern)) return false;
  const [wanted, given] = [new URL(pattern), new URL(url)];
  const [path = ''] = targetOf(url).path.split('?', 1);
  return (
    given.origin === wanted.origin &&
    [path, given.pathname].every((one) => one.startsWith(wanted.pathname)) &&
    !climbs(path)
  );
}

function names(pattern: string, kind: 'group' | 'queue', name: string): boolean {
  const [, given = 'group', own] = named.exec(pattern) ?? [];
  return given === kind && own === name;
}

/**
 * The ids by which messages replace or repeat each other, or share lines and turns. The ids in a URL group's
 * defaults are not changed.
 */
const ids = /^((failure-)?callback-)*(deduplication-id|debounce-id|flow-control-key|fair-key)$/;

const limitsOfKey = /^((failure-)?callback-)*flow-control-value$/;

function withOwnIds(token: string, config: Config): Config {
  const limits = [...config.keys()].find(
    (name) => limitsOfKey.test(name) && !config.has(name.replace(/value$/, 'key')),
  );
  if (limits !== undefined) throw badField(`${headerName('Svc', limits)} is given without its key.`);
  const own = (text: string): string => text.trim() && `${token}:${text.trim()}`;
  return new Map([...config].map(([name, texts]) => [name, ids.test(name) ? texts.map(own) : texts]));
}

/**
 * Makes the scope of a restricted token. A message may go only to URLs, ARNs or groups that the patterns
 * name, and only through queues that they name. Other calls that a request causes must match their URLs and
 * ARNs.
 *
 * @param known other allowed URLs, exact except for a request's query
 */
export function onlyTo(token: string, patterns: readonly string[], known: readonly string[] = []): Scope {
  const refuse = (field: string, given: string): Error =>
    forbidden(
      'token_scope_exceeded',
      `${field} is ${given}; the token may only publish to ${patterns.map(quote).join(', ')}.`,
    );
  const allows = (url: string): boolean =>
    known.some((one) => url === one || url.startsWith(one + (one.includes('?') ? '&' : '?'))) ||
    patterns.some((pattern) => begins(pattern, url));
  return {
    token,
    own: (config) => withOwnIds(token, config),
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
    withKnown: (urls) => onlyTo(token, patterns, [...known, ...urls]),
  };
}
