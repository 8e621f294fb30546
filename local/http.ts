/** What the gateway and the stand-ins share: listening, reading a request whole, answering. */
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerOptions,
  type ServerResponse,
} from 'node:http';
import { StageError, isSystemError } from './stageError.ts';

export const loopback = '127.0.0.1';

export interface Listening {
  readonly server: Server;
  readonly port: number;
  readonly url: string;
}

/**
 * Listens on the loopback address.
 *
 * @param port 0 takes any free one
 * @throws StageError when the port is taken or not permitted
 */
export async function listen(
  listener: RequestListener,
  port = 0,
  options: ServerOptions = {},
): Promise<Listening> {
  // Idle connections stay open: a client that keeps one must never find it closed under its next request.
  const server = createServer({ keepAliveTimeout: 3_600_000, ...options }, listener);
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => {
      reject(explained(error, port));
    });
    server.listen(port, loopback, resolve);
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The server has no TCP address.');
  return { server, port: address.port, url: `http://${loopback}:${address.port}` };
}

function explained(error: Error, port: number): Error {
  if (isSystemError(error, 'EADDRINUSE')) {
    return new StageError(
      `Port ${port} is already in use: choose another with --port, or any free one with --port 0.`,
    );
  }
  if (isSystemError(error, 'EACCES')) {
    return new StageError(
      `Port ${port} may not be used without more rights: choose one above 1023 with --port.`,
    );
  }
  return error;
}

/** Stops a stand-in at once, open long polls included. */
export async function close(server: Server): Promise<void> {
  await new Promise<void>((resolve) => {
    server.close(() => {
      resolve();
    });
    server.closeAllConnections();
  });
}

/**
 * Reads a body whole. One that is longer than `limit` bytes is read to its end all the same, so that the client
 * is ready to hear the answer, but not kept.
 *
 * @returns undefined when it was too long
 */
export async function readBody(request: IncomingMessage, limit = Infinity): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size <= limit) chunks.push(chunk);
    else chunks.length = 0;
  }
  return size <= limit ? Buffer.concat(chunks) : undefined;
}

/** An AWS JSON protocol request: its operation, without the service's prefix, and its parsed body. */
export interface Operation {
  readonly name: string;
  readonly input: unknown;
}

/**
 * Reads a request of the AWS JSON protocols 1.0 and 1.1.
 *
 * @returns undefined when it is none
 */
export async function readOperation(request: IncomingMessage): Promise<Operation | undefined> {
  const target = request.headers['x-amz-target'];
  const body = await readBody(request);
  if (typeof target !== 'string' || body === undefined) return undefined;
  try {
    const input: unknown = JSON.parse(body.toString('utf8') || '{}');
    return { name: target.slice(target.lastIndexOf('.') + 1), input };
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
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
