import type { APIGatewayProxyEvent, Context } from 'aws-lambda';
import { receivedHeader, type Header } from '../shared/headers.ts';
import { basePathOf } from './findRoute.ts';
import { withMetrics } from '../aws/metrics.ts';
import type { ApiRequest, RequestHandler, Result } from './request.ts';

const pairs = (values: Record<string, string[] | undefined> | null): readonly Header[] =>
  Object.entries(values ?? {}).flatMap(([name, list]) => (list ?? []).map((value): Header => [name, value]));

/** Reads an event of API Gateway. Its path variables are decoded, so the raw path is used. */
export function readGatewayEvent(event: APIGatewayProxyEvent): ApiRequest {
  const { requestContext } = event;
  return {
    id: requestContext.requestId,
    method: event.httpMethod,
    rawPath: event.path,
    basePath: basePathOf(requestContext.path),
    query: pairs(event.multiValueQueryStringParameters),
    headers: pairs(event.multiValueHeaders).map(receivedHeader),
    body: Buffer.from(event.body ?? '', event.isBase64Encoded ? 'base64' : 'utf8'),
    callerIp: requestContext.identity.sourceIp,
    host: requestContext.domainName ?? '',
  };
}

export const throughGateway = (answer: RequestHandler) =>
  withMetrics((event: APIGatewayProxyEvent, context: Context): Promise<Result> =>
    answer(readGatewayEvent(event), context),
  );
