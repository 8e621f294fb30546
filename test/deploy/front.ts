/** A tiny reverse proxy before the emulator, which hides where the emulator's endpoint differs from AWS. */
import { request } from 'node:http';
import { close, listen } from '../../local/http.ts';

export interface Front {
  readonly port: number;
  readonly url: string;
  close(): Promise<void>;
}

/** An API behind the emulator's gateway, or a function URL. */
export interface Api {
  /** The host name by which the emulator tells them apart. */
  readonly host: string;
  /** The stage of an API, behind a slash; nothing for a function URL. */
  readonly base: string;
  /** The beginning of the request's path that is not passed on. */
  readonly prefix?: string;
}

/**
 * Listens on a free loopback port and passes everything on to the emulator's.
 *
 * - The emulator is spoken to in plain HTTP, but it enforces policies, and ours (like those of `cdk bootstrap`)
 *   refuse what does not come over TLS. `X-Forwarded-Proto` tells it that TLS ended here.
 * - An API lives at a host name of its own and below its stage, a function URL at a host name; here it gets a URL that needs no name server.
 * - The emulator decodes the path before its gateway sees it, and functions get it decoded; on AWS they get it as
 *   the client wrote it. Encoded once more on the way, it arrives as it does there.
 *
 * @param api asked for each request and its path, so that a front can listen before its API is there; none: all of AWS
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

/** Headers as Node has them raw: name, value, name, value … */
function dropHeader(raw: readonly string[], name: string): string[] {
  return raw.filter((_, at) => raw[at - (at % 2)]?.toLowerCase() !== name);
}

/** An API's URL on AWS, in the emulator's spelling of <api>.execute-api.<region>.amazonaws.com; a custom domain is spelled the same. */
export const apiAt = ({ hostname, pathname }: URL): Api =>
  hostname.endsWith('.amazonaws.com')
    ? { host: `${hostname.split('.')[0] ?? ''}.execute-api.localhost`, base: pathname }
    : { host: hostname, base: '' };

/** A function URL on AWS, <id>.lambda-url.<region>.on.aws, in a spelling that names this machine. */
export const functionUrlAt = ({ hostname }: URL): Api => ({
  host: hostname.replace(/on\.aws$/, 'localhost'),
  base: '',
});

/** The API or function URL that a path names by its first segment, its host on AWS: `/<host>/…`. */
export function hostedAt(path: string): Api | undefined {
  const [prefix, host] = /^\/([a-z0-9-]+\.(?:execute-api|lambda-url)\.[a-z0-9.-]+)/.exec(path) ?? [];
  if (prefix === undefined) return undefined;
  const url = new URL(`https://${host ?? ''}`);
  return url.hostname.endsWith('.on.aws')
    ? { ...functionUrlAt(url), prefix }
    : { ...apiAt(url), base: '', prefix };
}
