/** A request to publish as a shell command. */
import { base64Of } from '../../ui/base64.ts';
import { requestOf, type Draft } from './draft.ts';

/** Quotes a text for every shell that follows POSIX. */
const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** Linux takes no argument of more than 128 KiB. */
const longestArgument = 100_000;

/**
 * Makes the command that publishes a draft. The token is the variable `SVC_TOKEN`.
 *
 * @param baseUrl without a slash at its end
 */
export function curlOf(draft: Draft, baseUrl: string): string {
  const { path, headers, query, body = '', bodyBase64 } = requestOf(draft);
  const search = query.map((pair) => pair.map(encodeURIComponent).join('=')).join('&');
  const url = `${baseUrl}/${path}${search === '' ? '' : `?${search}`}`;
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
  return [
    `${piped === undefined ? '' : `${piped} | `}curl ${quoted(url)}`,
    ...(hasBody ? [] : ['-X POST']),
    '-H "Authorization: Bearer $SVC_TOKEN"',
    // curl adds a type of its own unless the header is removed.
    ...(hasBody && !hasType ? [`-H 'Content-Type:'`] : []),
    // curl takes a header without a value with a semicolon at its end.
    ...headers.map(([name, value]) => `-H ${quoted(value === '' ? `${name};` : `${name}: ${value}`)}`),
    ...(piped !== undefined ? ['--data-binary @-'] : hasBody ? [`--data-raw ${quoted(body)}`] : []),
  ].join(' \\\n  ');
}
