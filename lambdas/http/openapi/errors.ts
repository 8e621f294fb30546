import type { Access } from '../routes.ts';
import { schemaOf, type Reference } from './schemas.ts';

const sendAgain = 'Nothing is half-done; send the request again.';

/** What each status of a refusal says, whatever the operation. */
const statuses = [
  [400, 'Something in the request is malformed.'],
  [401, 'The token is missing, malformed, or not valid.'],
  [403, 'The token or the deployment does not allow it.'],
  [404, 'What the request names is not there.'],
  [412, 'A limit of the account would be exceeded.'],
  [413, 'The body is too large.'],
  [429, 'There are too many requests.'],
  [500, `The service failed. ${sendAgain}`],
  [502, `The service failed. ${sendAgain}`],
  [503, `The service could not do it now. ${sendAgain}`],
  [504, 'The service took too long. Send the request again.'],
] as const;

export type ErrorStatus = (typeof statuses)[number][0];

/** Sentences that an operation answers with, by status. */
export type Errors = { readonly [Status in ErrorStatus]?: readonly string[] };

/** What of an operation decides which refusals it shares with others. */
interface Traits {
  readonly access: Access;
  /** The path has variables that are decoded. */
  readonly hasVariables: boolean;
  readonly hasBody: boolean;
}

interface Shared {
  readonly sentences: readonly string[];
  readonly appliesTo: (operation: Traits) => boolean;
}

const toEach = (): boolean => true;

/** Refusals that do not come from one operation: those of the token, of the path, and of the gateway. */
const shared: { readonly [Status in ErrorStatus]?: Shared } = {
  400: {
    sentences: ['The path has "50%", which is percent-encoded, but not correctly.'],
    appliesTo: ({ hasVariables }) => hasVariables,
  },
  401: {
    sentences: [
      'The token is missing; send it as the header Authorization: Bearer <token> or as the query parameter svc_token.',
      'The token is malformed; use it exactly as it was issued.',
    ],
    appliesTo: ({ access }) => access !== 'open',
  },
  403: {
    sentences: ['The token is read-only; this operation changes something and takes the full token.'],
    appliesTo: ({ access }) => access === 'write',
  },
  413: {
    sentences: ['The body is too large: this service takes at most 4194304 bytes.'],
    appliesTo: ({ hasBody }) => hasBody,
  },
  429: {
    sentences: [
      'The service gets more requests than it may take at once. Send this one again after a second.',
    ],
    appliesTo: toEach,
  },
  500: {
    sentences: ['The service failed to handle the request; nothing was accepted. Send it again.'],
    appliesTo: toEach,
  },
  502: { sentences: ['The service could not answer this request. Send it again.'], appliesTo: toEach },
  503: { sentences: ['The service could not answer this request. Send it again.'], appliesTo: toEach },
  504: { sentences: ['The service did not answer in time. Send the request again.'], appliesTo: toEach },
};

interface Header {
  readonly description: string;
  readonly schema: { readonly type: 'string' | 'integer' };
}

const headers: { readonly [Status in ErrorStatus]?: Readonly<Record<string, Header>> } = {
  401: { 'WWW-Authenticate': { description: 'Always `Bearer`.', schema: { type: 'string' } } },
  429: {
    'Retry-After': { description: 'Seconds to wait before the next request.', schema: { type: 'integer' } },
  },
};

export interface ErrorResponse {
  readonly description: string;
  readonly headers?: Readonly<Record<string, Header>>;
  readonly content: {
    readonly 'application/json': {
      readonly schema: Reference;
      readonly examples: Readonly<Record<string, { readonly value: { readonly error: string } }>>;
    };
  };
}

function responseOf(status: ErrorStatus, description: string, sentences: readonly string[]): ErrorResponse {
  const examples = sentences.map((error, index) => [`error${index + 1}`, { value: { error } }] as const);
  return {
    description,
    ...(headers[status] && { headers: headers[status] }),
    content: { 'application/json': { schema: schemaOf('Error'), examples: Object.fromEntries(examples) } },
  };
}

const sharedName = (status: ErrorStatus): string => `Error${status}`;

/** The refusals that operations share, by the names under which they refer to them. */
export function sharedErrorResponses(): Readonly<Record<string, ErrorResponse>> {
  return Object.fromEntries(
    statuses.flatMap(([status, description]) => {
      const { sentences } = shared[status] ?? {};
      return sentences ? [[sharedName(status), responseOf(status, description, sentences)]] : [];
    }),
  );
}

/** All refusals of an operation by status: its own, and those that follow from what it is. */
export function errorResponses(
  own: Errors,
  traits: Traits,
): Readonly<Record<string, ErrorResponse | Reference>> {
  const responses: Record<string, ErrorResponse | Reference> = {};
  for (const [status, description] of statuses) {
    const common = shared[status]?.appliesTo(traits) === true ? shared[status].sentences : [];
    const special = own[status];
    if (special !== undefined) responses[status] = responseOf(status, description, [...common, ...special]);
    else if (common.length > 0) responses[status] = { $ref: `#/components/responses/${sharedName(status)}` };
  }
  return responses;
}
