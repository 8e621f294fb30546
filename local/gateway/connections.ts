/** Limits of a server's connections, because clients open them without a token. */
import type { Socket } from 'node:net';
import type { ServerOptions } from 'node:http';
import { secondMs } from '../../lambdas/shared/clock.ts';
import type { Server } from '../http.ts';

export interface ConnectionBounds {
  /** Connections at once. Each takes a file descriptor, and a process has some thousands. */
  readonly most?: number;
  /**
   * Connections at once from one address. This machine and trusted proxies are exempt, because many clients may be behind them.
   */
  readonly mostFromOne?: number;
}

/** Idle connections are closed after this time. Clients keep theirs for a shorter time, and no request takes longer. */
const idleMs = 75 * secondMs;

/** The time for a request's head, from its first byte. */
const headMs = 20 * secondMs;

export const timeBounds: ServerOptions = {
  keepAliveTimeout: idleMs,
  headersTimeout: headMs,
  connectionsCheckingInterval: 5 * secondMs,
};

/**
 * Enforces the limits. Connections beyond them are closed at once.
 *
 * @param isExempt whether an address may have any number
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
