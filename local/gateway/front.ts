/** The server in front of functions. It limits connections, because opening one requires no token. */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerOptions, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { CodeOf, ErrorStatus } from '../../lambdas/error/errorCodes.ts';
import { secondMs } from '../../lambdas/shared/clock.ts';
import {
  answerJson,
  connectionsOf,
  drain,
  endWithServer,
  listen,
  noGuard,
  turnAway,
  type Guard,
  type Server,
} from '../http.ts';
import { TimedOut } from '../lambda/lambda.ts';
import { isManyClients, onLoopback, originsBehind, type Network, type OriginOf } from '../network/network.ts';
import { renewCertificate } from '../network/tls.ts';
import { Intake, type AccountOf, type IntakeBounds } from './intake.ts';
import { mostReadBytes, refuseUnreadable } from './unreadable.ts';

export interface Front {
  readonly port: number;
  readonly url: string;
  readonly take: (socket: Socket) => void;
  /** Makes clients use other processes. Resolves when all connections have ended. */
  readonly turnAway: () => Promise<void>;
  /** Stops accepting requests. Resolves when the accepted ones are answered, or `signal` aborts. */
  stop(signal: AbortSignal): Promise<void>;
}

export interface FrontOptions {
  readonly port: number;
  /** Whether another process accepts connections and passes them on. */
  readonly isFed?: boolean | undefined;
  /** Resolves when the functions are loaded. Requests that arrive earlier wait for this. */
  readonly ready: Promise<void>;
  readonly report: (error: unknown) => void;
  readonly guard?: Guard | undefined;
  /** Default: only the loopback address. */
  readonly network?: Network | undefined;
  /** Finds the account whose memory a large body uses. Default: one account for all. */
  readonly accountOf?: AccountOf | undefined;
  readonly bounds?: ConnectionBounds & Omit<IntakeBounds, 'largest'>;
}

/** How requests are answered. */
interface Answers {
  /** The flag of `npm start` that sets the port. */
  readonly flag: string;
  /** Bytes of the largest body. */
  readonly largest: number;
  readonly answer: (request: IncomingMessage, response: ServerResponse, door: Door) => Promise<void>;
  /** Answers when a function has failed. */
  readonly fail: (response: ServerResponse) => void;
}

export interface Door {
  readonly originOf: OriginOf;
  readonly intake: Intake;
  readonly requestId: string;
}

export async function startFront(options: FrontOptions, answers: Answers): Promise<Front> {
  const { port, isFed, report, guard = noGuard, network = onLoopback, accountOf, bounds } = options;
  const originOf = originsBehind(network);
  const intake = new Intake({ ...bounds, largest: answers.largest }, accountOf);
  const { server, ...listening } = await listen(
    guard((request, response) => {
      const requestId = randomUUID();
      response.setHeader('x-amzn-RequestId', requestId);
      endWithServer(server, response);
      answers.answer(request, response, { originOf, intake, requestId }).catch((error: unknown) => {
        if (request.errored !== null) return;
        report(error);
        if (response.headersSent) response.destroy();
        else if (error instanceof TimedOut) answerTooBusy(response);
        else answers.fail(response);
      });
    }),
    port,
    // More than the gateway's limit, so that the gateway refuses larger heads, not Node. Lambda's limit is
    // not documented.
    { ...timeBounds, maxHeaderSize: mostReadBytes },
    answers.flag,
    network,
    isFed,
  );
  renewCertificate(server, network, report);
  server.on('clientError', refuseUnreadable);
  boundConnections(server, isManyClients(network), bounds);
  return {
    ...listening,
    take: (socket) => {
      server.emit('connection', socket);
    },
    turnAway: () => turnAway(server),
    stop: (signal) => drain(server, signal),
  };
}

export function refuse<Status extends ErrorStatus>(
  response: ServerResponse,
  status: Status,
  code: CodeOf<Status>,
  error: string,
  headers?: Record<string, string>,
): void {
  answerJson(response, status, 'application/json', { error, code }, headers);
}

export const tooLateToAnswer =
  'The service did not answer in time. The request may still take effect; send it again if that does no harm.';

/**
 * Answers when a function took too long. On AWS a function hangs then, and the answer is 502. On one machine,
 * all functions share the cores and have too much to do.
 */
function answerTooBusy(response: ServerResponse): void {
  refuse(response, 503, 'service_timeout', tooLateToAnswer, { 'retry-after': '1' });
}

interface ConnectionBounds {
  /** The most connections. Each takes a file descriptor, and a process has some thousands. */
  readonly most?: number;
  /**
   * The most connections from one address. This machine and trusted proxies may have more, because many
   * clients may be behind them.
   */
  readonly mostFromOne?: number;
}

/** Idle connections are closed after this time. Clients close theirs earlier, and no request takes longer. */
const idleMs = 75 * secondMs;

/** How long a request's head may take from its first byte. */
const headMs = 20 * secondMs;

const timeBounds: ServerOptions = {
  keepAliveTimeout: idleMs,
  headersTimeout: headMs,
  connectionsCheckingInterval: 5 * secondMs,
};

/**
 * Enforces the limits. Connections above them are closed at once.
 *
 * @param isExempt whether an address may have any number of connections
 */
export function boundConnections(
  server: Server,
  isExempt: (address: string) => boolean,
  { most = 4_000, mostFromOne = 200 }: ConnectionBounds = {},
): void {
  server.timeout = idleMs;
  const counts = new Map<string, number>();
  server.on('connection', (socket: Socket) => {
    if (connectionsOf(server).size > most) {
      socket.destroy();
      return;
    }
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
