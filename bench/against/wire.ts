/**
 * HTTP/1.1 with less CPU than Node's client and server take, because the load shares the cores with what it measures. Bodies
 * are one line of Latin-1.
 */
import { createConnection, createServer, type Socket } from 'node:net';
import { loopback } from '../../local/http.ts';
import { BenchError } from '../benchError.ts';
import type { Door } from './contender.ts';

type OnMessage = (head: string, body: string) => void;

const headEnd = '\r\n\r\n';

/** Calls `onMessage` with each request or answer that arrives. */
function read(socket: Socket, onMessage: OnMessage): void {
  let text = '';
  socket.setEncoding('latin1').on('data', (chunk: string) => {
    text += chunk;
    for (let end = endOfMessage(text); end > 0; end = endOfMessage(text)) {
      const bodyAt = text.indexOf(headEnd) + headEnd.length;
      const [head, body] = [text.slice(0, bodyAt), text.slice(bodyAt, end)];
      text = text.slice(end);
      onMessage(head, body);
    }
  });
}

/** @returns -1 if the message has not arrived yet */
function endOfMessage(text: string): number {
  const bodyAt = text.indexOf(headEnd) + headEnd.length;
  if (bodyAt < headEnd.length) return -1;
  const head = text.slice(0, bodyAt);
  if (/\r\ntransfer-encoding: *chunked/i.test(head)) {
    const last = `0${headEnd}`;
    const at = text.startsWith(last, bodyAt) ? bodyAt : text.indexOf(`\r\n${last}`, bodyAt) + 2;
    return at < bodyAt ? -1 : at + last.length;
  }
  const end = bodyAt + Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? 0);
  return end > text.length ? -1 : end;
}

/** Answers each request with 200. @param onRequest gets its body, or its chunks */
export async function startWireServer(onRequest: (body: string) => void) {
  const sockets = new Set<Socket>();
  const server = createServer({ noDelay: true }, (socket) => {
    sockets.add(socket.once('close', () => sockets.delete(socket)).on('error', () => socket.destroy()));
    read(socket, (_head, body) => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n');
      onRequest(body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, loopback, resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new BenchError('The destination has no port.');
  return {
    url: `http://${loopback}:${address.port}/`,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** A connection that posts one message at a time. */
export class Publisher {
  readonly #url: URL;
  readonly #head: string;
  #socket: Socket | undefined;
  #settle: { readonly resolve: () => void; readonly reject: (error: Error) => void } | undefined;

  constructor({ publishUrl, headers }: Door) {
    this.#url = new URL(publishUrl);
    const path = publishUrl.slice(this.#url.origin.length);
    const lines = Object.entries({ ...headers, 'content-type': 'application/json' });
    const told = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('');
    this.#head = `POST ${path} HTTP/1.1\r\nhost: ${this.#url.host}\r\n${told}content-length: `;
  }

  /** @throws BenchError if the answer is not 2XX */
  publish(body: string): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#settle = { resolve, reject };
      this.#socket ??= this.#connect();
      this.#socket.write(`${this.#head}${body.length}${headEnd}${body}`, 'latin1');
    });
  }

  close(): void {
    this.#socket?.destroy();
  }

  #connect(): Socket {
    const { hostname, port } = this.#url;
    const socket = createConnection({ host: hostname, port: Number(port), noDelay: true });
    const fail = (error: Error): void => {
      this.#socket = undefined;
      this.#settle?.reject(error);
    };
    socket.on('error', fail).on('close', () => {
      fail(new BenchError('A contender closed the connection.'));
    });
    read(socket, (head) => {
      const status = head.split(' ', 2)[1] ?? '';
      if (status.startsWith('2')) this.#settle?.resolve();
      else this.#settle?.reject(new BenchError(`A message was answered with ${status}.`));
    });
    return socket;
  }
}
