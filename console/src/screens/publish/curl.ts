/** A request to publish as a shell command. */
import { base64Of } from '../../ui/base64.ts';
import { headerPairs, isSetting, requestOf, type Draft, type Pair } from './draft.ts';

/** Quotes a text for every shell that follows POSIX. */
const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** Linux takes no argument of more than 128 KiB. */
const longestArgument = 100_000;

interface Command {
  readonly method?: string | undefined;
  readonly url: string;
  /** Options before the headers, as written. */
  readonly before?: readonly string[];
  readonly headers: readonly Pair[];
  readonly body: string;
  readonly bodyBase64?: string | undefined;
}

function commandOf({ method, url, before = [], headers, body, bodyBase64 }: Command): string {
  // No shell has an argument with a zero byte, and `printf`, which is part of the shell, takes an argument of any length.
  const base64 = bodyBase64 ?? (body.includes('\0') ? base64Of(body) : undefined);
  const piped =
    base64 !== undefined
      ? `printf %s ${quoted(base64)} | base64 -d`
      : body.length > longestArgument
        ? `printf %s ${quoted(body)}`
        : undefined;
  const hasBody = base64 !== undefined || body !== '';
  const hasType = headers.some(([name]) => name === 'Content-Type');
  // With a body, curl sends a POST by itself.
  const isOwn = method === undefined || method === (hasBody ? 'POST' : 'GET');
  return [
    `${piped === undefined ? '' : `${piped} | `}curl ${quoted(url)}`,
    ...(isOwn ? [] : method === 'HEAD' ? ['--head'] : [`-X ${method}`]),
    ...before,
    // curl adds a content type unless the header is removed.
    ...(hasBody && !hasType ? [`-H 'Content-Type:'`] : []),
    // curl takes a header without a value with a semicolon at its end.
    ...headers.map(([name, value]) => `-H ${quoted(value === '' ? `${name};` : `${name}: ${value}`)}`),
    ...(piped !== undefined ? ['--data-binary @-'] : hasBody ? [`--data-raw ${quoted(body)}`] : []),
  ].join(' \\\n  ');
}

/**
 * Makes the command that publishes a draft. The token is the variable `SVC_TOKEN`.
 *
 * @param baseUrl without a slash at its end
 */
export function curlOf(draft: Draft, baseUrl: string): string {
  const { path, headers, query, body = '', bodyBase64 } = requestOf(draft);
  const search = query.map((pair) => pair.map(encodeURIComponent).join('=')).join('&');
  const url = `${baseUrl}/${path}${search === '' ? '' : `?${search}`}`;
  const before = ['-H "Authorization: Bearer $SVC_TOKEN"'];
  return commandOf({ method: 'POST', url, before, headers, body, bodyBase64 });
}

/** Makes the command that sends a message to its destination without the service: as a delivery does, save what only that adds. */
export function directCurlOf(draft: Draft): string {
  const { destination, contentType, body, bodyBase64, settings } = draft;
  const own = headerPairs(draft).filter(([name]) => !isSetting(name));
  const headers: readonly Pair[] = contentType === '' ? own : [['Content-Type', contentType], ...own];
  return commandOf({ method: settings['method'] || 'POST', url: destination, headers, body, bodyBase64 });
}
