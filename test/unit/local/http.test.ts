import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { close, drain, endWithServer, listen, listenAt } from '../../../local/http.ts';

const settings = { headersTimeout: 100, connectionsCheckingInterval: 20 };

/** Connects to a server whose connections another one accepts. */
async function connectToFed() {
  const { server } = await listen(
    (_request, response) => {
      endWithServer(server, response);
      response.end('東京');
    },
    ...([0, settings, '--port', undefined, true] as const),
  );
  const feeder = createServer((socket) => server.emit('connection', socket));
  const port = await listenAt(feeder, { host: '127.0.0.1', port: 0, flag: '--port' });
  const socket: Socket = connect(port).setEncoding('utf8');
  onTestFinished(async () => {
    socket.destroy();
    feeder.close();
    await close(server);
  });
  return { server, socket };
}

test('a server that another process feeds stops without waiting for idle connections', async () => {
  const { server, socket } = await connectToFed();
  socket.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
  await once(socket, 'data');
  const closed = once(socket, 'close');
  await drain(server, new AbortController().signal);
  await closed;
});

test('a server that another process feeds waits for a head only so long', async () => {
  const { socket } = await connectToFed();
  socket.write('GET / HTTP/1.1\r\nHost:');
  expect(await once(socket, 'data')).toEqual([expect.stringMatching(/^HTTP\/1\.1 408 /)]);
});
