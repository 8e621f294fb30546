/** The stand-in for API Gateway: a REST API whose routes are Lambda proxies with binary bodies. */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { CodeOf, ErrorStatus } from '../../lambdas/error/errorCodes.ts';
import type { ApiFunction, GatewayRoute } from '../../lambdas/http/routes.ts';
import { answerJson, drain, endWithServer, listen, noGuard, type Guard } from '../http.ts';
import { boundConnections, timeBounds, type ConnectionBounds } from './connections.ts';
import { Intake, refuseUntaken, type AccountOf, type IntakeBounds } from './intake.ts';
import {
  basePathOf,
  isManyClients,
  onLoopback,
  originsBehind,
  type Network,
  type OriginOf,
} from '../network/network.ts';
import { largestEvent, TimedOut, type LambdaFunction } from '../lambda/lambda.ts';
import { splitUrl } from '../incoming.ts';
import { renewCertificate } from '../network/tls.ts';
import { headTooLarge, maxHeadBytes, mostReadBytes, refuseUnreadable } from './unreadable.ts';
import { applyProxyResult, toProxyEvent } from './proxyEvent.ts';
import { createRouter, type Routed, type Router } from './router.ts';

export interface Gateway {
  readonly port: number;
  readonly url: string;
  /** Takes no new requests. Resolves when the accepted ones are answered, or `signal` aborts. */
  stop(signal: AbortSignal): Promise<void>;
}

export interface GatewayOptions {
  readonly port: number;
  readonly routes: readonly GatewayRoute[];
  readonly functions: ReadonlyMap<ApiFunction, LambdaFunction>;
  /** Resolves when the functions are loaded. Earlier requests wait for it. */
  readonly ready: Promise<void>;
  readonly report: (error: unknown) => void;
  readonly guard?: Guard | undefined;
  /** Default: only the loopback address. */
  readonly network?: Network | undefined;
  /** The time for a function. Default: 29 s, API Gateway's "Integration timeout" for a REST API. */
  readonly timeoutMs?: number;
  /** Finds the account that large bodies count for. Default: one account for all. */
  readonly accountOf?: AccountOf | undefined;
  readonly bounds?: ConnectionBounds & Omit<IntakeBounds, 'largest'>;
}

/** The deployed gateway's answer if a function fails or times out. */
export const couldNotAnswer =
  'The service could not answer this request, which may still have taken effect. Send it again if that does no harm.';
export const tooLateToAnswer =
  'The service did not answer in time. The request may still take effect; send it again if that does no harm.';

/** 10 MiB: API Gateway's "Payload size" for a REST API. */
const maxBodyBytes = 10_485_760;
export async function startGateway(options: GatewayOptions): Promise<Gateway> {
  const { functions, ready, report, guard = noGuard, network = onLoopback, timeoutMs = 29_000 } = options;
  const originOf = originsBehind(network);
  const basePath = basePathOf(network);
  const find = createRouter(options.routes);
  const intake = new Intake({ ...options.bounds, largest: maxBodyBytes }, options.accountOf);
  const { server, port, url } = await listen(
    guard((request, response) => {
      const requestId = randomUUID();
      response.setHeader('x-amzn-RequestId', requestId);
      endWithServer(server, response);
      answer(request, response, {
        find,
        functions,
        ready,
        timeoutMs,
        originOf,
        basePath,
        intake,
        requestId,
      }).catch((error: unknown) => {
        if (request.errored !== null) return;
        report(error);
        if (response.headersSent) response.destroy();
        else if (error instanceof TimedOut) answerTooBusy(response);
        else refuse(response, 502, 'service_failed', couldNotAnswer);
      });
    }),
    options.port,
    // More than the gateway's limit, so that the gateway answers instead of Node.
    { ...timeBounds, maxHeaderSize: mostReadBytes },
    '--port',
    network,
  );
  renewCertificate(server, network, report);
  server.on('clientError', refuseUnreadable);
  boundConnections(server, isManyClients(network), options.bounds);
  return {
    port,
    url,
    stop: (signal) => drain(server, signal),
  };
}

interface Proxy {
  readonly find: Router;
  readonly functions: ReadonlyMap<ApiFunction, LambdaFunction>;
  readonly ready: Promise<void>;
  readonly timeoutMs: number;
  readonly originOf: OriginOf;
  /** The path before the API's. A proxy may keep it or strip it. */
  readonly basePath: string;
  readonly intake: Intake;
  readonly requestId: string;
}

const nothingAt = (path: string): string =>
  `There is nothing at ${path}. For a publish, a non-empty destination must be provided.`;

/** Answers a request. Decisions that need only the head are made before the body is read. */
async function answer(request: IncomingMessage, response: ServerResponse, proxy: Proxy): Promise<void> {
  const receivedAt = Date.now();
  const { path: requested, query } = splitUrl(request.url ?? '/');
  const own = withoutBase(requested, proxy.basePath);
  const routed = proxy.find(own);
  // A custom domain of API Gateway passes on the base path too.
  const path = proxy.basePath + own;
  if (headBytes(request) > maxHeadBytes) refuse(response, 431, 'head_too_large', headTooLarge);
  else if (routed === undefined) refuse(response, 404, 'path_not_found', nothingAt(path));
  else {
    await proxy.ready;
    await proxy.intake.take(request, async (taken) => {
      if (taken === 'tooLarge')
        refuse(response, 413, 'body_too_large', `The body exceeds ${maxBodyBytes} bytes.`);
      else if (taken === 'tooSlow' || taken === 'busy') refuseUntaken(response, taken);
      else {
        const body = taken === 'unknownSender' ? Buffer.alloc(0) : taken;
        await invoke(request, response, { ...proxy, ...routed, path, query, body, receivedAt });
      }
    });
  }
}

const withoutBase = (path: string, base: string): string =>
  base !== '' && (path === base || path.startsWith(`${base}/`)) ? path.slice(base.length) || '/' : path;

interface Invoked extends Proxy, Routed {
  readonly path: string;
  readonly query: string;
  readonly body: Buffer;
  readonly receivedAt: number;
}

async function invoke(request: IncomingMessage, response: ServerResponse, invoked: Invoked): Promise<void> {
  const { route, originOf, functions, timeoutMs, ...read } = invoked;
  const event = toProxyEvent({ ...read, request, origin: originOf(request), resource: route.path });
  // The event has the body as base64, so in practice this limits bodies.
  if (read.body.length > largestEvent / 2 && JSON.stringify(event).length > largestEvent) {
    refuse(
      response,
      413,
      'body_too_large',
      `The request, its body in base64, exceeds ${largestEvent} bytes.`,
    );
    return;
  }
  const called = functions.get(route.function);
  if (called === undefined) throw new Error(`The function ${route.function} is not there.`);
  const returned = await within(timeoutMs, called.invoke(event));
  if (returned === tooLate) refuse(response, 504, 'service_timeout', tooLateToAnswer);
  else applyProxyResult(response, returned);
}

function headBytes({ method = '', url = '', rawHeaders }: IncomingMessage): number {
  return rawHeaders.reduce((sum, text) => sum + text.length, method.length + url.length);
}

function refuse<Status extends ErrorStatus>(
  response: ServerResponse,
  status: Status,
  code: CodeOf<Status>,
  error: string,
  headers?: Record<string, string>,
): void {
  answerJson(response, status, 'application/json', { error, code }, headers);
}

/**
 * Answers for a function that reached its time limit. On AWS a function hangs then, and the answer is 502; on one machine, all
 * functions share the cores and have too much to do.
 */
export function answerTooBusy(response: ServerResponse): void {
  refuse(response, 503, 'service_timeout', tooLateToAnswer, { 'retry-after': '1' });
}

const tooLate = Symbol('too late');

async function within(timeoutMs: number, work: Promise<unknown>): Promise<unknown> {
  let timeout: NodeJS.Timeout | undefined;
  const late = new Promise((resolve) => {
    timeout = setTimeout(() => {
      resolve(tooLate);
    }, timeoutMs);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timeout);
  }
}
