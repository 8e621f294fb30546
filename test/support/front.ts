import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

/** Faults of a service: it takes a request and does not answer, or stops in the middle of its answer. */
export type Fault = 'silent' | 'halting';

export interface Front {
  readonly url: string;
  readonly connected: (count: number) => Promise<void>;
  /** The number of requests with a fault. */
  readonly faults: () => number;
  /** Makes the next requests fail; all if `times` is not given. */
  readonly fail: (fault: Fault, times?: number) => void;
  readonly mend: () => void;
  readonly close: () => Promise<void>;
}

const beginning =
  'HTTP/1.1 200 OK\r\ncontent-type: application/x-amz-json-1.0\r\ncontent-length: 1000\r\n\r\n{';

/** @param ownPort 0 for any free port */
export async function startFront(target: string, ownPort = 0): Promise<Front> {
  const { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  let fault: Fault | undefined;
  let left = 0;
  let faults = 0;
  let connections = 0;

  const keep = (socket: Socket): Socket => {
    sockets.add(socket);
    // When either end closes, the other closes too.
    return socket.on('error', () => socket.destroy()).on('close', () => sockets.delete(socket));
  };

  const server = createServer((client) => {
    connections += 1;
    const upstream = keep(connect(Number(port), hostname));
    keep(client);
    let isLost = false;
    upstream.on('data', (bytes) => {
      if (!isLost) client.write(bytes);
    });
    client.on('data', (bytes) => {
      if (isLost) return;
      if (fault === undefined || left === 0) {
        upstream.write(bytes);
        return;
      }
      isLost = true;
      left -= 1;
      faults += 1;
      if (fault === 'halting') client.write(beginning);
    });
    client.on('close', () => upstream.destroy());
    upstream.on('close', () => client.destroy());
  });
  server.listen(ownPort, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The front has no TCP address.');

  return {
    url: `http://127.0.0.1:${address.port}`,
    connected: async (count) => {
      const isMet = (): boolean => connections >= count;
      while (!isMet()) await once(server, 'connection');
    },
    faults: () => faults,
    fail: (next, times = Infinity) => {
      fault = next;
      left = times;
      faults = 0;
    },
    mend: () => {
      fault = undefined;
    },
    close: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
