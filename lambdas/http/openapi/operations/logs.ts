import { made } from '../../../options/option.ts';
import type { RouteTable } from '../../route.ts';
import { logPage, logs as entries } from '../parts/examples.ts';
import type { Errors } from '../parts/errors.ts';
import type { Operations } from '../parts/operation.ts';

const errors: Errors = {
  400: [
    ['field_invalid', 'count is "5000"; allowed is a whole number from 1 to 1000.'],
    [
      'cursor_invalid',
      'cursor is not one that this list handed out; send it back exactly as it was answered, for the same list in the same order.',
    ],
  ],
};

export const logsRoutes = {
  'GET /v2/logs': { access: 'read' },
  'GET /v2/events': { access: 'read' },
} as const satisfies RouteTable;

export const logs = /* @__PURE__ */ made((): Operations<typeof logsRoutes> => ({
  'GET /v2/logs': {
    id: 'listLogs',
    summary: 'List the log',
    description:
      'Newest first, or earliest first if `order` says so. Filters are ANDed, and the values of one filter are ORed. If few entries match, or entries are large, a page may have fewer than requested and still a cursor.',
    filters: 'logs',
    answers: { 200: { description: 'A page of the log.', schema: 'LogPage', example: logPage } },
    errors,
  },
  'GET /v2/events': {
    id: 'listEvents',
    summary: 'List the log, for older clients',
    description: 'Like `GET /v2/logs`, with the older names of some fields as well.',
    deprecated: true,
    filters: 'logs',
    answers: {
      200: {
        description: 'A page of the log.',
        schema: 'EventPage',
        example: { ...logPage, events: entries },
      },
    },
    errors,
  },
}));
