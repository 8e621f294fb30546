/**
 * The console's files, built and compressed beforehand. Names in `index.html` contain content hashes, so browsers keep those
 * files forever.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Header } from '../shared/headers.ts';
import { notFound, quote } from '../error/httpError.ts';
import { settings } from '../aws/settings.ts';

/**
 * In the function's bundle. The local stage builds them when the console is first opened, after settings are
 * read.
 */
const folder = process.env['CONSOLE_DIRECTORY'] ?? fileURLToPath(new URL('./console/', import.meta.url));

const types: ReadonlyMap<string, string> = new Map([
  ['.js', 'text/javascript; charset=utf-8'],
  ['.css', 'text/css; charset=utf-8'],
  ['.svg', 'image/svg+xml'],
]);

/** Smallest first. */
const encodings = [
  ['br', '.br'],
  ['gzip', '.gz'],
] as const;

const files: ReadonlyMap<string, Uint8Array> = new Map(
  readdirSync(folder).map((name) => [name, readFileSync(join(folder, name))]),
);

/**
 * Only the page's own files may run, and they may call only their own API, because any script in the page
 * could read the token.
 */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

interface Served {
  readonly body: Uint8Array;
  readonly headers: Readonly<Record<string, string>>;
}

/** A year, in seconds. */
const forEver = 'public, max-age=31536000, immutable';

const page = Buffer.from(
  Buffer.from(files.get('index.html') ?? '')
    .toString()
    .replace('%APIS%', settings.consoleApis),
);

export const consolePage = (): Served => ({
  body: page,
  headers: headersOf('text/html; charset=utf-8', 'no-cache'),
});

/** @throws HttpError 404 for an unknown file */
export function consoleFile(name: string, headers: readonly Header[]): Served {
  const plain = files.get(name);
  const type = types.get(extname(name));
  if (plain === undefined || type === undefined) {
    throw notFound(
      'file_not_found',
      `The console has no file ${quote(name)}. Load its page again: there may be a new version.`,
    );
  }
  const accepted = acceptedEncodings(headers);
  const [encoding, end] = encodings.find(([one, end]) => accepted.has(one) && files.has(name + end)) ?? [];
  return {
    body: files.get(name + (end ?? '')) ?? plain,
    headers: {
      ...headersOf(type, forEver),
      vary: 'accept-encoding',
      ...(encoding !== undefined && { 'content-encoding': encoding }),
    },
  };
}

const headersOf = (type: string, cacheControl: string): Readonly<Record<string, string>> => ({
  'content-type': type,
  'cache-control': cacheControl,
  'content-security-policy': policy,
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
});

/** Reads `Accept-Encoding`. An encoding with weight 0 is refused. */
function acceptedEncodings(headers: readonly Header[]): ReadonlySet<string> {
  const items = headers
    .filter(([name]) => name === 'accept-encoding')
    .flatMap(([, value]) => value.split(','));
  const parsed = items.map((item) =>
    item
      .trim()
      .toLowerCase()
      .split(/\s*;\s*/),
  );
  return new Set(
    parsed.flatMap(([name = '', weight]) =>
      weight !== undefined && /^q=0(\.0*)?$/.test(weight) ? [] : name,
    ),
  );
}
