/** The answers that API Gateway gives by itself, made to look like the service's own: a status, and a sentence as JSON. */
import { ResponseType, type RestApi } from 'aws-cdk-lib/aws-apigateway';

export interface GatewayAnswer {
  readonly type: ResponseType;
  /** Without it, the status is the one that the gateway would have given. */
  readonly status?: number;
  readonly sentence: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export const methodNotAllowed = 'The path exists, but not with this method.';
const nothingHere = 'There is nothing at this path.';
const notAllowed = 'The request is not allowed.';
const ours =
  'The service could not answer this request, which may have taken effect all the same. Send it again if that does no harm.';

/** The answers of both APIs. */
export const gatewayAnswers: readonly GatewayAnswer[] = [
  // No method of our APIs asks for AWS credentials, so the first four can only come from a path that does not exist. There
  // the gateway takes an `Authorization` header for an AWS signature, and a bearer token for a broken one (which has no
  // type of its own but is DEFAULT_4XX).
  { type: ResponseType.MISSING_AUTHENTICATION_TOKEN, status: 404, sentence: nothingHere },
  { type: ResponseType.INVALID_SIGNATURE, status: 404, sentence: nothingHere },
  { type: ResponseType.EXPIRED_TOKEN, status: 404, sentence: nothingHere },
  { type: ResponseType.DEFAULT_4XX, status: 404, sentence: nothingHere },
  { type: ResponseType.RESOURCE_NOT_FOUND, status: 404, sentence: nothingHere },
  {
    type: ResponseType.BAD_REQUEST_PARAMETERS,
    status: 400,
    sentence: 'The parameters of the request are not valid.',
  },
  { type: ResponseType.BAD_REQUEST_BODY, status: 400, sentence: 'The body of the request is not valid.' },
  { type: ResponseType.UNAUTHORIZED, status: 401, sentence: notAllowed },
  { type: ResponseType.INVALID_API_KEY, status: 403, sentence: notAllowed },
  { type: ResponseType.ACCESS_DENIED, status: 403, sentence: notAllowed },
  { type: ResponseType.WAF_FILTERED, status: 403, sentence: 'The request was refused by the firewall.' },
  // Only the mock integration behind other methods looks at a body's type: see `addMethodNotAllowed`.
  { type: ResponseType.UNSUPPORTED_MEDIA_TYPE, status: 405, sentence: methodNotAllowed },
  {
    type: ResponseType.REQUEST_TOO_LARGE,
    status: 413,
    sentence: 'The body is too large: this service takes at most 4194304 bytes.',
  },
  {
    type: ResponseType.THROTTLED,
    status: 429,
    sentence: 'The service gets more requests than it may take at once. Send this one again after a second.',
    headers: { 'Retry-After': "'1'" },
  },
  { type: ResponseType.QUOTA_EXCEEDED, status: 429, sentence: 'The quota of requests is used up.' },
  { type: ResponseType.INTEGRATION_FAILURE, status: 502, sentence: ours },
  {
    type: ResponseType.INTEGRATION_TIMEOUT,
    status: 504,
    sentence:
      'The service did not answer in time. The request may take effect all the same; send it again if that does no harm.',
  },
  { type: ResponseType.API_CONFIGURATION_ERROR, status: 500, sentence: ours },
  { type: ResponseType.AUTHORIZER_CONFIGURATION_ERROR, status: 500, sentence: ours },
  { type: ResponseType.AUTHORIZER_FAILURE, status: 500, sentence: ours },
  { type: ResponseType.DEFAULT_5XX, sentence: ours },
];

/**
 * Has an API give these answers.
 *
 * @param own answers that only this API gives, or gives in place of the common ones
 */
export function addGatewayAnswers(api: RestApi, own: readonly GatewayAnswer[] = []): void {
  const common = gatewayAnswers.filter(({ type }) => !own.some((other) => other.type === type));
  for (const { type, status, sentence, headers } of [...common, ...own]) {
    api.addGatewayResponse(type.responseType, {
      type,
      ...(status === undefined ? {} : { statusCode: status.toString() }),
      templates: { 'application/json': JSON.stringify({ error: sentence }) },
      ...(headers === undefined ? {} : { responseHeaders: headers }),
    });
  }
}
