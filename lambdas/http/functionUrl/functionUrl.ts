/**
 * The publish URL. There is no API Gateway in front of it, so this file makes the gateway's refusals and
 * access log.
 */
import type { Context, LambdaFunctionURLEvent } from 'aws-lambda';
import { now } from '../../shared/clock.ts';
import { largestHeaders, receivedHeader, valuesOf, type Header } from '../../shared/headers.ts';
import { decodedOrAsIs } from '../../shared/text.ts';
import { badRequest, HttpError, notFound } from '../../error/httpError.ts';
import { isGatewayHeader } from '../../request/forwarding.ts';
import { settings } from '../../aws/settings.ts';
import { log } from '../../aws/log.ts';
import { withMetrics } from '../../aws/metrics.ts';
import { basePathOf, type FindRoute } from '../findRoute.ts';
import { failedForNow, refuse } from '../handler.ts';
import type { ApiRequest, RequestHandler, Result } from '../request.ts';

/** Reads a query as API Gateway does, like an HTML form: `+` is a space, and badly encoded text is not decoded. */
const readQueryString = (raw: string): readonly Header[] =>
  raw
    .replace(/^\?/, '')
    .split('&')
    .filter((pair) => pair !== '')
    .map((pair): Header => {
      const [, name = '', value = ''] = /^([^=]*)=?(.*)$/s.exec(pair.replaceAll('+', ' ')) ?? [];
      return [decodedOrAsIs(name), decodedOrAsIs(value)];
    });

/**
 * Lambda joins repeated headers with commas. They cannot be separated, because values may contain commas.
 * Cookies are in a separate list, and may also be among the headers.
 */
function readHeaders({ headers, cookies }: LambdaFunctionURLEvent): readonly Header[] {
  const pairs = Object.entries(headers).map(receivedHeader);
  if (cookies === undefined) return pairs;
  return [...pairs.filter(([name]) => name !== 'cookie'), receivedHeader(['cookie', cookies.join('; ')])];
}

/** Reads an event of payload format 2.0. */
export function readFunctionUrlEvent(event: LambdaFunctionURLEvent): ApiRequest {
  const { rawPath, rawQueryString, requestContext, isBase64Encoded, body = '' } = event;
  return {
    id: requestContext.requestId,
    method: requestContext.http.method,
    rawPath,
    basePath: basePathOf(rawPath),
    query: readQueryString(rawQueryString),
    headers: readHeaders(event),
    body: Buffer.from(body, isBase64Encoded ? 'base64' : 'utf8'),
    callerIp: requestContext.http.sourceIp,
    host: requestContext.domainName,
  };
}

function headBytes({ method, rawPath, headers }: ApiRequest, rawQueryString: string): number {
  const sent = headers.filter(([name]) => !isGatewayHeader(name));
  return [method, rawPath, rawQueryString, ...sent.flat()].join('').length;
}

/**
 * Whether a body may differ from the bytes sent. Lambda replaces bytes of a text that are not UTF-8. Then the
 * length differs from `Content-Length`, or the body has the replacement character.
 */
function isDoubtful(
  { body = '', isBase64Encoded }: LambdaFunctionURLEvent,
  { headers }: ApiRequest,
): boolean {
  if (isBase64Encoded) return false;
  const [length] = valuesOf(headers, 'content-length');
  return length === undefined ? body.includes('\uFFFD') : Number(length) !== Buffer.byteLength(body);
}

/** Returns the refusal of a request that is refused before routing. */
function refusalOf(event: LambdaFunctionURLEvent, request: ApiRequest): HttpError | undefined {
  const { method, rawPath } = request;
  if (headBytes(request, event.rawQueryString) > largestHeaders) {
    return new HttpError(
      431,
      'head_too_large',
      `The request line and headers together exceed ${largestHeaders} bytes.`,
    );
  }
  // If the path was decoded on the way, or never encoded, it would name the wrong destination.
  if (!/^[\x21-\x7e]*$/.test(rawPath) || /[?#]/.test(rawPath)) {
    return badRequest(
      'request_malformed',
      'The request cannot be read as HTTP; a path must be percent-encoded.',
    );
  }
  if (!/\/v2\/|\/console(\/|$)/.test(rawPath))
    return notFound('path_not_found', `There is no ${method} ${rawPath}.`);
  if (isDoubtful(event, request)) {
    return badRequest(
      'body_invalid',
      `The body is sent as text, but is not UTF-8. Allowed are UTF-8 and any other Content-Type, such as application/octet-stream; ${settings.apiUrl ?? 'the API'} takes it as it is.`,
    );
  }
  return undefined;
}

/** Time to answer that the API does not answer. */
const marginMs = 500;

async function answerOfApi(
  { rawQueryString }: LambdaFunctionURLEvent,
  request: ApiRequest,
  context: Context,
): Promise<Result> {
  try {
    const { forward } = await import('./forward.ts');
    // Lambda may have turned a plus into a space.
    const query = rawQueryString.replaceAll(' ', '+');
    return await forward(
      request,
      settings.apiUrl ?? '',
      query,
      context.getRemainingTimeInMillis() - marginMs,
    );
  } catch (error) {
    log.error('A request was not answered by the API', { requestId: request.id, error });
    return refuse(request, new HttpError(503, 'service_failed', failedForNow(request.method)));
  }
}

/** Writes the same access log line as API Gateway, without destinations and tokens. */
function logRequest(
  { id, method, rawPath, callerIp }: ApiRequest,
  { statusCode, body, isBase64Encoded = false }: Result,
  find: FindRoute,
  latencyMs: number,
): void {
  const { route, matching } = find(method, rawPath);
  log.info('request', {
    requestId: id,
    ip: callerIp,
    method,
    resource: (route ?? matching[0])?.path,
    status: statusCode,
    latencyMs,
    responseBytes: Buffer.byteLength(body, isBase64Encoded ? 'base64' : 'utf8'),
  });
}

export function throughFunctionUrl(answer: RequestHandler, find: FindRoute) {
  const answerTo = (event: LambdaFunctionURLEvent, request: ApiRequest, context: Context) => {
    const refusal = refusalOf(event, request);
    if (refusal !== undefined) return refuse(request, refusal);
    const isOwn = find(request.method, request.rawPath).matching.length > 0;
    return isOwn ? answer(request, context) : answerOfApi(event, request, context);
  };
  return withMetrics(async (event: LambdaFunctionURLEvent, context: Context): Promise<Result> => {
    const startedAt = now();
    const request = readFunctionUrlEvent(event);
    const result = await answerTo(event, request, context);
    logRequest(request, result, find, now() - startedAt);
    return result;
  });
}
