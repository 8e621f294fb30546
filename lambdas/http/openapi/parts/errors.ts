import type { CodeOf, ErrorCode } from '../../../error/errorCodes.ts';
import type { Access } from '../../route.ts';
import type { AnswerHeaders, Header } from './headers.ts';
import { schemaOf, type Reference } from './schemas.ts';

const maybe = 'The request may still have taken effect, and a bulk operation on some items.';

const didNotAnswer =
  'The service did not answer in time. The request may still take effect; send it again if that does no harm.';
const couldNotAnswer =
  'The service could not answer this request, which may still have taken effect. Send it again if that does no harm.';

const statuses = [
  [400, 'Something in the request is malformed.'],
  [401, 'The credentials are missing, malformed or invalid.'],
  [403, 'The token or the deployment does not allow it.'],
  [404, 'The thing that the request names does not exist.'],
  [409, 'The thing that the request names is in another state, or already exists.'],
  [410, 'It is too late for the request.'],
  [412, 'A limit of the account would be exceeded.'],
  [413, 'The body is too large.'],
  [429, 'Too many requests for now. `Retry-After` is how long to wait.'],
  [431, 'The path, the query and the headers together are too large.'],
  [500, `The service failed. ${maybe}`],
  [502, `The service failed. ${maybe}`],
  [503, 'The service could not do it now. The sentence says whether it took effect.'],
  [504, `The service took too long. ${maybe}`],
] as const;

type ErrorStatus = (typeof statuses)[number][0];

type Example<Status extends ErrorStatus = ErrorStatus> = readonly [code: CodeOf<Status>, sentence: string];

export type Errors = { readonly [Status in ErrorStatus]?: readonly Example<Status>[] };

interface Traits {
  readonly access: Access;
  /** Whether the path has variables that are decoded. */
  readonly hasVariables: boolean;
  readonly hasBody: boolean;
  /** Whether the operation's messages count towards the daily limit and budget. */
  readonly isHeldToUsage: boolean;
}

/** Refusals of one status that several operations have. */
interface SharedOf<Status extends ErrorStatus> {
  readonly status: Status;
  /** Distinguishes refusals with the same status, if an operation may have only some of them. */
  readonly kind?: string;
  readonly examples: readonly Example<Status>[];
  readonly headers?: AnswerHeaders;
  readonly appliesTo: (operation: Traits) => boolean;
}
type Shared = { [Status in ErrorStatus]: SharedOf<Status> }[ErrorStatus];

const toEach = (): boolean => true;
const hasBody = (operation: Traits): boolean => operation.hasBody;
const isHeldToUsage = (operation: Traits): boolean => operation.isHeldToUsage;
const takesCredentials = ({ access }: Traits): boolean => access === 'management';
/** Whether a route requires a token. Only requests to these are counted. */
export const takesToken = ({ access }: Pick<Traits, 'access'>): boolean =>
  access === 'read' || access === 'write';

const text = (description: string): Header => ({ description, schema: { type: 'string' } });
const whole = (description: string): Header => ({ description, schema: { type: 'integer' } });

const retryAfter = { 'Retry-After': whole('Seconds to wait before the next request.') };

const link = {
  Link: text('The page about the error code, with `rel="help"`. Absent if API Gateway itself refuses.'),
};

export const overDay =
  "The account's limit max_requests_per_day_hard is 10000; 10000 messages were sent today, and this would be 1 more. The next day begins at 2026-01-02T00:00:00.000Z.";
export const overBudget =
  "The account's budget is 50 dollars a month, which pays for 5000000 messages; 5000000 were sent this month, and this would be 1 more. The next month begins on 2026-02-01.";

export const gatewayRefusals: readonly Shared[] = [
  {
    status: 413,
    examples: [['body_too_large', 'The body is too large: this service takes at most 4194304 bytes.']],
    appliesTo: hasBody,
  },
  {
    status: 429,
    examples: [
      ['service_throttled', 'The service has too many requests at once. Send this one again after a second.'],
    ],
    headers: retryAfter,
    appliesTo: toEach,
  },
  {
    status: 502,
    examples: [['service_failed', couldNotAnswer]],
    appliesTo: toEach,
  },
  {
    status: 503,
    examples: [
      ['service_failed', couldNotAnswer],
      ['service_timeout', didNotAnswer],
    ],
    headers: retryAfter,
    appliesTo: toEach,
  },
  {
    status: 504,
    examples: [['service_timeout', didNotAnswer]],
    appliesTo: toEach,
  },
];

const shared: readonly Shared[] = [
  ...gatewayRefusals,
  {
    status: 400,
    examples: [['request_malformed', 'The path has "50%", which is percent-encoded, but not correctly.']],
    appliesTo: ({ hasVariables }) => hasVariables,
  },
  {
    status: 401,
    examples: [
      [
        'token_missing',
        'The token is missing; send it as the header Authorization: Bearer <token> or as the query parameter svc_token.',
      ],
      ['token_invalid', 'The token is malformed; use it exactly as it was issued.'],
      ['token_invalid', 'The token is not valid.'],
      ['token_invalid', 'The token was revoked.'],
      ['token_expired', 'The token expired at 2026-01-02T00:00:00.000Z.'],
      ['wrong_region', 'The token belongs to the region us-east-1; this is eu-central-1.'],
      ['account_inactive', 'The account is not active.'],
    ],
    headers: {
      'WWW-Authenticate': text(
        'Always `Bearer`; API Gateway renames it to `x-amzn-Remapped-WWW-Authenticate`.',
      ),
    },
    appliesTo: takesToken,
  },
  {
    status: 401,
    kind: 'Basic',
    examples: [
      [
        'credentials_missing',
        'The credentials are missing; send them as the header Authorization: Basic <base64 of username:password>.',
      ],
      [
        'credentials_invalid',
        'The header Authorization is malformed; allowed is Basic <base64 of username:password>.',
      ],
      ['credentials_invalid', 'The user name or the password is wrong.'],
    ],
    headers: { 'WWW-Authenticate': text('Always `Basic realm="management", charset="UTF-8"`.') },
    appliesTo: takesCredentials,
  },
  {
    status: 403,
    kind: 'ReadOnly',
    examples: [
      [
        'token_read_only',
        'The token is read-only; this operation changes something, or shows redacted values, and requires the full token.',
      ],
    ],
    appliesTo: ({ access }) => access === 'write',
  },
  {
    status: 403,
    kind: 'Scope',
    examples: [
      ['token_scope_exceeded', 'The token is only for publishing; this operation requires another token.'],
      [
        'token_scope_exceeded',
        'The destination is "https://example.org/"; the token may only publish to "https://example.com/hooks/", "orders".',
      ],
    ],
    appliesTo: takesToken,
  },
  {
    status: 412,
    examples: [['budget_reached', overBudget]],
    appliesTo: isHeldToUsage,
  },
  {
    status: 429,
    kind: 'Burst',
    examples: [
      [
        'rate_limit_reached',
        "The account's limit max_requests_per_second is 100, and this request exceeds it; send it again a moment later.",
      ],
      [
        'bandwidth_limit_reached',
        "The account's limit max_bandwidth_per_second is 10485760 bytes, and the 4096 bytes of this request exceed it; send it again a moment later.",
      ],
    ],
    headers: {
      ...retryAfter,
      'Burst-RateLimit-Limit': whole(
        'If there are too many requests in a second: `max_requests_per_second`, or `max_bandwidth_per_second` if they have too many bytes.',
      ),
      'Burst-RateLimit-Remaining': whole('The remainder.'),
      'Burst-RateLimit-Reset': whole('When more are accepted, in Unix seconds.'),
    },
    appliesTo: takesToken,
  },
  {
    status: 429,
    kind: 'Daily',
    examples: [['daily_limit_reached', overDay]],
    headers: {
      ...retryAfter,
      'RateLimit-Limit': whole('If there are too many messages in a day: `max_requests_per_day_hard`.'),
      'RateLimit-Remaining': whole('How many messages remain.'),
      'RateLimit-Reset': whole('When the next UTC day begins, in Unix seconds.'),
    },
    appliesTo: isHeldToUsage,
  },
  {
    status: 429,
    kind: 'Login',
    examples: [
      [
        'login_limit_reached',
        'There were 10 wrong user names or passwords from this address; the next attempt is allowed in 540 seconds.',
      ],
    ],
    headers: retryAfter,
    appliesTo: takesCredentials,
  },
  {
    status: 431,
    examples: [['head_too_large', 'The request line and headers together exceed 10240 bytes.']],
    appliesTo: toEach,
  },
  {
    status: 500,
    examples: [
      ['service_failed', 'The service failed to answer the request. Send it again.'],
      [
        'service_failed',
        'The service failed on this request, which may still have taken effect. Send it again if that does no harm.',
      ],
    ],
    appliesTo: toEach,
  },
  {
    status: 503,
    examples: [
      ['service_failed', 'The service cannot answer the request now. Send it again a moment later.'],
      [
        'service_failed',
        'The service cannot finish this request now, which may still have taken effect. Send it again a moment later if that does no harm.',
      ],
    ],
    appliesTo: toEach,
  },
];

interface Refused {
  readonly error: string;
  readonly code: ErrorCode;
}

export interface ErrorResponse {
  readonly description: string;
  readonly headers: AnswerHeaders;
  readonly content: {
    readonly 'application/json': {
      readonly schema: Reference;
      readonly examples: Readonly<Record<string, { readonly value: Refused }>>;
    };
  };
}

interface Refusal {
  readonly status: ErrorStatus;
  readonly response: ErrorResponse;
  readonly name: string | undefined;
}

export function refusalsOf(own: Errors, operation: Traits): readonly Refusal[] {
  return statuses.flatMap(([status, description]) => {
    const common = shared.filter((one) => one.status === status && one.appliesTo(operation));
    const examples: readonly Example[] = [
      ...common.flatMap<Example>((one) => one.examples),
      ...(own[status] ?? []),
    ];
    if (examples.length === 0) return [];
    const headers = common.reduce<AnswerHeaders>((all, one) => ({ ...all, ...one.headers }), {});
    const shown = examples.map(
      ([code, error], index) => [`error${index + 1}`, { value: { error, code } }] as const,
    );
    const response = {
      description,
      headers: { ...headers, ...link },
      content: {
        'application/json': { schema: schemaOf('Error'), examples: Object.fromEntries(shown) },
      },
    };
    const name = `Error${status}${common.map(({ kind = '' }) => kind).join('')}`;
    return [{ status, response, name: own[status] === undefined ? name : undefined }];
  });
}
