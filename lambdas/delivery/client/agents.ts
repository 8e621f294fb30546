/**
 * The agents of the outgoing HTTP client. They keep a few idle connections for a short time.
 *
 * A process on Lambda may have 1,024 open files and connections, including those to AWS. Node limits the idle
 * connections to each host; these agents limit them for all hosts and both protocols together.
 */
import http from 'node:http';
import https from 'node:https';
import { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import type { SecureContext } from 'node:tls';
import { secondMs } from '../../shared/clock.ts';
import { AnswerConnection } from './answerConnection.ts';

/**
 * How long one of several addresses is tried. Node's default of 250 ms is shorter than a round trip around
 * the world.
 */
const addressTimeoutMs = 2 * secondMs;

/**
 * A silent connection is probed this often, because an answer may take hours. AWS's NAT gateways drop a
 * connection that is silent for 350 s ("NAT gateway basics"), and others do so sooner.
 */
const probeAfterMs = 60 * secondMs;

export type { SecureContext };

interface AgentsOptions {
  readonly ways?: Ways;
  readonly most?: number;
  readonly lifetimeMs?: number;
  /** How long a connection may be idle if the server does not say how long it keeps it. */
  readonly unstatedLifetimeMs?: number;
}

export interface Agents {
  readonly 'http:': http.Agent;
  readonly 'https:': https.Agent;
}

/** Connects to a destination through a proxy. */
export type Reach = (options: http.ClientRequestArgs) => Promise<Socket>;

export type Ways = { readonly [Protocol in keyof Agents]?: Reach | undefined };

/** The system's codes for a lack of descriptors or memory. */
export const shortages: ReadonlySet<unknown> = new Set(['EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM']);

const contextIds = new WeakMap<SecureContext, number>();
let contexts = 0;

function contextId(context: SecureContext): number {
  const id = contextIds.get(context) ?? (contexts += 1);
  contextIds.set(context, id);
  return id;
}

/**
 * Reuses connections and sessions only for requests with the same TLS context. Node does not compare
 * contexts.
 */
function keepApart(agent: https.Agent): void {
  const nameOf = agent.getName.bind(agent);
  agent.getName = (
    options: https.RequestOptions & { readonly secureContext?: SecureContext | undefined } = {},
  ) => {
    const { secureContext } = options;
    return secureContext === undefined
      ? nameOf(options)
      : `${nameOf(options)}:${contextId(secureContext).toString()}`;
  };
}

/** @param reach connects to the destination */
function withAnswerConnections<A extends http.Agent>(agent: A, reach?: Reach): A {
  if (agent instanceof https.Agent) keepApart(agent);
  const connect = agent.createConnection.bind(agent);
  const answering = (socket: unknown): AnswerConnection => {
    if (!(socket instanceof Socket)) throw new Error('The agent has made no socket.');
    socket.setKeepAlive(true, probeAfterMs);
    return new AnswerConnection(socket);
  };
  agent.createConnection =
    reach === undefined
      ? (options) => answering(connect(options))
      : (options, created) => {
          reach(options)
            .then((socket) => {
              socket.setKeepAlive(true, probeAfterMs);
              const way = { ...options, socket };
              created?.(null, answering(agent instanceof https.Agent ? connect(way) : socket));
            })
            .catch((error: unknown) => {
              // A placeholder: there is no connection.
              const failed = new Duplex();
              created?.(error instanceof Error ? error : new Error(String(error)), failed);
            });
          return undefined;
        };
  return agent;
}

const addressTimeout = { autoSelectFamilyAttemptTimeout: addressTimeoutMs } as const;

export const createFreshAgents = (ways: Ways = {}): Agents => ({
  'http:': withAnswerConnections(new http.Agent(addressTimeout), ways['http:']),
  'https:': withAnswerConnections(new https.Agent(addressTimeout), ways['https:']),
});

/**
 * Makes agents that keep connections.
 *
 * A batch has at most ten messages, so a process on Lambda uses at most ten connections at once. A busy host
 * is idle for at most ten seconds between two batches.
 *
 * If the server closes a connection while it is reused, the request has to be sent twice. So an idle
 * connection is closed before the server would close it. Servers keep one for 2 s (Gunicorn), 5 s (Node.js,
 * Apache, Uvicorn), 75 s (nginx) or longer; some say so with `Keep-Alive: timeout=5`.
 */
export function createAgents({
  most = 128,
  lifetimeMs = 10 * secondMs,
  unstatedLifetimeMs = 1.5 * secondMs,
  ways = {},
}: AgentsOptions = {}): Agents {
  /**
   * Idle connections with the timers that end them, longest idle first. A connection that was closed counts
   * until its timer ends.
   */
  const idle = new Map<Duplex, NodeJS.Timeout>();

  const forget = (connection: Duplex): void => {
    clearTimeout(idle.get(connection));
    idle.delete(connection);
  };
  const end = (connection: Duplex): void => {
    forget(connection);
    connection.destroy();
  };
  const keep = (connection: AnswerConnection): void => {
    const [oldest] = idle.keys();
    if (oldest !== undefined && idle.size >= most) end(oldest);
    const idleMs = Math.min(lifetimeMs, connection.idleMs ?? unstatedLifetimeMs);
    // An idle connection must not keep the process running.
    idle.set(connection, setTimeout(end, idleMs, connection).unref());
  };

  const counted = <A extends http.Agent>(agent: A): A => {
    // Declared as void, but returns a boolean.
    const keepSocketAlive: (connection: Duplex) => unknown = agent.keepSocketAlive.bind(agent);
    const reuseSocket = agent.reuseSocket.bind(agent);
    agent.keepSocketAlive = (connection) => {
      if (!(connection instanceof AnswerConnection) || !connection.rest()) return false;
      // False if the server will close the connection; the agent then closes it.
      const isKept = keepSocketAlive(connection);
      if (isKept !== false) keep(connection);
      return isKept;
    };
    agent.reuseSocket = (connection, request) => {
      forget(connection);
      if (connection instanceof AnswerConnection) connection.reuse();
      reuseSocket(connection, request);
    };
    return agent;
  };

  const options = {
    keepAlive: true,
    keepAliveMsecs: probeAfterMs,
    maxFreeSockets: most,
    scheduling: 'lifo',
    ...addressTimeout,
  } as const;
  return {
    'http:': counted(withAnswerConnections(new http.Agent(options), ways['http:'])),
    'https:': counted(withAnswerConnections(new https.Agent(options), ways['https:'])),
  };
}
