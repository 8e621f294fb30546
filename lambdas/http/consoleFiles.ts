/** The files of the console and of the documents, built and compressed beforehand. */
import { readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliDecompressSync, gzipSync } from 'node:zlib';
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
  ['.html', 'text/html; charset=utf-8'],
  ['.json', 'application/json'],
  ['.yaml', 'text/plain; charset=utf-8'],
  ['.webp', 'image/webp'],
]);

/** Browsers keep a file for a year (in seconds) if its name contains a hash of its content. */
const cacheControlOf = (name: string): string =>
  /-[0-9A-Za-z]{8,10}\.(?:js|css|svg)$/.test(name) ? 'public, max-age=31536000, immutable' : 'no-cache';

const names: ReadonlySet<string> = new Set(readdirSync(folder));

const isKnown = (name: string): boolean => names.has(`${name}.br`) || names.has(name);

/** The encodings of a file. Most files are stored in the first one. */
const encodings = {
  br: (name: string) => readFileSync(join(folder, `${name}.br`)),
  gzip: (name: string) => gzipSync(contentOf(name, 'identity')),
  identity: (name: string) =>
    names.has(name) ? readFileSync(join(folder, name)) : brotliDecompressSync(contentOf(name, 'br')),
};
type Encoding = keyof typeof encodings;

/** Files are read when they are first requested: most pages of the documents never are. */
const contents = new Map<string, Uint8Array>();

function contentOf(name: string, encoding: Encoding): Uint8Array {
  const key = `${encoding} ${name}`;
  const content = contents.get(key) ?? encodings[encoding](name);
  contents.set(key, content);
  return content;
}

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

const page = Buffer.from(
  readFileSync(join(folder, 'index.html'), 'utf8').replace('%APIS%', settings.consoleApis),
);

export const consolePage = (): Served => ({
  body: page,
  headers: headersOf('text/html; charset=utf-8', 'no-cache'),
});

/** @throws HttpError 404 for an unknown file */
export function consoleFile(name: string, headers: readonly Header[]): Served {
  const type = types.get(extname(name));
  if (type === undefined || !isKnown(name) || name === 'index.html') {
    throw notFound(
      'file_not_found',
      `The console has no file ${quote(name)}. Load its page again: there may be a new version.`,
    );
  }
  const accepted = acceptedEncodings(headers);
  const encoding = (['br', 'gzip'] as const).find((one) => names.has(`${name}.br`) && accepted.has(one));
  return {
    body: contentOf(name, encoding ?? 'identity'),
    headers: {
      ...headersOf(type, cacheControlOf(name)),
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
