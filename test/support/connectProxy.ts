import { createServer, request, type IncomingHttpHeaders } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';

export interface ProxyRequest {
  readonly method: string;
  /** The URL or the authority that the proxy is asked for. */
  readonly asked: string;
  readonly headers: IncomingHttpHeaders;
}

/**
 * Starts a small HTTP proxy that forwards all requests to one port of this machine.
 *
 * @param answer the status for a request: 200 forwards it, 0 closes the connection
 * @param listenAt the proxy’s port; 0 for a free one
 */
export async function startConnectProxy(
  port: number,
  answer: (of: ProxyRequest) => number = () => 200,
  listenAt = 0,
) {
  const requests: ProxyRequest[] = [];
  const sockets = new Set<Socket>();
  const statusOf = (method = '', asked = '', headers: IncomingHttpHeaders = {}): number => {
    const made = { method, asked, headers };
    requests.push(made);
    return answer(made);
  };
  const server = createServer((incoming, outgoing) => {
    const status = statusOf(incoming.method, incoming.url, incoming.headers);
    if (status !== 200) {
      outgoing.writeHead(status).end('from the proxy');
      return;
    }
    const { pathname, search, host } = new URL(incoming.url ?? '');
    const { 'proxy-authorization': _, ...headers } = incoming.headers;
    incoming.pipe(
      request(
        {
          port,
          host: '127.0.0.1',
          path: `${pathname}${search}`,
          method: incoming.method,
          headers: { ...headers, host },
        },
        (answered) => {
          outgoing.writeHead(answered.statusCode ?? 0, answered.headers);
          answered.pipe(outgoing);
        },
      ),
    );
  });
  server.on('connection', (socket: Socket) => sockets.add(socket));
  server.on('connect', (incoming, socket, head) => {
    const status = statusOf('CONNECT', incoming.url, incoming.headers);
    if (status === 0) {
      socket.destroy();
      return;
    }
    if (status !== 200) {
      socket.end(`HTTP/1.1 ${status} No\r\ncontent-length: 0\r\n\r\n`);
      return;
    }
    const upstream = connect(port, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
      upstream.write(head);
      upstream.pipe(socket).pipe(upstream);
    });
    for (const one of [upstream, socket]) one.on('error', () => undefined);
    upstream.on('close', () => socket.destroy());
  });
  await new Promise<void>((ready) => server.listen(listenAt, '127.0.0.1', ready));
  const { port: own } = server.address() as AddressInfo;
  return {
    requests,
    url: `http://127.0.0.1:${own}`,
    close: (): void => {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
