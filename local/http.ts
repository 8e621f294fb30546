import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server as HttpServer,
  type ServerOptions,
  type ServerResponse,
} from 'node:http';
import { createServer as createTlsServer, type Server as HttpsServer } from 'node:https';
import { Server as NetServer, type Socket } from 'node:net';
import { loopback, onLoopback, urlOf, type Network } from './network/network.ts';
import { StageError, isSystemError } from './stage/stageError.ts';
import { readCertificate } from './network/tls.ts';

export { loopback };

export type Server = HttpServer | HttpsServer;

/** Wraps a listener, and refuses some requests before they reach it. */
export type Guard = (listener: RequestListener) => RequestListener;

export const noGuard: Guard = (listener) => listener;

interface Listening {
  readonly server: Server;
  readonly port: number;
  readonly url: string;
}

/**
 * Listens, by default only on the loopback address.
 *
 * @param port 0 for a free port
 * @param flag of `npm start` that sets the port
 * @param isFed whether another process accepts the connections and passes them on
 * @throws StageError if the port is taken or not permitted, the machine does not have the address, or the
 * certificate is invalid
 */
export async function listen(
  listener: RequestListener,
  port = 0,
  options: ServerOptions = {},
  flag = '--port',
  network: Network = onLoopback,
  isFed = false,
): Promise<Listening> {
  const { host, tls } = network;
  // Idle connections stay open. A client must not find its connection closed when it sends a request.
  const settings = { keepAliveTimeout: 3_600_000, ...options };
  const server =
    tls === undefined
      ? createServer(settings, listener)
      : createTlsServer({ ...settings, ...readCertificate(tls) }, onlyOverTls(listener));
  server.on('connection', (socket: Socket) => {
    connectionsOf(server).add(socket);
    socket.once('close', () => {
      connectionsOf(server).delete(socket);
    });
  });
  // Since this event, Node keeps track of connections: it closes idle ones, and those whose requests take too
  // long.
  if (isFed) server.emit('listening');
  const listening = isFed ? port : await listenAt(server, { host, port, flag });
  return { server, port: listening, url: urlOf(network, listening) };
}

/**
 * Lets a server listen. Returns its port.
 *
 * @throws StageError as `listen` does
 */
export async function listenAt(server: NetServer, place: Place): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => {
      reject(explained(error, place));
    });
    server.listen(place.port, place.host, resolve);
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The server has no TCP address.');
  return address.port;
}

const onlyOverTls =
  (listener: RequestListener): RequestListener =>
  (request, response) => {
    response.setHeader('strict-transport-security', 'max-age=31536000');
    listener(request, response);
  };

interface Place {
  readonly host: string;
  readonly port: number;
  readonly flag: string;
}

function explained(error: Error, { host, port, flag }: Place): Error {
  if (isSystemError(error, 'EADDRNOTAVAIL')) {
    return new StageError(
      `This machine has no address ${host}: choose one of its addresses with --host, or 0.0.0.0 for all.`,
    );
  }
  if (isSystemError(error, 'EADDRINUSE')) {
    return new StageError(
      `Port ${port} is already in use: choose another with ${flag}, or any free one with ${flag} 0.`,
    );
  }
  if (isSystemError(error, 'EACCES')) {
    return new StageError(
      `Port ${port} may not be used without more rights: choose one above 1023 with ${flag}.`,
    );
  }
  return error;
}

const open = new WeakMap<Server, Set<Socket>>();

/** The open connections of a server, including those accepted by other processes. */
export function connectionsOf(server: Server): Set<Socket> {
  const connections = open.get(server) ?? new Set();
  open.set(server, connections);
  return connections;
}

/** Servers that accept no new connections. */
const closed = new WeakSet<Server>();
/** Servers whose idle connections are closed. */
const draining = new WeakSet<Server>();

/** Closes a connection after its request if the server is stopping. */
export function endWithServer(server: Server, response: ServerResponse): void {
  if (closed.has(server)) response.setHeader('connection', 'close');
  response.once('close', () => {
    if (draining.has(server)) server.closeIdleConnections();
  });
}

/**
 * Makes clients use other processes: accepts no new connections, and ends each open one after its next
 * answer. Resolves when all have ended.
 */
export async function turnAway(server: Server): Promise<void> {
  // The HTTP server's own `close` would also close idle connections, on which a client may be sending a
  // request.
  if (!closed.has(server)) NetServer.prototype.close.call(server, () => undefined);
  closed.add(server);
  for (const socket of connectionsOf(server)) {
    await new Promise((resolve) => {
      if (socket.closed) resolve(undefined);
      else socket.once('close', resolve);
    });
  }
}

/** Stops accepting requests. Resolves when the accepted ones are answered, or `signal` aborts. */
export async function drain(server: Server, signal: AbortSignal): Promise<void> {
  if (draining.has(server)) return;
  draining.add(server);
  const ended = turnAway(server);
  const giveUp = (): void => {
    server.closeAllConnections();
  };
  signal.addEventListener('abort', giveUp);
  server.close(() => undefined);
  server.closeIdleConnections();
  if (signal.aborted) giveUp();
  await ended;
  signal.removeEventListener('abort', giveUp);
}

export async function close(server: Server): Promise<void> {
  await new Promise<void>((resolve) => {
    server.close(() => {
      resolve();
    });
    server.closeAllConnections();
  });
}

/** Reads a whole body of any size. */
export function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  return new Promise((resolve, reject) => {
    // Takes less CPU than iterating over the stream.
    request.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
    });
    request.once('end', () => {
      resolve(Buffer.concat(chunks));
    });
    request.once('error', reject);
    request.once('close', () => {
      if (!request.complete) reject(new Error('The connection was closed within the request.'));
    });
  });
}

/**
 * Ends an answer with its body. An answer to HEAD has no body. It has no length either, because that would
 * have to be GET's (RFC 9110, 8.6).
 */
export function endWith(response: ServerResponse, body: Buffer): void {
  if (response.req.method !== 'HEAD') response.setHeader('Content-Length', body.length);
  response.end(body);
}

export function answerJson(
  response: ServerResponse,
  status: number,
  contentType: string,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  const bytes = Buffer.from(JSON.stringify(body));
  response.writeHead(status, { 'content-type': contentType, 'content-length': bytes.length, ...headers });
  response.end(bytes);
}
