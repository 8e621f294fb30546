import { made } from '../../../options/option.ts';
import type { RouteTable } from '../../route.ts';
import { largestCount } from '../../../shared/bounds.ts';
import { cursorHeaders, goesOn } from '../parts/arrays.ts';
import { circuit, flowControl as shown } from '../parts/examples.ts';
import type { Operation, Operations } from '../parts/operation.ts';
import { holdOf, listHolds, releaseOf } from '../parts/holds.ts';

const noSuchKey = ['flow_control_key_not_found', 'There is no flow-control key "unknown".'] as const;
const busy = ['busy', 'It is being changed by many at once; send the change again.'] as const;

const change = (own: Pick<Operation, 'id' | 'summary' | 'description' | 'query' | 'errors'>): Operation => ({
  ...own,
  answers: { 200: { description: 'It is done.', schema: 'Nothing', example: {} } },
  errors: { 404: [noSuchKey], 503: [busy], ...own.errors },
});

const flag = (what: string) => ({
  description: `Whether to unpin ${what}. Default: \`false\`.`,
  schema: { type: 'boolean' } as const,
  example: true,
});

export const flowControlRoutes = {
  'GET /v2/flowControl': { access: 'read' },
  'GET /v2/flowControl/{key}': { access: 'read' },
  'POST /v2/flowControl/{key}/pause': { access: 'write', audit: 'flowControl.pause' },
  'POST /v2/flowControl/{key}/resume': { access: 'write', audit: 'flowControl.resume' },
  'POST /v2/flowControl/{key}/pin': { access: 'write', audit: 'flowControl.pin' },
  'POST /v2/flowControl/{key}/unpin': { access: 'write', audit: 'flowControl.unpin' },
  'POST /v2/flowControl/{key}/resetRate': { access: 'write', audit: 'flowControl.resetRate' },
  // Published clients use this name.
  'POST /v2/flowControl/{key}/reset': { access: 'write', audit: 'flowControl.resetRate' },
  'GET /v2/globalParallelism': { access: 'read' },
  'GET /v2/circuits': { access: 'read' },
  'POST /v2/circuits/{host}/close': { access: 'write', audit: 'circuit.close' },
  'GET /v2/holds': { access: 'read' },
  'POST /v2/hosts/{host}/hold': { access: 'write', audit: 'host.hold' },
  'POST /v2/hosts/{host}/release': { access: 'write', audit: 'host.release' },
  'POST /v2/labels/{label}/hold': { access: 'write', audit: 'label.hold' },
  'POST /v2/labels/{label}/release': { access: 'write', audit: 'label.release' },
  'POST /v2/hold': { access: 'write', audit: 'account.hold' },
  'POST /v2/release': { access: 'write', audit: 'account.release' },
} as const satisfies RouteTable;

export const flowControl = /* @__PURE__ */ made((): Operations<typeof flowControlRoutes> => ({
  'GET /v2/flowControl': {
    id: 'listFlowControl',
    summary: 'List the flow-control keys',
    description:
      'A key exists from the first message that names it, even a delayed one. It is removed after 30 days without use, unless it is paused or pinned, or still has messages to come.',
    query: {
      search: {
        description: 'A part of the wanted keys. Case matters.',
        schema: { type: 'string', minLength: 1 },
        example: 'tenant-',
      },
      ...goesOn.query,
    },
    answers: {
      200: {
        description: 'All of them by name, or as many as fit into an answer.',
        headers: cursorHeaders,
        schema: 'FlowControls',
        example: [shown],
      },
    },
    errors: {
      400: [
        ...(goesOn.errors?.[400] ?? []),
        ['field_invalid', 'search is empty; a parameter must have a value.'],
        ['field_unknown', '"prefix" is not a parameter here; allowed are search, cursor.'],
      ],
    },
  },
  'GET /v2/flowControl/{key}': {
    id: 'getFlowControl',
    summary: 'Get a flow-control key',
    answers: {
      200: {
        description: 'Its limits, and how many deliveries they hold back.',
        schema: 'FlowControl',
        example: shown,
      },
    },
    errors: { 404: [noSuchKey] },
  },
  'POST /v2/flowControl/{key}/pause': change({
    id: 'pauseFlowControl',
    summary: 'Pause a flow-control key',
    description:
      'No delivery with the key starts until it is resumed. Due deliveries wait in its line. Deliveries in flight continue.',
  }),
  'POST /v2/flowControl/{key}/resume': change({
    id: 'resumeFlowControl',
    summary: 'Resume a flow-control key',
    description: 'Waiting deliveries start in their order of arrival, as the limits allow.',
  }),
  'POST /v2/flowControl/{key}/pin': change({
    id: 'pinFlowControl',
    summary: 'Pin the limits of a flow-control key',
    description:
      'Sets limits that the key’s messages do not change. A limit that is not given stays as it is, pinned or not.',
    query: {
      parallelism: {
        description: 'Deliveries that may be in flight at once; at most the account’s `max_parallelism`.',
        schema: { type: 'integer', minimum: 1, maximum: largestCount },
        example: 3,
      },
      rate: {
        description: 'Deliveries that may start in one period.',
        schema: { type: 'integer', minimum: 1, maximum: largestCount },
        example: 10,
      },
      period: {
        description:
          'The period of the rate, up to a week: seconds, or a duration such as `1m`. Only with a rate. Default: 1 second.',
        schema: { type: 'string' },
        example: '60',
      },
    },
    errors: {
      400: [
        [
          'field_invalid',
          'parallelism and rate are missing; allowed is at least one of them, and a period with the rate.',
        ],
        ['field_invalid', 'rate is "0"; allowed is a whole number from 1 to 1000000000.'],
        ['field_invalid', 'period is "8d"; allowed is 1 second to 604800 seconds, a week.'],
        ['field_invalid', 'period is given without rate; allowed is a period with it.'],
      ],
      412: [
        ['parallelism_over_limit', "parallelism is 200, but the account's limit max_parallelism is 100."],
      ],
    },
  }),
  'POST /v2/flowControl/{key}/unpin': change({
    id: 'unpinFlowControl',
    summary: 'Unpin the limits of a flow-control key',
    description: 'The limits stay as they are until the key’s next message sets others.',
    query: { parallelism: flag('the parallelism'), rate: flag('the rate and its period') },
    errors: {
      400: [
        ['field_invalid', 'parallelism and rate are missing; allowed is true for what is to be unpinned.'],
        ['field_invalid', 'rate is "yes"; allowed are true and false.'],
      ],
    },
  }),
  'POST /v2/flowControl/{key}/resetRate': change({
    id: 'resetFlowControlRate',
    summary: 'Begin a new period of a flow-control key',
    description:
      'Earlier starts no longer count, so as many deliveries as the rate allows may start at once.',
  }),
  'POST /v2/flowControl/{key}/reset': change({
    id: 'resetFlowControl',
    summary: 'Begin a new period of a flow-control key, by another name',
    description: 'As `POST /v2/flowControl/{key}/resetRate`.',
  }),
  'GET /v2/globalParallelism': {
    id: 'getGlobalParallelism',
    summary: 'Get the account’s deliveries in flight',
    description:
      'An account’s deliveries in flight are limited to its `max_global_parallelism`. More than that wait.',
    answers: {
      200: {
        description: 'How many are in flight, and how many may be.',
        schema: 'GlobalParallelism',
        example: { parallelismMax: 100, parallelismCount: 12 },
      },
    },
  },
  'GET /v2/circuits': {
    id: 'listCircuits',
    summary: 'List the open circuits',
    description:
      'The hosts that are down, whose deliveries wait, and the hosts that answer again and whose waiting deliveries are being released.',
    query: goesOn.query,
    answers: {
      200: {
        description: 'All of them by host, or as many as fit into an answer.',
        headers: cursorHeaders,
        schema: 'Circuits',
        example: [circuit],
      },
    },
    errors: goesOn.errors,
  },
  'POST /v2/circuits/{host}/close': {
    id: 'closeCircuit',
    summary: 'Close a circuit by hand',
    description:
      'Waiting deliveries are released, one at first and more with each success. If the host is still down, its circuit opens again.',
    answers: { 200: { description: 'It is closed.', schema: 'Nothing', example: {} } },
    errors: {
      404: [['circuit_not_found', 'No circuit of the host "example.com" is open.']],
      503: [busy],
    },
  },
  'GET /v2/holds': listHolds,
  'POST /v2/hosts/{host}/hold': holdOf('host'),
  'POST /v2/hosts/{host}/release': releaseOf('host'),
  'POST /v2/labels/{label}/hold': holdOf('label'),
  'POST /v2/labels/{label}/release': releaseOf('label'),
  'POST /v2/hold': holdOf('account'),
  'POST /v2/release': releaseOf('account'),
}));
