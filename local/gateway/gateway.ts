/** The stand-in for API Gateway: a REST API with Lambda proxy integrations and binary bodies. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ApiFunction, GatewayRoute } from '../../lambdas/http/routes.ts';
import { splitUrl } from '../incoming.ts';
import { inTime, largestEvent, type LambdaFunction } from '../lambda/lambda.ts';
import { basePathOf, onLoopback } from '../network/network.ts';
import { refuse, startFront, tooLateToAnswer, type Door, type Front, type FrontOptions } from './front.ts';
import { refuseUntaken } from './intake.ts';
import { applyProxyResult, toProxyEvent } from './proxyEvent.ts';
import { createRouter, type Routed, type Router } from './router.ts';
import { headTooLarge, maxHeadBytes } from './unreadable.ts';

export interface GatewayOptions extends FrontOptions {
  readonly routes: readonly GatewayRoute[];
  readonly functions: ReadonlyMap<ApiFunction, LambdaFunction>;
  /** The time limit of functions. Default: 29 s, API Gateway's "Integration timeout" for a REST API. */
  readonly timeoutMs?: number;
}

/** The answer if a function fails, as deployed. */
const couldNotAnswer =
  'The service could not answer this request, which may still have taken effect. Send it again if that does no harm.';

/** 10 MiB: API Gateway's "Payload size" for a REST API. */
const maxBodyBytes = 10_485_760;

export function startGateway(options: GatewayOptions): Promise<Front> {
  const { routes, functions, ready, network = onLoopback, timeoutMs = 29_000 } = options;
  const proxy = { find: createRouter(routes), functions, ready, timeoutMs, basePath: basePathOf(network) };
  return startFront(options, {
    flag: '--port',
    largest: maxBodyBytes,
    answer: (request, response, door) => answer(request, response, { ...proxy, ...door }),
    fail: (response) => {
      refuse(response, 502, 'service_failed', couldNotAnswer);
    },
  });
}

interface Proxy extends Door {
  readonly find: Router;
  readonly functions: ReadonlyMap<ApiFunction, LambdaFunction>;
  readonly ready: Promise<void>;
  readonly timeoutMs: number;
  /** The path before the API's own. Proxies may keep or remove it. */
  readonly basePath: string;
}

const nothingAt = (path: string): string =>
  `There is nothing at ${path}. For a publish, a non-empty destination must be provided.`;

/** Answers a request. If the head is enough to refuse it, the body is not read. */
async function answer(request: IncomingMessage, response: ServerResponse, proxy: Proxy): Promise<void> {
  const receivedAt = Date.now();
  const { path: requested, query } = splitUrl(request.url ?? '/');
  const own = withoutBase(requested, proxy.basePath);
  const routed = proxy.find(own);
  // A custom domain of API Gateway also passes on the base path.
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
  // The event contains the body as base64, so this limit is mainly about bodies.
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
  const returned = await inTime(called.invoke(event), timeoutMs, () => tooLate);
  if (returned === tooLate) refuse(response, 504, 'service_timeout', tooLateToAnswer);
  else applyProxyResult(response, returned);
}

function headBytes({ method = '', url = '', rawHeaders }: IncomingMessage): number {
  return rawHeaders.reduce((sum, text) => sum + text.length, method.length + url.length);
}

const tooLate = Symbol('too late');
