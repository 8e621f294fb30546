import { made } from '../../../options/option.ts';
import type { RouteTable } from '../../route.ts';
import { allowedOwnToken } from '../../../management/accountShapes.ts';
import { account, madeToken, namedToken, signingKeys } from '../parts/examples.ts';
import type { Operation, Operations } from '../parts/operation.ts';

const rotation = (of: Pick<Operation, 'id' | 'summary' | 'description' | 'deprecated'>): Operation => ({
  ...of,
  answers: {
    200: { description: 'The keys as they are now.', schema: 'SigningKeys', example: signingKeys },
  },
  errors: { 503: [['busy', 'The account is being changed by others; send the request again.']] },
});

export const rotating = {
  summary: 'Give a named token another secret',
  description:
    'Its id, rights and end stay, and so do the tokens that it made. The earlier secret is accepted as well until the overlap is over: `0s` ends it at once, also one that an earlier rotation kept. Each request rotates again.',
  body: { required: false, schema: 'RotatedToken', example: { overlap: '1h' } },
  answers: { 200: { description: 'The token.', schema: 'MadeToken', example: madeToken } },
} as const;

export const refusedOverlaps = [
  ['field_invalid', 'overlap is "8d"; allowed is from 0s to 7d.'],
  ['body_invalid', 'The body is not JSON.'],
] as const;

const busy = [['busy', 'The account is being changed by others; send the request again.']] as const;

export const keysRoutes = {
  'GET /v2/keys': { access: 'read' },
  'POST /v2/keys/rotate': { access: 'write', audit: 'keys.rotate' },
  'POST /v2/rotate': { access: 'write', audit: 'keys.rotate' },
  'GET /v2/tokens': { access: 'read' },
  'POST /v2/tokens': { access: 'write', audit: 'token.create' },
  'POST /v2/tokens/rotate': { access: 'write', audit: 'account.rotateTokens' },
  'POST /v2/tokens/{tokenId}/rotate': { access: 'write', audit: 'token.rotate' },
  'DELETE /v2/tokens/{tokenId}': { access: 'write', audit: 'token.revoke' },
} as const satisfies RouteTable;

export const keys = /* @__PURE__ */ made((): Operations<typeof keysRoutes> => ({
  'GET /v2/tokens': {
    id: 'listOwnTokens',
    summary: 'List the account’s named tokens',
    description:
      'The newest first, without the tokens themselves. A token is listed until 30 days after its end.',
    answers: { 200: { description: 'All of them.', schema: 'NamedTokens', example: [namedToken] } },
  },
  'POST /v2/tokens': {
    id: 'createOwnToken',
    summary: 'Make a token for a colleague or a program',
    description:
      'Makes a token with the scope `read` or `publish`, and optionally an end. It is shown only here. If a named token makes it, it is revoked together with that one, and ends no later. Tokens with all rights are made by the operator of the service.',
    body: {
      required: true,
      schema: 'NewOwnToken',
      example: { name: 'web shop', scope: 'publish', destinations: ['https://example.com/hooks/', 'orders'] },
    },
    answers: { 201: { description: 'The token.', schema: 'MadeToken', example: madeToken } },
    errors: {
      400: [
        ['body_invalid', 'The body is not JSON.'],
        ['field_invalid', `scope: Invalid input; allowed is ${allowedOwnToken}.`],
      ],
      412: [
        ['token_limit_reached', 'The token would be number 51, but an account may have 50 named tokens.'],
      ],
      503: busy,
    },
  },
  'POST /v2/tokens/rotate': {
    id: 'rotateOwnTokens',
    summary: 'Give the account new tokens',
    description:
      'Replaces the account’s own two tokens. The old ones stop working with the next request, and messages, schedules and signing keys stay. Named tokens are not changed. Only the account’s own token may do this.',
    answers: {
      200: {
        description: 'The new tokens.',
        schema: 'OwnTokens',
        example: { token: account.token, readOnlyToken: account.read_only_token },
      },
    },
    errors: {
      403: [
        [
          'token_scope_exceeded',
          'The token is a named one; only the account’s own token, or the operator of the service, rotates that.',
        ],
      ],
      503: busy,
    },
  },
  'POST /v2/tokens/{tokenId}/rotate': {
    id: 'rotateOwnToken',
    ...rotating,
    errors: {
      400: refusedOverlaps,
      403: [
        [
          'token_scope_exceeded',
          `The token "${namedToken.id}" may do everything, or was not made by this one; the operator of the service rotates it.`,
        ],
      ],
      404: [['token_not_found', `The account has no token "${namedToken.id}".`]],
      503: busy,
    },
  },
  'DELETE /v2/tokens/{tokenId}': {
    id: 'revokeOwnToken',
    summary: 'Revoke a token of the account',
    description: 'It stops working with the next request. Only the operator revokes tokens with all rights.',
    answers: {
      200: { description: 'The token that was revoked.', schema: 'NamedToken', example: namedToken },
    },
    errors: {
      403: [
        [
          'token_scope_exceeded',
          `The token "${namedToken.id}" may do everything; the operator of the service revokes it.`,
        ],
      ],
      404: [['token_not_found', `The account has no token "${namedToken.id}".`]],
      503: busy,
    },
  },
  'GET /v2/keys': {
    id: 'getSigningKeys',
    summary: 'Get the signing keys',
    description: 'A receiver that knows both keeps recognizing deliveries after a rotation.',
    answers: { 200: { description: 'Both keys.', schema: 'SigningKeys', example: signingKeys } },
  },
  'POST /v2/keys/rotate': rotation({
    id: 'rotateSigningKeys',
    summary: 'Rotate the signing keys',
    description:
      'The next key becomes the current key, and a new key becomes the next. Each request rotates again: after two rotations, a receiver that knew both keys knows neither.',
  }),
  'POST /v2/rotate': rotation({
    id: 'rotateSigningKeysByOldName',
    summary: 'Rotate the signing keys, by another name',
    description: 'As `POST /v2/keys/rotate`.',
    deprecated: true,
  }),
}));
