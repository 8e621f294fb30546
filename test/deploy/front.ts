/** A small reverse proxy for the emulator. It hides differences between the emulator’s endpoint and AWS. */
import { request } from 'node:http';
import { close, listen } from '../../local/http.ts';

export interface Front {
  readonly port: number;
  readonly url: string;
  close(): Promise<void>;
}

/** An API behind the emulator's gateway, or a function URL. */
export interface Api {
  /** The host name by which the emulator distinguishes APIs. */
  readonly host: string;
  /** A slash and the stage of an API, or the base path of its domain; empty for a function URL. */
  readonly base: string;
  /** The beginning of the path that is not forwarded. */
  readonly prefix?: string;
}

/**
 * Listens on a free loopback port and forwards everything to the emulator.
 *
 * - The emulator speaks plain HTTP, but enforces policies, and ours refuse requests without TLS, like those of `cdk bootstrap`.
 *   `X-Forwarded-Proto` tells it that TLS ended here.
 * - An API has a host name and a stage, and a function URL has a host name. Here both get a URL that needs no name server.
 * - The emulator decodes paths, but AWS gives functions the path as the client wrote it. So paths are encoded once more.
 *
 * @param api finds the API of a request’s path. It is asked for each request, so that a front can listen before its API exists.
 *   Undefined to forward to all of AWS
 */
export async function openFront(
  emulatorPort: number,
  api?: (path: string) => Api | undefined,
): Promise<Front> {
  const {
    server,
    port,
    url: frontUrl,
  } = await listen((incoming, answer) => {
    const url = incoming.url ?? '/';
    const behind = api?.(url);
    if (api !== undefined && behind === undefined) {
      answer.writeHead(503).end();
      return;
    }
    const headers = dropHeader(incoming.rawHeaders, 'x-forwarded-proto');
    const outgoing = request({
      host: '127.0.0.1',
      port: emulatorPort,
      method: incoming.method,
      path: behind === undefined ? url : `${behind.base}${encodePath(url.slice(behind.prefix?.length ?? 0))}`,
      setHost: false,
      headers: [
        ...(behind === undefined ? headers : [...dropHeader(headers, 'host'), 'Host', behind.host]),
        'X-Forwarded-Proto',
        'https',
      ],
      agent: false,
    });
    outgoing.on('response', (response) => {
      answer.writeHead(
        response.statusCode ?? 502,
        dropHeader(dropHeader(response.rawHeaders, 'connection'), 'keep-alive'),
      );
      response.pipe(answer);
      response.on('error', () => answer.destroy());
    });
    outgoing.on('error', () => answer.destroy());
    answer.on('close', () => outgoing.destroy());
    incoming.pipe(outgoing);
  });
  return {
    port,
    url: frontUrl,
    close: () => close(server),
  };
}

export async function freePort(): Promise<number> {
  const { server, port } = await listen(() => undefined);
  await close(server);
  return port;
}

function encodePath(url: string): string {
  const [path = '', ...query] = url.split('?');
  return [path.replaceAll('%', '%25'), ...query].join('?');
}

/** Raw headers of Node: names and values in turn. */
function dropHeader(raw: readonly string[], name: string): string[] {
  return raw.filter((_, at) => raw[at - (at % 2)]?.toLowerCase() !== name);
}

/** An API’s URL on AWS, as the emulator spells <api>.execute-api.<region>.amazonaws.com. A custom domain and its base path stay the same. */
export const apiAt = ({ hostname, pathname }: URL): Api =>
  hostname.endsWith('.amazonaws.com')
    ? { host: `${hostname.split('.')[0] ?? ''}.execute-api.localhost`, base: pathname }
    : { host: hostname, base: pathname === '/' ? '' : pathname };

/** A function URL on AWS, <id>.lambda-url.<region>.on.aws, with a host name of this machine. */
export const functionUrlAt = ({ hostname }: URL): Api => ({
  host: hostname.replace(/on\.aws$/, 'localhost'),
  base: '',
});

/** The API or function URL whose AWS host is the first segment of a path: `/<host>/…`. */
export function hostedAt(path: string): Api | undefined {
  const [prefix, host] = /^\/([a-z0-9-]+\.(?:execute-api|lambda-url)\.[a-z0-9.-]+)/.exec(path) ?? [];
  if (prefix === undefined) return undefined;
  const url = new URL(`https://${host ?? ''}`);
  return url.hostname.endsWith('.on.aws')
    ? { ...functionUrlAt(url), prefix }
    : { ...apiAt(url), base: '', prefix };
}
