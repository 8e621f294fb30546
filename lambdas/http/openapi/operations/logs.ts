import { logPage, logs as entries } from '../examples.ts';
import type { Errors } from '../errors.ts';
import type { Operations } from '../operation.ts';

const errors: Errors = {
  400: [
    ['field_invalid', 'count is "500"; allowed is a whole number from 1 to 100.'],
    [
      'cursor_invalid',
      'cursor is not one that this list handed out; send it back exactly as it was answered.',
    ],
  ],
};

export const logs: Operations<'logs'> = {
  'GET /v2/logs': {
    id: 'listLogs',
    tag: 'Logs',
    summary: 'List the log',
    description:
      'Newest first. Filters are ANDed, the values of one are ORed. Where few entries match, or where they are large, a page may have fewer than asked for, and still a cursor.',
    variables: {},
    filters: 'logs',
    answers: { 200: { description: 'A page of the log.', schema: 'LogPage', example: logPage } },
    errors,
  },
  'GET /v2/events': {
    id: 'listEvents',
    tag: 'Logs',
    summary: 'List the log, for older clients',
    description: 'As `GET /v2/logs`.',
    deprecated: true,
    variables: {},
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
};
