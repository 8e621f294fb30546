/**
 * The Lambda proxy integration of a REST API: makes an event from a request, and sends the handler's result.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { APIGatewayEventRequestContextWithAuthorizer, APIGatewayProxyEvent } from 'aws-lambda';
import * as z from 'zod/mini';
import { endWith } from '../http.ts';
import { passedHeaders, queryParameters, requestTime } from '../incoming.ts';
import type { Origin } from '../network/network.ts';
import { accountId } from '../aws/arns.ts';

const stage = 'local';

interface ProxyRequest {
  readonly request: IncomingMessage;
  readonly origin: Origin;
  readonly path: string;
  /** The raw query, without its question mark. */
  readonly query: string;
  readonly body: Buffer;
  readonly resource: string;
  readonly pathParameters: Record<string, string> | null;
  readonly requestId: string;
  readonly receivedAt: number;
}

export function toProxyEvent(proxied: ProxyRequest): APIGatewayProxyEvent {
  const { request, origin, path, query, body, resource, pathParameters } = proxied;
  const multiValueHeaders = headersOf(request, origin);
  const multiValueQueryStringParameters = queryOf(query);
  return {
    resource,
    path,
    httpMethod: request.method ?? 'GET',
    headers: lastOfEach(multiValueHeaders),
    multiValueHeaders,
    queryStringParameters: multiValueQueryStringParameters && lastOfEach(multiValueQueryStringParameters),
    multiValueQueryStringParameters,
    pathParameters,
    stageVariables: null,
    requestContext: requestContextOf(proxied),
    body: body.length === 0 ? null : body.toString('base64'),
    isBase64Encoded: body.length > 0,
  };
}

function requestContextOf({
  request,
  origin: { ip, host },
  path,
  resource,
  requestId,
  receivedAt,
}: ProxyRequest): APIGatewayEventRequestContextWithAuthorizer<undefined> {
  return {
    accountId,
    apiId: 'local',
    authorizer: undefined,
    domainName: host,
    domainPrefix: host.split('.')[0],
    extendedRequestId: requestId,
    httpMethod: request.method ?? 'GET',
    identity: {
      accessKey: null,
      accountId: null,
      apiKey: null,
      apiKeyId: null,
      caller: null,
      clientCert: null,
      cognitoAuthenticationProvider: null,
      cognitoAuthenticationType: null,
      cognitoIdentityId: null,
      cognitoIdentityPoolId: null,
      principalOrgId: null,
      sourceIp: ip,
      user: null,
      userAgent: request.headers['user-agent'] ?? null,
      userArn: null,
    },
    // Behind a custom domain, the path has no stage.
    path,
    protocol: `HTTP/${request.httpVersion}`,
    requestId,
    requestTime: requestTime(receivedAt),
    requestTimeEpoch: receivedAt,
    resourceId: 'local',
    resourcePath: resource,
    stage,
  };
}

/**
 * All headers and values, including those that AWS adds. A repeated name is spelled like its first
 * occurrence.
 */
function headersOf(request: IncomingMessage, origin: Origin): Record<string, string[]> {
  const headers = new Map<string, { readonly spelling: string; readonly values: string[] }>();
  for (const [spelling, value] of passedHeaders(request, origin)) {
    const name = spelling.toLowerCase();
    const header = headers.get(name) ?? { spelling, values: [] };
    header.values.push(value);
    headers.set(name, header);
  }
  return Object.fromEntries([...headers.values()].map(({ spelling, values }) => [spelling, values]));
}

/** The decoded query, with all values of each name; null without a query. */
function queryOf(query: string): Record<string, string[]> | null {
  const parameters = queryParameters(query);
  return parameters.size > 0 ? Object.fromEntries(parameters) : null;
}

function lastOfEach(values: Record<string, string[]>): Record<string, string> {
  return Object.fromEntries(Object.entries(values).map(([name, all]) => [name, all.at(-1) ?? '']));
}

const headerValue = z.union([z.string(), z.number(), z.boolean()]);
const proxyResult = z.object({
  statusCode: z.int().check(z.gte(100), z.lte(599)),
  headers: z.optional(z.record(z.string(), headerValue)),
  multiValueHeaders: z.optional(z.record(z.string(), z.array(headerValue))),
  body: z.optional(z.string()),
  isBase64Encoded: z.optional(z.boolean()),
});

/**
 * Sends a handler's result.
 *
 * @throws Error if API Gateway would not accept the result
 */
export function applyProxyResult(response: ServerResponse, returned: unknown): void {
  const parsed = proxyResult.safeParse(returned);
  if (!parsed.success) throw new Error(`Malformed Lambda proxy response:\n${z.prettifyError(parsed.error)}`);
  const {
    statusCode,
    headers = {},
    multiValueHeaders = {},
    body = '',
    isBase64Encoded = false,
  } = parsed.data;
  const bytes = Buffer.from(body, isBase64Encoded ? 'base64' : 'utf8');
  response.statusCode = statusCode;
  response.setHeader('Content-Type', 'application/json');
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, String(value));
  for (const [name, values] of Object.entries(multiValueHeaders))
    response.setHeader(name, values.map(String));
  endWith(response, bytes);
}
