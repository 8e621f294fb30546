/** Makes the events of a function URL (payload format 2.0), and sends the handler's result. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { LambdaFunctionURLEvent } from 'aws-lambda';
import * as z from 'zod/mini';
import { endWith } from '../http.ts';
import { passedHeaders, queryParameters, requestTime, splitUrl } from '../incoming.ts';
import type { Origin } from '../network/network.ts';

interface UrlRequest {
  readonly request: IncomingMessage;
  readonly origin: Origin;
  readonly body: Buffer;
  readonly requestId: string;
  readonly receivedAt: number;
}

export function toUrlEvent({
  request,
  origin,
  body,
  requestId,
  receivedAt,
}: UrlRequest): LambdaFunctionURLEvent {
  const { path, query } = splitUrl(request.url ?? '/');
  const headers = joinedHeaders(request, origin);
  const { host, ip } = origin;
  const cookies = headers.get('cookie');
  const parameters = [...queryParameters(query)].map(([name, values]): [string, string] => [
    name,
    values.join(','),
  ]);
  return {
    version: '2.0',
    routeKey: '$default',
    rawPath: path,
    // The query stays encoded, but a plus becomes a space, as observed on AWS.
    rawQueryString: query.replaceAll('+', ' '),
    ...(cookies !== undefined && { cookies: cookies.split('; ') }),
    headers: Object.fromEntries(headers),
    ...(parameters.length > 0 && { queryStringParameters: Object.fromEntries(parameters) }),
    requestContext: {
      accountId: 'anonymous',
      apiId: 'local',
      domainName: host,
      domainPrefix: host.split('.')[0] ?? '',
      http: {
        method: request.method ?? 'GET',
        path,
        protocol: `HTTP/${request.httpVersion}`,
        sourceIp: ip,
        userAgent: headers.get('user-agent') ?? '',
      },
      requestId,
      routeKey: '$default',
      stage: '$default',
      time: requestTime(receivedAt),
      timeEpoch: receivedAt,
    },
    ...bodyOf(body, headers.get('content-type') ?? ''),
  };
}

/** Headers by lower-case name. Several values are joined with commas, cookies with semicolons. */
function joinedHeaders(request: IncomingMessage, origin: Origin): ReadonlyMap<string, string> {
  const headers = new Map<string, string>();
  for (const [spelling, value] of passedHeaders(request, origin)) {
    const name = spelling.toLowerCase();
    const before = headers.get(name);
    const joint = name === 'cookie' ? '; ' : ',';
    headers.set(name, before === undefined ? value : `${before}${joint}${value}`);
  }
  return headers;
}

/** Lambda passes bodies of these types as UTF-8 text, and all others as base64. */
const textTypes = /^(text\/.*|application\/(json|xml|javascript))$/;

function bodyOf(body: Buffer, contentType: string): Pick<LambdaFunctionURLEvent, 'body' | 'isBase64Encoded'> {
  if (body.length === 0) return { isBase64Encoded: false };
  const [type = ''] = contentType.split(';');
  const isText = textTypes.test(type.trim().toLowerCase());
  return isText
    ? { body: body.toString('utf8'), isBase64Encoded: false }
    : { body: body.toString('base64'), isBase64Encoded: true };
}

/** No other fields, because a function URL would ignore them, such as `multiValueHeaders`. */
const urlResult = z.strictObject({
  statusCode: z.int().check(z.gte(100), z.lte(599)),
  headers: z.optional(z.record(z.string(), z.string())),
  body: z.optional(z.string()),
  isBase64Encoded: z.optional(z.boolean()),
});

/**
 * Sends a handler's result.
 *
 * @throws Error if it is not a result. AWS would answer 200 with the value itself, which no handler means
 */
export function applyUrlResult(response: ServerResponse, returned: unknown): void {
  const parsed = urlResult.safeParse(returned);
  if (!parsed.success) throw new Error(`Malformed function URL response:\n${z.prettifyError(parsed.error)}`);
  const { statusCode, headers = {}, body = '', isBase64Encoded = false } = parsed.data;
  const bytes = Buffer.from(body, isBase64Encoded ? 'base64' : 'utf8');
  response.statusCode = statusCode;
  response.setHeader('Content-Type', 'application/json');
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  endWith(response, bytes);
}
