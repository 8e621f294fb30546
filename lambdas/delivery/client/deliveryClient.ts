/**
 * The outgoing HTTP client, which makes all requests to users' destinations.
 *
 * For each connection a name is resolved once, and one of its addresses is used after all are checked. So if
 * the DNS answer changes after the check, it has no effect.
 *
 * An attempt ends by its deadline and stays within the limits below, however the destination behaves.
 */
import { TransientError } from '../../error/transientError.ts';
import type { Method } from '../../value/method.ts';
import type { Header } from '../../shared/headers.ts';
import http, { type ClientRequest, type IncomingMessage } from 'node:http';
import https from 'node:https';
import { addressOfHost, isOwnHost, isReachable, plainName } from '../../destination/addresses.ts';
import { secondMs } from '../../shared/clock.ts';
import { targetOf, type HostRules, type Target } from '../../destination/destination.ts';
import { chunksOf } from '../../shared/lists.ts';
import { noAnswer, type DestinationResponse } from '../../destination/response.ts';
import { lookupFor, ownHostRefusal, RefusedDestination, refusal } from './ssrfGuard.ts';
import { maxHeadBytes } from './answerConnection.ts';
import { createAgents, createFreshAgents, shortages, type Agents, type SecureContext } from './agents.ts';
import { createResolver, type Resolver } from './nameResolver.ts';
import type { Outbound, Proxy, ProxySettings } from './outboundProxy.ts';

export interface DeliveryRequest {
  readonly url: string;
  readonly method: Method;
  /** Names in lower case. */
  readonly headers: readonly Header[];
  readonly body: Uint8Array;
  /** The timeout of the whole exchange. */
  readonly timeoutMs: number;
  /** The most bytes of the answer's body to read. The rest is cut off. */
  readonly maxResponseBytes: number;
  /** The account's certificates for this host. Requests with other certificates use other connections. */
  readonly secureContext?: SecureContext | undefined;
}

/**
 * Makes one request. Without an answer, the response has status 0 and an error's text.
 *
 * @throws TransientError if this process lacks resources for any request; this does not count as an attempt
 */
type DeliveryClient = (request: DeliveryRequest) => Promise<DestinationResponse>;

/** The time for resolving the name, connecting and the TLS handshake. */
const connectTimeoutMs = 10 * secondMs;

/**
 * The most pieces of an answer's body to read. The rest is cut off. 4 MiB in chunks of one byte would occupy
 * the processor for ten seconds. A language model that streams its answer sends a few thousand pieces.
 */
const mostPieces = 65_536;

/** Informational answers (1xx) before the answer itself; servers send one or two. */
const mostInformational = 32;

/** Characters. Node's error for a wrong certificate lists all of its names. */
const longestError = 1_000;

class ClosedKeptConnection extends Error {}

/**
 * @param rules fixed, or read for each request
 * @param resolver another one in tests
 * @param most idle connections to keep
 */
export function createDeliveryClient(
  rules: HostRules | (() => Promise<HostRules>),
  resolver: Resolver = createResolver(),
  most?: number,
  proxySettings?: ProxySettings,
): DeliveryClient {
  const keeping = createAgents({ ...(most !== undefined && { most }) });
  const fresh = createFreshAgents();
  let loading: Promise<Outbound> | undefined;
  // Few deployments have a proxy, so the code is loaded on first use.
  const outboundOf = (settings: ProxySettings): Promise<Outbound> =>
    (loading ??= import('./outboundProxy.ts').then(({ openOutbound }) =>
      openOutbound(settings, resolver, most),
    ));

  return async (request) => {
    const latest = typeof rules === 'function' ? await rules() : rules;
    const outbound = proxySettings && (await outboundOf(proxySettings));
    const deadline = new AbortController();
    // The timer of `AbortSignal.timeout` would not keep the process from ending during an attempt.
    const timer = setTimeout(() => {
      deadline.abort();
    }, request.timeoutMs);
    const exchangeBy = (kind: 'keeping' | 'fresh'): Promise<DestinationResponse> => {
      const agents = { keeping, fresh }[kind];
      return exchange(request, { kind, agents, resolver, outbound, rules: latest }, deadline.signal);
    };
    try {
      try {
        return await exchangeBy('keeping');
      } catch (error) {
        // The server closed a kept connection just when it was reused, before it saw the request. So the
        // request is repeated once, on a new connection.
        if (!(error instanceof ClosedKeptConnection)) throw error;
        return await exchangeBy('fresh');
      }
    } catch (error) {
      if (isShortage(error))
        throw new TransientError('The process has no room for a connection.', { cause: error });
      return {
        ...noAnswer(describe(error).slice(0, longestError).toWellFormed()),
        isRefusal: error instanceof RefusedDestination,
      };
    } finally {
      clearTimeout(timer);
    }
  };
}

const isShortage = (error: unknown): boolean =>
  error instanceof AggregateError
    ? error.errors.some(isShortage)
    : error instanceof Error && 'code' in error && shortages.has(error.code);

interface Means {
  readonly kind: 'keeping' | 'fresh';
  readonly agents: Agents;
  readonly resolver: Resolver;
  readonly rules: HostRules;
  readonly outbound: Outbound | undefined;
}

function exchange(
  request: DeliveryRequest,
  means: Means,
  deadline: AbortSignal,
): Promise<DestinationResponse> {
  const target = targetOf(request.url);
  const { outbound } = means;
  const proxy = outbound?.proxyOf(target);
  const relay = target.protocol === 'http:' ? proxy : undefined;
  return new Promise((resolve, reject) => {
    const outgoing = open(request, target, proxy, means);
    // Each exchange ends once. Its connection is closed unless it can be reused.
    let isOver = false;
    const end = (isClean: boolean, settle: () => void): void => {
      if (isOver) return;
      isOver = true;
      clearTimeout(connecting);
      deadline.removeEventListener('abort', onDeadline);
      if (!isClean) outgoing.destroy();
      settle();
    };
    const fail: Fail = (errorOf) => {
      end(false, () => {
        reject(errorOf());
      });
    };
    const succeed = (response: DestinationResponse, isComplete: boolean): void => {
      // Only a proxy answers 407.
      if (relay && outbound && response.status === 407) fail(() => outbound.answered(407, 'the request'));
      // A destination that answered early may never read the rest of the request.
      end(isComplete && outgoing.writableFinished, () => {
        resolve(response);
      });
    };
    const connecting = setTimeout(() => {
      fail(() => new Error(`No connection to the destination within ${connectTimeoutMs / secondMs} s.`));
    }, connectTimeoutMs);
    const onDeadline = (): void => {
      fail(() => new Error(`The destination did not answer within ${request.timeoutMs / secondMs} s.`));
    };
    deadline.addEventListener('abort', onDeadline);
    if (deadline.aborted) onDeadline();

    whenConnected(outgoing, target, () => {
      clearTimeout(connecting);
    });
    watch(outgoing, request.maxResponseBytes, succeed, fail);
    try {
      if (relay?.authorization !== undefined) outgoing.setHeader('proxy-authorization', relay.authorization);
      write(outgoing, request, target);
    } catch (error) {
      fail(() => (error instanceof Error ? error : new Error(String(error))));
    }
  });
}

/**
 * Begins a request. Nothing is sent before the body is written.
 *
 * @throws RefusedDestination for a host that is refused without a look-up
 */
function open(
  request: DeliveryRequest,
  target: Target,
  proxy: Proxy | undefined,
  { kind, agents, resolver, outbound, rules }: Means,
): ClientRequest {
  const { hostname, port, path } = target;
  if (isOwnHost(hostname, port, rules.own, path)) throw ownHostRefusal(hostname);
  if (addressOfHost(hostname) !== undefined && !isReachable(hostname, rules.allowed)) {
    throw refusal(hostname, hostname);
  }
  const isTls = target.protocol === 'https:';
  return (isTls ? https : http).request({
    agent: (proxy === undefined ? agents : (outbound?.[kind] ?? agents))[target.protocol],
    // In TLS a host's name has no final dot (RFC 6066, 3).
    host: plainName(hostname),
    port,
    path: proxy === undefined || isTls ? target.path : `http://${target.host}${target.path}`,
    method: request.method,
    auth: request.headers.some(([name]) => name === 'authorization') ? undefined : target.credentials,
    lookup: lookupFor(target, resolver, rules),
    maxHeaderSize: maxHeadBytes,
    setHost: false,
    ...(isTls && request.secureContext !== undefined && { secureContext: request.secureContext }),
  });
}

type Succeed = (response: DestinationResponse, isComplete: boolean) => void;
/**
 * Fails the exchange. The error is made only if it is needed, because that costs CPU and every exchange ends
 * with a close.
 */
type Fail = (errorOf: () => Error) => void;

function watch(outgoing: ClientRequest, maxResponseBytes: number, succeed: Succeed, fail: Fail): void {
  let isAnswering = false;
  let informational = 0;
  outgoing.on('error', (error: NodeJS.ErrnoException) => {
    const isReset = error.code === 'ECONNRESET' || error.code === 'EPIPE';
    const isUnheard = !isAnswering && informational === 0;
    if (isReset && isUnheard && outgoing.reusedSocket) fail(() => new ClosedKeptConnection(error.message));
    else fail(() => (isReset ? closed(isAnswering) : inWords(error)));
  });
  // Node ends some connections without an error.
  outgoing.on('close', () => {
    fail(() => closed(isAnswering));
  });
  outgoing.on('information', () => {
    informational += 1;
    if (informational > mostInformational) {
      fail(
        () => new Error(`The destination sent more than ${mostInformational} informational answers (1xx).`),
      );
    }
  });
  outgoing.on('upgrade', (_incoming, socket) => {
    socket.destroy();
    fail(otherProtocol);
  });
  outgoing.on('response', (incoming) => {
    isAnswering = true;
    // Node emits `response` for a 101 without the header `Upgrade`.
    if (incoming.statusCode === 101) fail(otherProtocol);
    else readResponse(incoming, maxResponseBytes, succeed, fail);
  });
}

/** @throws Error for a header that Node does not accept */
function write(outgoing: ClientRequest, request: DeliveryRequest, target: Target): void {
  outgoing.setHeader('host', target.host);
  for (const [name, value] of request.headers) outgoing.appendHeader(name, value);
  if (request.body.length > 0 || !['GET', 'DELETE'].includes(request.method)) {
    outgoing.setHeader('content-length', request.body.length);
  }
  outgoing.end(request.body);
}

/** Puts the error codes of Node's HTTP parser into words. */
function inWords(error: NodeJS.ErrnoException): Error {
  if (error.code === 'HPE_HEADER_OVERFLOW') {
    return new Error(`The destination answered with more than ${maxHeadBytes} bytes of headers.`);
  }
  if (error.code?.startsWith('HPE_') !== true) return error;
  return new Error(`The destination answered with something that is not HTTP (${error.code}).`);
}

const otherProtocol = (): Error =>
  new Error('The destination answered 101 to go on in another protocol, which was not asked for.');

const closed = (isAnswering: boolean): Error =>
  new Error(
    isAnswering
      ? 'The destination closed the connection before its answer was complete.'
      : 'The destination closed the connection without an answer.',
  );

/** Calls `connected` at once if the connection was kept, or else after the TLS handshake. */
function whenConnected(outgoing: ClientRequest, { protocol }: Target, connected: () => void): void {
  outgoing.once('socket', (socket) => {
    if (outgoing.reusedSocket) connected();
    else socket.once(protocol === 'https:' ? 'secureConnect' : 'connect', connected);
  });
}

/**
 * Reads an answer, up to the limits of bytes and pieces.
 *
 * @param succeed is called with `isComplete` false if the rest was cut off
 */
function readResponse(incoming: IncomingMessage, maxBytes: number, succeed: Succeed, fail: Fail): void {
  // Pieces are copied, because they may be parts of much larger buffers.
  let bytes = Buffer.alloc(0);
  let size = 0;
  let pieces = 0;
  const finish = (isComplete: boolean): void => {
    // `rawHeaders` has names and values in turn. `headers` would lose names such as `__proto__`, which every
    // object has.
    const headers = chunksOf(incoming.rawHeaders, 2).map(([name = '', value = '']): Header => [
      name.toLowerCase(),
      value,
    ]);
    const isCut = isComplete || size === Number(incoming.headers['content-length']) ? undefined : true;
    succeed({ status: incoming.statusCode ?? 0, headers, body: bytes.subarray(0, size), isCut }, isComplete);
  };
  const cutShort = (): void => {
    fail(() => closed(true));
  };
  incoming.on('data', (piece: Buffer) => {
    const needed = Math.min(size + piece.length, maxBytes);
    if (needed > bytes.length) {
      const larger = Buffer.allocUnsafe(Math.min(maxBytes, Math.max(needed, 2 * bytes.length, 4_096)));
      bytes.copy(larger, 0, 0, size);
      bytes = larger;
    }
    piece.copy(bytes, size, 0, needed - size);
    size = needed;
    pieces += 1;
    if (size >= maxBytes || pieces >= mostPieces) finish(false);
  });
  incoming.on('end', () => {
    finish(true);
  });
  incoming.on('error', cutShort);
  incoming.on('close', cutShort);
}

/** If several addresses failed, Node's error has no text. */
function describe(error: unknown): string {
  if (error instanceof AggregateError && error.message === '') {
    return error.errors.map(describe).join('; ');
  }
  return error instanceof Error ? error.message : String(error);
}
