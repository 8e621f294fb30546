/** API Gateway's own answers in the service's form: a status, and JSON with a code and a sentence. */
import { ResponseType } from 'aws-cdk-lib/aws-apigateway';
import type { CodeOf, ErrorCode, ErrorStatus } from '../../lambdas/error/errorCodes.ts';

type StatusAndCode = {
  [Status in ErrorStatus]: { readonly status: Status; readonly code: CodeOf<Status> };
}[ErrorStatus];

export type GatewayAnswer = {
  readonly type: ResponseType;
  readonly sentence: string;
  readonly headers?: Readonly<Record<string, string>>;
} & (
  | StatusAndCode
  | { readonly status?: never; readonly code: ErrorCode }
  // The body has the authorizer's code.
  | { readonly status: 401; readonly code: '$context.authorizer.code' }
);

const nothingHere = {
  status: 404,
  code: 'path_not_found',
  // Clients compare the second half: they publish to /v2/publish/ if the destination is empty.
  sentence: 'There is nothing at this path. For a publish, a non-empty destination must be provided.',
} as const;
const notAllowed = { status: 403, code: 'request_blocked', sentence: 'The request is not allowed.' } as const;
const ours = {
  code: 'service_failed',
  sentence:
    'The service could not answer this request, which may still have taken effect. Send it again if that does no harm.',
} as const;

export const gatewayAnswers: readonly GatewayAnswer[] = [
  // No method asks for AWS credentials, so the first four types come only from unknown paths. There the gateway takes an
  // `Authorization` header for an AWS signature, and a bearer token for a broken one, which has no type except DEFAULT_4XX.
  { type: ResponseType.MISSING_AUTHENTICATION_TOKEN, ...nothingHere },
  { type: ResponseType.INVALID_SIGNATURE, ...nothingHere },
  { type: ResponseType.EXPIRED_TOKEN, ...nothingHere },
  { type: ResponseType.DEFAULT_4XX, ...nothingHere },
  { type: ResponseType.RESOURCE_NOT_FOUND, ...nothingHere },
  {
    type: ResponseType.BAD_REQUEST_PARAMETERS,
    status: 400,
    code: 'request_malformed',
    sentence: 'The parameters of the request are not valid.',
  },
  {
    type: ResponseType.BAD_REQUEST_BODY,
    status: 400,
    code: 'request_malformed',
    sentence: 'The body of the request is not valid.',
  },
  { type: ResponseType.UNAUTHORIZED, ...notAllowed, status: 401, code: 'credentials_missing' },
  { type: ResponseType.INVALID_API_KEY, ...notAllowed },
  { type: ResponseType.ACCESS_DENIED, ...notAllowed },
  { type: ResponseType.WAF_FILTERED, ...notAllowed, sentence: 'The request was refused by the firewall.' },
  {
    type: ResponseType.REQUEST_TOO_LARGE,
    status: 413,
    code: 'body_too_large',
    sentence: 'The body is too large: this service takes at most 4194304 bytes.',
  },
  {
    type: ResponseType.THROTTLED,
    status: 429,
    code: 'service_throttled',
    sentence: 'The service has too many requests at once. Send this one again after a second.',
    headers: { 'Retry-After': "'1'" },
  },
  {
    type: ResponseType.QUOTA_EXCEEDED,
    status: 429,
    code: 'service_throttled',
    sentence: 'The quota of requests is used up.',
  },
  { type: ResponseType.INTEGRATION_FAILURE, status: 502, ...ours },
  {
    type: ResponseType.INTEGRATION_TIMEOUT,
    status: 504,
    code: 'service_timeout',
    sentence:
      'The service did not answer in time. The request may still take effect; send it again if that does no harm.',
  },
  { type: ResponseType.API_CONFIGURATION_ERROR, status: 500, ...ours },
  { type: ResponseType.AUTHORIZER_CONFIGURATION_ERROR, status: 500, ...ours },
  { type: ResponseType.AUTHORIZER_FAILURE, status: 500, ...ours },
  { type: ResponseType.DEFAULT_5XX, ...ours },
];

export const refusalBody = ({ sentence, code }: Pick<GatewayAnswer, 'sentence' | 'code'>): string =>
  JSON.stringify({ error: sentence, code });

/** @param own answers that only this API gives. They replace the common ones of the same type */
export const answersWith = (own: readonly GatewayAnswer[]): readonly GatewayAnswer[] => [
  ...gatewayAnswers.filter(({ type }) => !own.some((other) => other.type === type)),
  ...own,
];
