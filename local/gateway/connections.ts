/** The bounds of a server's connections: strangers open them without a token. */
import type { Socket } from 'node:net';
import type { ServerOptions } from 'node:http';
import { secondMs } from '../../lambdas/shared/clock.ts';
import type { Server } from '../http.ts';

export interface ConnectionBounds {
  /** Connections at once; each takes a descriptor, and a process has some thousands. */
  readonly most?: number;
  /** Connections at once from one address that is not this machine's, nor a trusted proxy's: these may have many clients behind them. */
  readonly mostFromOne?: number;
}

/** A connection on which nothing happens is closed after this: longer than any request takes, and than clients keep idle ones. */
const idleMs = 75 * secondMs;

/** The time for the head of a request, from its first byte on. */
const headMs = 20 * secondMs;

/** The limits of time that Node itself holds servers to. */
export const timeBounds: ServerOptions = {
  keepAliveTimeout: idleMs,
  headersTimeout: headMs,
  connectionsCheckingInterval: 5 * secondMs,
};

/**
 * Holds a server to its bounds. A connection beyond them is closed at once.
 *
 * @param isExempt whether an address may have as many as it likes
 */
export function boundConnections(
  server: Server,
  isExempt: (address: string) => boolean,
  { most = 4_000, mostFromOne = 200 }: ConnectionBounds = {},
): void {
  server.maxConnections = most;
  server.timeout = idleMs;
  const counts = new Map<string, number>();
  server.on('connection', (socket: Socket) => {
    const address = socket.remoteAddress ?? '';
    if (isExempt(address)) return;
    const count = (counts.get(address) ?? 0) + 1;
    if (count > mostFromOne) {
      socket.destroy();
      return;
    }
    counts.set(address, count);
    socket.once('close', () => {
      const left = (counts.get(address) ?? 1) - 1;
      if (left > 0) counts.set(address, left);
      else counts.delete(address);
    });
  });
}
