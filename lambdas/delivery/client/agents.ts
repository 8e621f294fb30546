/**
 * The agents of the outgoing HTTP client. They keep a few idle connections for a short time, so that the next delivery to the
 * same host need not connect.
 *
 * On Lambda a process may have 1,024 files and connections open, its connections to AWS included. Node bounds the idle
 * connections to one host; these agents bound those to all hosts and of both protocols together.
 */
import http from 'node:http';
import https from 'node:https';
import { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import type { SecureContext } from 'node:tls';
import { secondMs } from '../../shared/clock.ts';
import { AnswerConnection } from './answerConnection.ts';

/**
 * A connection to one of several addresses may take this long before the next address is tried. Node's own quarter of a second is
 * shorter than a round trip around the world.
 */
const addressTimeoutMs = 2 * secondMs;

/**
 * A connection on which nothing comes is probed after this time, and then again and again. NAT gateways of AWS forget one that is
 * silent for 350 s ("NAT gateway basics"), and others do so sooner; an answer may take hours.
 */
const probeAfterMs = 60 * secondMs;

export type { SecureContext };

export interface AgentsOptions {
  readonly ways?: Ways;
  /** Idle connections to all hosts together. */
  readonly most?: number;
  /** The longest that a connection may be idle. */
  readonly lifetimeMs?: number;
  /** The longest that a connection may be idle whose server does not say for how long it keeps it. */
  readonly unstatedLifetimeMs?: number;
}

/** One agent for each protocol. */
export interface Agents {
  readonly 'http:': http.Agent;
  readonly 'https:': https.Agent;
}

/** Reaches a destination for an agent in another way than directly. */
export type Reach = (options: http.ClientRequestArgs) => Promise<Socket>;

/** The ways to destinations that are not reached directly, by their protocol. */
export type Ways = { readonly [Protocol in keyof Agents]?: Reach | undefined };

/** The system's codes for descriptors or memory that are used up. */
export const shortages: ReadonlySet<unknown> = new Set(['EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM']);

const contextIds = new WeakMap<SecureContext, number>();
let contexts = 0;

function contextId(context: SecureContext): number {
  const id = contextIds.get(context) ?? (contexts += 1);
  contextIds.set(context, id);
  return id;
}

/** Keeps connections and sessions of one TLS context from the requests with another, or without one. Node does not compare contexts. */
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

/** Lets an agent read irregular answers. @param reach reaches the destination for it */
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
              // A connection that failed goes to nobody.
              const failed = new Duplex();
              created?.(error instanceof Error ? error : new Error(String(error)), failed);
            });
          return undefined;
        };
  return agent;
}

const addressTimeout = { autoSelectFamilyAttemptTimeout: addressTimeoutMs } as const;

/** Makes agents that open a connection for each request, and keep none. */
export const createFreshAgents = (ways: Ways = {}): Agents => ({
  'http:': withAnswerConnections(new http.Agent(addressTimeout), ways['http:']),
  'https:': withAnswerConnections(new https.Agent(addressTimeout), ways['https:']),
});

/**
 * Makes agents that keep connections; those of both protocols are counted together.
 *
 * A batch is at most ten messages, so a process on Lambda uses ten connections at once. Between two batches a busy host is quiet for
 * ten seconds at most.
 *
 * A request on a connection that its server is about to close is sent twice, so a connection is closed before. Servers keep an idle
 * one for 2 s (Gunicorn), 5 s (Node.js, Apache, Uvicorn), 75 s (nginx) or longer, and some say so with `Keep-Alive: timeout=5`.
 */
export function createAgents({
  most = 128,
  lifetimeMs = 10 * secondMs,
  unstatedLifetimeMs = 1.5 * secondMs,
  ways = {},
}: AgentsOptions = {}): Agents {
  /** Idle connections with the timers that end them, those first that are idle for longest. A closed one counts until its timer ends. */
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
    // An idle connection must not keep a process from ending.
    idle.set(connection, setTimeout(end, idleMs, connection).unref());
  };

  /** Lets an agent keep the connections that may be used again. */
  const counted = <A extends http.Agent>(agent: A): A => {
    // The method returns a boolean, although its type says that it returns nothing.
    const keepSocketAlive: (connection: Duplex) => unknown = agent.keepSocketAlive.bind(agent);
    const reuseSocket = agent.reuseSocket.bind(agent);
    agent.keepSocketAlive = (connection) => {
      if (!(connection instanceof AnswerConnection) || !connection.rest()) return false;
      // False where the server said that it closes the connection; the agent closes it then.
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
