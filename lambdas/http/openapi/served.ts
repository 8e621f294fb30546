/** Serves the public descriptions of the APIs. A process makes each once, and a client that already has it gets no body. */
import { createHash } from 'node:crypto';
import { valuesOf } from '../../shared/headers.ts';
import type { ApiResponse } from '../handler.ts';
import type { ApiRequest } from '../request.ts';
import { describeApi, describeManagementApi } from './document.ts';

interface Made {
  /** The JSON around the API's path, the only part that depends on the request. */
  readonly before: string;
  readonly after: string;
  readonly etag: string;
}

/** A text that no description contains. */
const placeholder = '/the-base-path';

function make(describe: (basePath: string) => object): Made {
  const json = JSON.stringify(describe(placeholder));
  const [before = '', after = ''] = json.split(JSON.stringify(placeholder));
  return { before, after, etag: `"${createHash('sha256').update(json).digest('base64url')}"` };
}

const describers = { messaging: describeApi, management: describeManagementApi };
const known = new Map<keyof typeof describers, Made>();

/** Whether the client already has the version with this tag (RFC 9110, 13.1.2). */
const has = ({ headers }: Pick<ApiRequest, 'headers'>, etag: string): boolean =>
  valuesOf(headers, 'if-none-match')
    .flatMap((value) => value.split(','))
    .some((tag) => tag.trim() === '*' || tag.trim().replace(/^W\//, '') === etag);

export function serveDescription(
  of: keyof typeof describers,
  request: Pick<ApiRequest, 'headers' | 'basePath'>,
): ApiResponse {
  const made = known.get(of) ?? make(describers[of]);
  known.set(of, made);
  const { before, after, etag } = made;
  const headers = { 'cache-control': 'public, max-age=3600', etag };
  if (has(request, etag)) return { status: 304, body: new Uint8Array(), headers };
  const server = JSON.stringify(request.basePath === '' ? '/' : request.basePath);
  return {
    status: 200,
    body: Buffer.from(before + server + after),
    headers: { ...headers, 'content-type': 'application/json' },
  };
}
