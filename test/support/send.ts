import { request, type OutgoingHttpHeaders } from 'node:http';

/** A request that no client library changes: the path is sent as it is, and a list of values as a line for each. */
export interface RawRequest {
  readonly method?: string;
  /** The path after the base URL. */
  readonly path: string;
  readonly headers?: OutgoingHttpHeaders;
  readonly body?: string | Uint8Array;
}

export interface RawAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly text: string;
}

export function send(
  baseUrl: string,
  { method = 'POST', path, headers, body }: RawRequest,
): Promise<RawAnswer> {
  const { hostname, port, pathname } = new URL(baseUrl);
  return new Promise((answered, failed) => {
    const outgoing = request(
      { hostname, port, method, path: `${pathname.replace(/\/$/, '')}${path}`, headers },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk)).on('error', failed);
        response.on('end', () => {
          answered({
            status: response.statusCode ?? 0,
            headers: response.headers,
            text: Buffer.concat(chunks).toString(),
          });
        });
      },
    );
    outgoing.on('error', failed).end(body);
  });
}
