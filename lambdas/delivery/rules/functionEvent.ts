/** The event for a Lambda function, in the format of function URLs (payload format 2.0). */
import type { LambdaFunctionURLEvent } from 'aws-lambda';
import { readArn } from '../../destination/arns.ts';
import type { Header } from '../../shared/headers.ts';
import type { Method } from '../../value/method.ts';
import { headersByName } from './headersByName.ts';

export interface FunctionRequest {
  readonly arn: string;
  readonly messageId: string;
  readonly method: Method;
  /** Names in lower case. */
  readonly headers: readonly Header[];
  readonly body: Uint8Array;
  readonly callerIp: string;
}

/** `09/Apr/2015:12:34:56 +0000`. */
function requestTime(time: number): string {
  const [, day = '', month = '', year = '', clock = ''] = new Date(time).toUTCString().split(' ');
  return `${day}/${month}/${year}:${clock} +0000`;
}

export function functionEvent(request: FunctionRequest, now: number): LambdaFunctionURLEvent {
  const { arn, messageId, method, body, callerIp } = request;
  const { region, accountId } = readArn(arn);
  // Adapters of web frameworks build the request's URL from this host.
  const host = `lambda.${region}.amazonaws.com`;
  const { cookie, ...headers } = Object.fromEntries(
    headersByName([...request.headers, ['host', host], ['content-length', String(body.length)]]),
  );
  return {
    version: '2.0',
    routeKey: '$default',
    rawPath: '/',
    rawQueryString: '',
    ...(cookie !== undefined && { cookies: cookie.split('; ') }),
    headers,
    requestContext: {
      accountId,
      apiId: 'svc',
      domainName: host,
      domainPrefix: 'lambda',
      http: {
        method,
        path: '/',
        protocol: 'HTTP/1.1',
        sourceIp: callerIp,
        userAgent: headers['user-agent'] ?? '',
      },
      requestId: messageId,
      routeKey: '$default',
      stage: '$default',
      time: requestTime(now),
      timeEpoch: now,
    },
    ...(body.length > 0 && { body: Buffer.from(body).toString('base64') }),
    isBase64Encoded: body.length > 0,
  };
}
