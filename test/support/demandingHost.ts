import { readFileSync } from 'node:fs';
import { createServer, type ServerOptions } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { TLSSocket } from 'node:tls';

const folder = join(import.meta.dirname, 'certificates');

/** Reads a file of `certificates/`. */
export const pem = (name: string): string => readFileSync(join(folder, `${name}.pem`), 'utf8');

const certificates = { cert: pem('clients/host'), key: pem('clients/host'), ca: pem('clients/authority') };

/** Starts a host that requires client certificates and keeps connections. */
export async function startDemandingHost(options: ServerOptions = {}) {
  /** The names in the clients’ certificates, in the order of their requests; `undefined` without a certificate. */
  const clients: (string | undefined)[] = [];
  /** The clients’ names by connection. */
  const connections = new Map<TLSSocket, Set<string | undefined>>();
  const server = createServer(
    { ...certificates, requestCert: true, rejectUnauthorized: true, ...options },
    (request, response) => {
      const { socket } = request;
      if (!(socket instanceof TLSSocket)) throw new Error('The host speaks TLS only.');
      const names: unknown = socket.getPeerX509Certificate()?.subject;
      const name = typeof names === 'string' ? names.replace('CN=', '') : undefined;
      clients.push(name);
      connections.set(socket, (connections.get(socket) ?? new Set()).add(name));
      request.resume().on('end', () => response.writeHead(200, { 'keep-alive': 'timeout=60' }).end('ok'));
    },
  );
  server.on('tlsClientError', () => undefined);
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    clients,
    connections,
    close: (): void => {
      server.close();
      server.closeAllConnections();
    },
  };
}
