import { base64Of } from '../../ui/base64.ts';
import { headerPairs, isSetting, requestOf, type Draft, type Pair } from './draft.ts';

/** Quotes a text for POSIX shells. */
const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** Linux limits an argument to 128 KiB. */
const longestArgument = 100_000;

interface Command {
  readonly method?: string | undefined;
  readonly url: string;
  /** Options before the headers, already quoted. */
  readonly before?: readonly string[];
  readonly headers: readonly Pair[];
  readonly body: string;
  readonly bodyBase64?: string | undefined;
}

function commandOf({ method, url, before = [], headers, body, bodyBase64 }: Command): string {
  // An argument cannot contain a zero byte. `printf` is built into shells, so the length of its arguments is
  // not limited.
  const base64 = bodyBase64 ?? (body.includes('\0') ? base64Of(body) : undefined);
  const piped =
    base64 !== undefined
      ? `printf %s ${quoted(base64)} | base64 -d`
      : body.length > longestArgument
        ? `printf %s ${quoted(body)}`
        : undefined;
  const hasBody = base64 !== undefined || body !== '';
  const hasType = headers.some(([name]) => name === 'Content-Type');
  // With a body, curl's default method is POST.
  const isOwn = method === undefined || method === (hasBody ? 'POST' : 'GET');
  return [
    `${piped === undefined ? '' : `${piped} | `}curl ${quoted(url)}`,
    ...(isOwn ? [] : method === 'HEAD' ? ['--head'] : [`-X ${method}`]),
    ...before,
    // curl sets a content type unless the header is removed.
    ...(hasBody && !hasType ? [`-H 'Content-Type:'`] : []),
    // In curl, a header without a value ends in a semicolon.
    ...headers.map(([name, value]) => `-H ${quoted(value === '' ? `${name};` : `${name}: ${value}`)}`),
    ...(piped !== undefined ? ['--data-binary @-'] : hasBody ? [`--data-raw ${quoted(body)}`] : []),
  ].join(' \\\n  ');
}

/** Writes a command that publishes a draft. It reads the token from the variable `SVC_TOKEN`. */
export function curlOf(draft: Draft, baseUrl: string): string {
  const { path, headers, query, body = '', bodyBase64 } = requestOf(draft);
  const search = query.map((pair) => pair.map(encodeURIComponent).join('=')).join('&');
  const url = `${baseUrl}/${path}${search === '' ? '' : `?${search}`}`;
  const before = ['-H "Authorization: Bearer $SVC_TOKEN"'];
  return commandOf({ method: 'POST', url, before, headers, body, bodyBase64 });
}

/**
 * Writes a command that sends a message directly to its destination, without headers that only the service
 * can add.
 */
export function directCurlOf(draft: Draft): string {
  const { destination, contentType, body, bodyBase64, settings } = draft;
  const own = headerPairs(draft).filter(([name]) => !isSetting(name));
  const headers: readonly Pair[] = contentType === '' ? own : [['Content-Type', contentType], ...own];
  return commandOf({ method: settings['method'] || 'POST', url: destination, headers, body, bodyBase64 });
}
