import { made } from '../../../options/option.ts';
import type { RouteTable } from '../../route.ts';
import { urlGroup } from '../parts/examples.ts';
import { cursorHeaders, goesOn } from '../parts/arrays.ts';
import type { Operations } from '../parts/operation.ts';
import { holdOf, releaseOf } from '../parts/holds.ts';

const noSuchGroup = ['url_group_not_found', 'There is no URL group "orders".'] as const;
const contended = [
  'busy',
  'The URL group "orders" is being changed by many at once; send the change again.',
] as const;

const secrets = {
  endpoints: [
    {
      url: 'https://example.com/orders',
      name: 'billing',
      signingSecret: 'mTq3yXh0c5vQ2kq0bq3o1pJm1yS4cM0sVw8aZ6nE7uI',
    },
  ],
};

const unnamed = [
  'field_invalid',
  'endpoints.0 has neither url nor name; allowed is {"endpoints": [{"url"?, "name"?}]}.',
] as const;
const unsigned = [
  'field_invalid',
  'endpoints.0 names "billing", which has no signature; add the endpoint with "signature" first.',
] as const;
const missing = [
  noSuchGroup,
  ['endpoint_not_found', 'The URL group "orders" has no endpoint "missing".'],
] as const;

export const urlGroupsRoutes = {
  'GET /v2/topics': { access: 'read' },
  'GET /v2/topics/{name}': { access: 'read' },
  'PATCH /v2/topics/{name}': { access: 'write', audit: 'urlGroup.change' },
  'DELETE /v2/topics/{name}': { access: 'write', audit: 'urlGroup.delete' },
  'POST /v2/topics/{name}/endpoints': { access: 'write', audit: 'urlGroup.addEndpoints' },
  'DELETE /v2/topics/{name}/endpoints': { access: 'write', audit: 'urlGroup.removeEndpoints' },
  'POST /v2/topics/{name}/endpoints/rotate-signature': { access: 'write', audit: 'urlGroup.rotateSignature' },
  'DELETE /v2/topics/{name}/endpoints/rotate-signature': {
    access: 'write',
    audit: 'urlGroup.endSignatureOverlap',
  },
  'POST /v2/topics/{name}/hold': { access: 'write', audit: 'urlGroup.hold' },
  'POST /v2/topics/{name}/release': { access: 'write', audit: 'urlGroup.release' },
} as const satisfies RouteTable;

export const urlGroups = /* @__PURE__ */ made((): Operations<typeof urlGroupsRoutes> => ({
  'GET /v2/topics': {
    id: 'listUrlGroups',
    summary: 'List the URL groups',
    ...goesOn,
    answers: {
      200: {
        description: 'All of them by name, or as many as fit into an answer.',
        headers: cursorHeaders,
        schema: 'UrlGroups',
        example: [urlGroup],
      },
    },
  },
  'GET /v2/topics/{name}': {
    id: 'getUrlGroup',
    summary: 'Get a URL group',
    answers: { 200: { description: 'The group.', schema: 'UrlGroup', example: urlGroup } },
    errors: { 404: [noSuchGroup] },
  },
  'PATCH /v2/topics/{name}': {
    id: 'setUrlGroupDefaults',
    summary: 'Set the default headers of a URL group',
    description: 'They replace the earlier ones. A request’s own headers win over them.',
    body: {
      required: true,
      schema: 'GroupDefaults',
      example: { headers: { 'Svc-Retries': '3', 'Svc-Header-Forward': ['true'] } },
    },
    answers: { 200: { description: 'The group as it is now.', schema: 'UrlGroup', example: urlGroup } },
    errors: {
      400: [
        [
          'field_unknown',
          'headers.x-tenant is not a header of the service; allowed are those, such as Svc-Retries and Svc-Forward-*.',
        ],
      ],
      403: [
        [
          'destination_not_allowed',
          'Svc-Callback is "http://10.0.0.1/", which is not a public address; this deployment refuses it.',
        ],
      ],
      404: [noSuchGroup],
      412: [['retries_over_limit', "Svc-Retries is 6, but the account's limit max_retries is 5."]],
      503: [contended],
    },
  },
  'DELETE /v2/topics/{name}': {
    id: 'deleteUrlGroup',
    summary: 'Delete a URL group',
    answers: { 200: { description: 'It is deleted.', schema: 'Nothing', example: {} } },
    errors: { 503: [contended] },
  },
  'POST /v2/topics/{name}/endpoints': {
    id: 'addEndpoints',
    summary: 'Add endpoints to a URL group',
    description:
      'Creates the group if it is missing. An existing endpoint, with the same name or else the same URL, is updated. All are added, or none.',
    body: {
      required: true,
      schema: 'AddedEndpoints',
      example: {
        endpoints: [
          {
            url: 'https://example.com/orders',
            name: 'billing',
            signature: { header: 'X-Acme-Signature', encoding: 'hex', prefix: 'sha256=' },
          },
        ],
      },
    },
    answers: {
      200: {
        description: 'They are added. The secret of a new signature is shown only here.',
        schema: 'EndpointsAdded',
        example: secrets,
      },
    },
    errors: {
      400: [
        [
          'field_invalid',
          'endpoints.0.signature.header is "Content-Length", which the connection sets; allowed is another name, such as X-Acme-Signature.',
        ],
        [
          'destination_invalid',
          'endpoints.0.url is "example.com": it has another form. Allowed is a URL that starts with http:// or https://.',
        ],
      ],
      403: [
        [
          'destination_not_allowed',
          'endpoints.0.url is "http://10.0.0.1/", which is not a public address; this deployment refuses it.',
        ],
      ],
      412: [
        [
          'url_group_limit_reached',
          'The URL group "orders" would be number 101, but the account\'s limit max_topics is 100.',
        ],
        [
          'endpoint_limit_reached',
          'The URL group "orders" would have 101 endpoints, but the account\'s limit max_endpoints_per_topic is 100.',
        ],
      ],
      503: [contended],
    },
  },
  'DELETE /v2/topics/{name}/endpoints': {
    id: 'removeEndpoints',
    summary: 'Remove endpoints from a URL group',
    description: 'Each is named by its URL, its name, or both. The group is removed with its last endpoint.',
    body: { required: true, schema: 'RemovedEndpoints', example: { endpoints: [{ name: 'billing' }] } },
    answers: { 200: { description: 'They are removed.', schema: 'Nothing', example: {} } },
    errors: {
      400: [
        [
          'field_invalid',
          'endpoints.0 has neither url nor name; allowed is {"endpoints": [{"url"?, "name"?}]} with at least one endpoint.',
        ],
      ],
      404: missing,
      503: [contended],
    },
  },
  'POST /v2/topics/{name}/endpoints/rotate-signature': {
    id: 'rotateEndpointSignatures',
    summary: 'Give the signatures of endpoints new secrets',
    description:
      'During the overlap, their deliveries’ header has a value for each valid secret, newest first, separated by commas. The last three replaced secrets are kept.',
    body: {
      required: true,
      schema: 'RotatedSignatures',
      example: { endpoints: [{ name: 'billing' }], overlap: '24h' },
    },
    answers: {
      200: {
        description: 'The new secrets. They are shown only here.',
        schema: 'EndpointSecrets',
        example: secrets,
      },
    },
    errors: {
      400: [unnamed, unsigned, ['field_invalid', 'overlap is "8d"; allowed is from 0s to 7d.']],
      404: missing,
      503: [contended],
    },
  },
  'DELETE /v2/topics/{name}/endpoints/rotate-signature': {
    id: 'endSignatureOverlap',
    summary: 'End the overlap after a rotation',
    description: 'Within a minute, deliveries are signed with the newest secret only. Safe to repeat.',
    body: { required: true, schema: 'EndedOverlaps', example: { endpoints: [{ name: 'billing' }] } },
    answers: { 200: { description: 'It is ended.', schema: 'Nothing', example: {} } },
    errors: { 400: [unnamed, unsigned], 404: missing, 503: [contended] },
  },
  'POST /v2/topics/{name}/hold': holdOf('urlGroup'),
  'POST /v2/topics/{name}/release': releaseOf('urlGroup'),
}));
