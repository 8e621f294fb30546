/** A tiny reverse proxy before the emulator, which hides where the emulator's front door differs from AWS. */
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Front {
  readonly port: number;
  readonly url: string;
  close(): Promise<void>;
}

interface Rewrite {
  /** Put before the path, which otherwise goes on byte for byte. */
  readonly pathPrefix?: string;
  readonly host?: string;
}

/**
 * Listens on a free loopback port and passes everything on to the emulator's.
 *
 * - The emulator is spoken to in plain HTTP, but it enforces policies, and ours (like those of `cdk bootstrap`)
 *   refuse what does not come over TLS. `X-Forwarded-Proto` tells it that TLS ended here.
 * - An API lives at a host name of its own and below its stage; here it gets a URL that needs no name server.
 *
 * @param rewrite asked for each request, so that a front can listen before what is behind it is known
 */
export async function openFront(emulatorPort: number, rewrite: () => Rewrite): Promise<Front> {
  const server = createServer((incoming, answer) => {
    const { pathPrefix = '', host } = rewrite();
    const headers = dropHeader(incoming.rawHeaders, 'x-forwarded-proto');
    const outgoing = request({
      host: '127.0.0.1',
      port: emulatorPort,
      method: incoming.method,
      path: pathPrefix + (incoming.url ?? '/'),
      setHost: false,
      headers: [
        ...(host === undefined ? headers : [...dropHeader(headers, 'host'), 'Host', host]),
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
  await listen(server);
  const { port } = server.address() as AddressInfo;
  return {
    port,
    url: `http://127.0.0.1:${port.toString()}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => {
          resolve();
        });
        server.closeAllConnections();
      }),
  };
}

export async function freePort(): Promise<number> {
  const server = createServer();
  await listen(server);
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

function listen(server: Server): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
}

/** Headers as Node has them raw: name, value, name, value … */
function dropHeader(raw: readonly string[], name: string): string[] {
  return raw.filter((_, at) => raw[at - (at % 2)]?.toLowerCase() !== name);
}
