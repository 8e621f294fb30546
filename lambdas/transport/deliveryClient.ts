/**
 * The outgoing HTTP client: every request that leaves the service for a user's destination is made here.
 *
 * A name is resolved once for a connection, every address it has is checked, and the connection goes to those
 * addresses: a DNS answer that changes between a check and a use has nothing to change. Connections are kept alive;
 * a kept one leads where it was checked to lead.
 */
import { lookup as resolve, type LookupAddress } from 'node:dns';
import http, { type ClientRequest, type IncomingMessage } from 'node:http';
import https from 'node:https';
import type { LookupFunction } from 'node:net';
import { addressOfHost, isReachable, type AllowedDestinations } from '../domain/addresses.ts';
import { secondMs } from '../domain/clock.ts';
import type { Method } from '../domain/configuration.ts';
import { targetOf } from '../domain/destination.ts';
import type { Header } from '../domain/dialect.ts';
import type { DestinationResponse } from '../domain/outcome.ts';

export interface DeliveryRequest {
  readonly url: string;
  readonly method: Method;
  /** Names in lower case. */
  readonly headers: readonly Header[];
  readonly body: Uint8Array;
  /** For the whole of it: resolving, connecting, sending, and reading the answer. */
  readonly timeoutMs: number;
  /** How much of the answer's body is read; the rest is cut off. */
  readonly maxResponseBytes: number;
}

/** Makes one request. A destination that gives no answer is status 0 and an error's text, never an exception. */
export type DeliveryClient = (request: DeliveryRequest) => Promise<DestinationResponse>;

/** Resolves a name to all its addresses, as `dns.lookup` does. */
export type Resolver = (hostname: string) => Promise<readonly LookupAddress[]>;

/** What is not connected by then will not be. */
const connectTimeoutMs = 10 * secondMs;

const systemResolver: Resolver = (hostname) =>
  new Promise((found, failed) => {
    resolve(hostname, { all: true, order: 'verbatim' }, (error, addresses) => {
      if (error) failed(error);
      else found(addresses);
    });
  });

class RefusedDestination extends Error {}
class ClosedKeptConnection extends Error {}

const refusal = (hostname: string, address: string): RefusedDestination =>
  new RefusedDestination(
    hostname === address
      ? `The destination ${address} is not a public address.`
      : `The destination ${hostname} has the address ${address}, which is not public.`,
  );

/** @param resolver tests give their own */
export function createDeliveryClient(
  allowed: AllowedDestinations,
  resolver: Resolver = systemResolver,
): DeliveryClient {
  const lookup: LookupFunction = (hostname, options, done) => {
    resolver(hostname).then(
      (addresses) => {
        const name = hostname.toLowerCase().replace(/\.$/, '');
        const unsafe = allowed.hosts.has(name)
          ? undefined
          : addresses.find(({ address }) => !isReachable(address, allowed));
        const [first] = addresses;
        if (unsafe !== undefined) done(refusal(hostname, unsafe.address), '');
        else if (first === undefined) done(new Error(`The name ${hostname} has no address.`), '');
        else if (options.all === true) done(null, [...addresses]);
        else done(null, first.address, first.family);
      },
      (error: unknown) => {
        done(error instanceof Error ? error : new Error(String(error)), '');
      },
    );
  };

  const agentOptions = {
    keepAlive: true,
    keepAliveMsecs: 30 * secondMs,
    maxFreeSockets: 256,
    scheduling: 'lifo',
  } as const;
  const agents = { 'http:': new http.Agent(agentOptions), 'https:': new https.Agent(agentOptions) };

  const attempt = (request: DeliveryRequest, signal: AbortSignal): Promise<DestinationResponse> => {
    const target = targetOf(request.url);
    if (addressOfHost(target.hostname) !== undefined && !isReachable(target.hostname, allowed)) {
      return Promise.reject(refusal(target.hostname, target.hostname));
    }
    return new Promise((resolveResponse, reject) => {
      const outgoing = (target.protocol === 'https:' ? https : http).request({
        agent: agents[target.protocol],
        host: target.hostname,
        port: target.port,
        path: target.path,
        method: request.method,
        auth: request.headers.some(([name]) => name === 'authorization') ? undefined : target.credentials,
        lookup,
        signal,
        setHost: false,
      });
      outgoing.setHeader('host', target.host);
      for (const [name, value] of request.headers) outgoing.appendHeader(name, value);
      if (request.body.length > 0 || !['GET', 'DELETE'].includes(request.method)) {
        outgoing.setHeader('content-length', request.body.length);
      }
      limitConnecting(outgoing);
      outgoing.on('error', (error: NodeJS.ErrnoException) => {
        const closed = outgoing.reusedSocket && (error.code === 'ECONNRESET' || error.code === 'EPIPE');
        reject(closed ? new ClosedKeptConnection(error.message) : error);
      });
      outgoing.on('response', (incoming) => {
        readResponse(incoming, request.maxResponseBytes).then(resolveResponse, reject);
      });
      outgoing.end(request.body);
    });
  };

  return async (request) => {
    const signal = AbortSignal.timeout(request.timeoutMs);
    try {
      try {
        return await attempt(request, signal);
      } catch (error) {
        // A kept connection may be closed by its other end in the very moment it is used again, before the request
        // was seen: that says nothing about the destination, and a new connection does.
        if (!(error instanceof ClosedKeptConnection)) throw error;
        return await attempt(request, signal);
      }
    } catch (error) {
      const text = signal.aborted
        ? `The destination did not answer within ${request.timeoutMs / secondMs} s.`
        : describe(error);
      return { status: 0, error: text, headers: {}, body: new Uint8Array() };
    }
  };
}

function limitConnecting(outgoing: ClientRequest): void {
  outgoing.once('socket', (socket) => {
    if (!socket.connecting) return;
    const timer = setTimeout(() => {
      outgoing.destroy(
        new Error(`No connection to the destination within ${connectTimeoutMs / secondMs} s.`),
      );
    }, connectTimeoutMs);
    const stop = (): void => {
      clearTimeout(timer);
    };
    socket.once('connect', stop).once('close', stop);
  });
}

async function readResponse(incoming: IncomingMessage, maxBytes: number): Promise<DestinationResponse> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    chunks.push(chunk.subarray(0, maxBytes - size));
    size += chunk.length;
    // Leaving the loop destroys the response, and with it the connection.
    if (size >= maxBytes) break;
  }
  const headers: Record<string, string[]> = {};
  for (const [name, values] of Object.entries(incoming.headersDistinct)) {
    if (values !== undefined) headers[name] = values;
  }
  return { status: incoming.statusCode ?? 0, headers, body: Buffer.concat(chunks) };
}

/** An error in a sentence. Node gathers the failures of several addresses in one error without a text of its own. */
function describe(error: unknown): string {
  if (error instanceof AggregateError && error.message === '') {
    return error.errors.map(describe).join('; ');
  }
  return error instanceof Error ? error.message : String(error);
}
