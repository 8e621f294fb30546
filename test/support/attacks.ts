import { connect, type Socket } from 'node:net';

interface Attack {
  readonly what: string;
  readonly method: string;
  readonly path: string;
  readonly body: string;
}

const deep = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels);
const names = (count: number): string =>
  JSON.stringify(Object.fromEntries(Array.from({ length: count }, (_, index) => [`X-${index}`, '1'])));

/** Requests that are expensive for an unprotected service, each 0.5 to 4 MB of JSON. A protected service answers 400. */
export const wrongJson: readonly Attack[] = [
  {
    what: 'two million ids that are none',
    method: 'DELETE',
    path: '/v2/messages',
    body: `{"messageIds":[${'0,'.repeat(2_000_000)}0]}`,
  },
  {
    what: 'two million items of a batch that are none',
    method: 'POST',
    path: '/v2/batch',
    body: `[${'0,'.repeat(2_000_000)}0]`,
  },
  {
    what: '240,000 headers of an item',
    method: 'POST',
    path: '/v2/batch',
    body: `[{"destination":"https://example.com/","headers":${names(240_000)}}]`,
  },
  {
    what: 'lists within lists as a batch',
    method: 'POST',
    path: '/v2/batch',
    body: `[{"destination":${deep(1_000_000)}}]`,
  },
  {
    what: 'lists within lists as a queue',
    method: 'POST',
    path: '/v2/queues',
    body: `{"queueName":${deep(1_000_000)}}`,
  },
  {
    what: 'lists within lists as endpoints',
    method: 'POST',
    path: '/v2/topics/x/endpoints',
    body: `{"endpoints":${deep(1_000_000)}}`,
  },
];

/** Begins an unauthenticated request with a body of 10 MiB, which the caller sends. */
export function beginLargeRequest(url: string): Socket {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => {
    // The service closes the connection, or is killed.
  });
  socket.write(
    `POST /v2/publish/https://example.com/ HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer none\r\nContent-Length: ${10 * 2 ** 20}\r\n\r\n`,
  );
  return socket;
}
