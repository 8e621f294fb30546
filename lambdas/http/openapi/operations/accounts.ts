import { made } from '../../../options/option.ts';
import type { RouteTable } from '../../route.ts';
import * as z from 'zod/mini';
import { accountFields, allowedToken, longestAccountPage } from '../../../management/accountShapes.ts';
import { account, accountId, accountStats, madeToken, namedToken } from '../parts/examples.ts';
import type { Errors } from '../parts/errors.ts';
import { refusedOverlaps, rotating } from './keys.ts';
import type { Operations } from '../parts/operation.ts';

const nothingAt = (method: string, path: string) =>
  ['path_not_found', `There is no ${method} /v2/acme/${path}.`] as const;
const noSuchAccount = ['account_not_found', `There is no account "${accountId}".`] as const;
const wasDeleted = ['account_not_found', `The account "${accountId}" was deleted.`] as const;
const notNow = [
  ['busy', `The account "${accountId}" is being changed by others; send the request again.`],
  ['region_unreachable', 'The region us-east-1 does not answer; send the request again when it does.'],
] as const;

const errorsOf = (method: string, path: string, ...others: NonNullable<Errors[404]>): Errors => ({
  404: [noSuchAccount, ...others, nothingAt(method, `${path}/${accountId}`)],
  503: notNow,
});

const names = Object.keys(accountFields).join(', ');
const badFields = [
  ['body_invalid', 'The body is not JSON.'],
  ['body_invalid', `The body is not a JSON object; allowed are the fields ${names}.`],
  ['field_unknown', `"colour" is not a field that can be set; allowed are ${names}.`],
  [
    'field_invalid',
    "timeout is 900; allowed is a whole number from 1 to 840 (5280 where the deployment has the setting longDelivery: instances), or null for the plan's own.",
  ],
  ['field_invalid', 'active and state contradict each other; allowed is one of them, or both if they agree.'],
  [
    'destination_invalid',
    'failure_callback is "ftp://example.com": it has another form. Allowed is a URL that starts with http:// or https://.',
  ],
  ['field_invalid', 'max_requests_per_day_hard is 500; allowed is 1000 (max_requests_per_day) or more.'],
] as const;

const refusedCallback = [
  [
    'destination_not_allowed',
    'failure_callback is "http://10.0.0.1/", which is not a public address; this deployment refuses it.',
  ],
  [
    'delivery_loop',
    'failure_callback is "https://queue.example.com/", which is this service itself; messages to it would go in circles.',
  ],
] as const;

/** The management API has its own host. `brand` is `svc` or the name of another dialect. */
export const accountsRoutes = {
  'GET /v2/{brand}/users': { access: 'management' },
  'POST /v2/{brand}/users': { access: 'management' },
  'GET /v2/{brand}/users/{id}': { access: 'management' },
  'PATCH /v2/{brand}/users/{id}': { access: 'management' },
  'DELETE /v2/{brand}/users/{id}': { access: 'management' },
  'POST /v2/{brand}/users/{id}/restore': { access: 'management' },
  'POST /v2/{brand}/users/{id}/failure-callback/test': { access: 'management' },
  'POST /v2/{brand}/rotate-token/{id}': { access: 'management' },
  'POST /v2/{brand}/users/{id}/tokens': { access: 'management' },
  'GET /v2/{brand}/users/{id}/tokens': { access: 'management' },
  'DELETE /v2/{brand}/users/{id}/tokens/{tokenId}': { access: 'management' },
  'POST /v2/{brand}/users/{id}/tokens/{tokenId}/rotate': { access: 'management' },
  'GET /v2/{brand}/stats/{id}': { access: 'management' },
  'GET /v2/{brand}/openapi.json': { access: 'open' },
} as const satisfies RouteTable;

export const accounts = /* @__PURE__ */ made((): Operations<typeof accountsRoutes> => ({
  'GET /v2/{brand}/users': {
    id: 'listAccounts',
    summary: 'List the accounts',
    description:
      'By region, including deleted accounts. If a region does not answer, its accounts are shown as the first region last saw them. The header `Link` has the next page, if there is one.',
    query: {
      count: {
        description: `The most accounts on a page, by default ${longestAccountPage}.`,
        schema: { type: 'integer', minimum: 1, maximum: longestAccountPage },
        example: 100,
      },
      region: {
        description: 'The region at which the page begins, by default the deployment’s first.',
        schema: { type: 'string' },
        example: 'eu-central-1',
      },
      search: {
        description:
          'Only accounts whose customer, creator or id contains this text, in upper or lower case.',
        schema: { type: 'string', pattern: '\\S' },
        example: 'example.com',
      },
      after: {
        description:
          'The account in that region after which the page begins: the last one of the page before.',
        schema: { type: 'string', pattern: z.regexes.uuid().source },
        example: accountId,
      },
    },
    answers: {
      200: {
        description: 'A page of them.',
        headers: {
          Link: {
            description: 'With `rel="next"`: the next page. Missing on the last page.',
            schema: { type: 'string' },
            example: `<?count=100&region=eu-central-1&after=${accountId}>; rel="next"`,
          },
        },
        schema: 'Accounts',
        example: [account],
      },
    },
    errors: {
      400: [
        ['field_invalid', `count is "5000"; allowed is a whole number from 1 to ${longestAccountPage}.`],
        ['field_invalid', 'region is "eu-west-1"; allowed is eu-central-1 or us-east-1.'],
      ],
      404: [nothingAt('GET', 'users')],
    },
  },
  'POST /v2/{brand}/users': {
    id: 'createAccount',
    summary: 'Create an account',
    description:
      'Fields that are not given get the plan’s values. If the request chooses the `id`, sending it twice makes one account.',
    body: {
      required: false,
      schema: 'NewAccount',
      example: { id: accountId, customer_id: 'ops@example.com', type: 'paid', region: 'eu-central-1' },
    },
    answers: { 200: { description: 'The account.', schema: 'Account', example: account } },
    errors: {
      400: [['field_invalid', 'id is 4711; allowed is a UUID.'], ...badFields],
      403: refusedCallback,
      404: [nothingAt('POST', 'users')],
      409: [['account_exists', `There is an account "${accountId}" already.`]],
      503: notNow,
    },
  },
  'GET /v2/{brand}/users/{id}': {
    id: 'getAccount',
    summary: 'Get an account',
    description: 'Including a deleted account.',
    answers: { 200: { description: 'The account.', schema: 'Account', example: account } },
    errors: errorsOf('GET', 'users'),
  },
  'PATCH /v2/{brand}/users/{id}': {
    id: 'updateAccount',
    summary: 'Change an account',
    description: 'Sets the given fields, all of them or none. They have the same meaning as in the answer.',
    body: {
      required: true,
      schema: 'AccountChange',
      example: { type: 'paid', max_topics: 500, max_dlq_size: null, budget: 50 },
    },
    answers: {
      200: {
        description: 'The account as it is now; after a move, as its new region has it.',
        schema: 'Account',
        example: account,
      },
    },
    errors: { ...errorsOf('PATCH', 'users', wasDeleted), 400: badFields, 403: refusedCallback },
  },
  'DELETE /v2/{brand}/users/{id}': {
    id: 'deleteAccount',
    summary: 'Delete an account',
    description:
      'Its tokens become invalid at once, and its schedules and deliveries stop soon after. Its data is removed after seven days; until then the account can be restored. Safe to repeat.',
    answers: {
      200: {
        description: 'It is deleted.',
        schema: 'Account',
        example: {
          ...account,
          active: false,
          state: 'deleted',
          modifying_state: 'deleted',
          deletion_time: account.creation_time + 86_400,
        },
      },
    },
    errors: errorsOf('DELETE', 'users'),
  },
  'POST /v2/{brand}/users/{id}/restore': {
    id: 'restoreAccount',
    summary: 'Restore a deleted account',
    description:
      'Takes back a deletion of the last seven days. The account gets its former state: its tokens are valid again, its messages are delivered, and its schedules fire from now on. Safe to repeat; an account that is not deleted stays as it is.',
    answers: { 200: { description: 'The account.', schema: 'Account', example: account } },
    errors: errorsOf('POST', 'users', [
      'account_not_found',
      `The account "${accountId}" was deleted, and can no longer be restored.`,
    ]),
  },
  'POST /v2/{brand}/users/{id}/failure-callback/test': {
    id: 'testFailureCallback',
    summary: 'Test the failure callback of an account',
    description:
      'Calls `failure_callback` with an invented failure, signed like a delivery, and waits up to 20 s for the answer. Nothing is stored or retried. This call does not come from a VPC, even if deliveries do.',
    answers: {
      200: {
        description: 'The answer of the failure callback.',
        schema: 'TestedCallback',
        example: { status: 200, body: 'ok' },
      },
    },
    errors: {
      ...errorsOf('POST', 'users'),
      400: [['wrong_state', `The account "${accountId}" has no failure_callback; set one first.`]],
    },
  },
  'POST /v2/{brand}/rotate-token/{id}': {
    id: 'rotateTokens',
    summary: 'Give an account new tokens',
    description:
      'Replaces the token and the read-only token. The old ones stop working with the next request.',
    answers: {
      200: { description: 'The account, with its new tokens.', schema: 'Account', example: account },
    },
    errors: errorsOf('POST', 'rotate-token', wasDeleted),
  },
  'POST /v2/{brand}/users/{id}/tokens': {
    id: 'createToken',
    summary: 'Make a named token',
    description:
      'Makes a token besides the account’s own two, with a scope and optionally an end. It is shown only here. With `destinations`, its messages may only go to these URLs and groups, and through a queue only if the queue is named too; callbacks may only go to these URLs. `expires_at` may be `null`.',
    body: {
      required: true,
      schema: 'NewToken',
      example: { name: 'web shop', scope: 'publish', destinations: ['https://example.com/hooks/', 'orders'] },
    },
    answers: {
      201: {
        description: 'The token.',
        schema: 'MadeToken',
        example: madeToken,
      },
    },
    errors: {
      ...errorsOf('POST', 'users', wasDeleted),
      400: [
        ['body_invalid', 'The body is not JSON.'],
        ['field_invalid', `scope: Invalid input; allowed is ${allowedToken}.`],
        [
          'field_invalid',
          'destinations.0 is "ftp://example.com"; allowed is the beginning of a URL (at least http:// or https:// and the host, without user, query and fragment), the ARN of a function, queue, topic or bus in AWS, group:<name> for a URL group, or queue:<name>.',
        ],
        [
          'field_invalid',
          'expires_at is 1700000000, which is in the past; allowed is a time in the future, in Unix seconds, or null.',
        ],
      ],
      412: [
        ['token_limit_reached', 'The token would be number 51, but an account may have 50 named tokens.'],
      ],
    },
  },
  'GET /v2/{brand}/users/{id}/tokens': {
    id: 'listTokens',
    summary: 'List the named tokens',
    description:
      'The newest first, without the tokens themselves. A token is listed until 30 days after its end.',
    answers: { 200: { description: 'All of them.', schema: 'NamedTokens', example: [namedToken] } },
    errors: errorsOf('GET', 'users', wasDeleted),
  },
  'DELETE /v2/{brand}/users/{id}/tokens/{tokenId}': {
    id: 'revokeToken',
    summary: 'Revoke a named token',
    description: 'It stops working with the next request.',
    answers: {
      200: { description: 'The token that was revoked.', schema: 'NamedToken', example: namedToken },
    },
    errors: errorsOf('DELETE', 'users', wasDeleted, [
      'token_not_found',
      `The account has no token "${namedToken.id}".`,
    ]),
  },
  'POST /v2/{brand}/users/{id}/tokens/{tokenId}/rotate': {
    id: 'rotateNamedToken',
    ...rotating,
    errors: {
      ...errorsOf('POST', 'users', wasDeleted, [
        'token_not_found',
        `The account has no token "${namedToken.id}".`,
      ]),
      400: refusedOverlaps,
    },
  },
  'GET /v2/{brand}/stats/{id}': {
    id: 'getAccountStats',
    summary: 'Get an account’s usage',
    description: 'For each of the last 30 days (UTC), today last, and for this month.',
    answers: {
      200: { description: 'Its usage, here of two days.', schema: 'AccountStats', example: accountStats },
    },
    errors: errorsOf('GET', 'stats'),
  },
  'GET /v2/{brand}/openapi.json': {
    id: 'getManagementDescription',
    summary: 'Get the management API’s description',
    answers: {
      200: { description: 'An OpenAPI document.', schema: 'Description', example: { openapi: '3.1.1' } },
    },
    errors: { 404: [nothingAt('GET', 'openapi.json')] },
  },
}));
