/** Lists that are answered as arrays, with their cursor in a header. */
import { headerName } from '../../../shared/headers.ts';
import { defaultPrefix } from '../../../request/dialect.ts';
import type { AnswerHeaders } from './headers.ts';
import type { Operation } from './operation.ts';

export const goesOn: Pick<Operation, 'query' | 'errors'> = {
  query: {
    cursor: {
      description: 'Where the previous answer ended, exactly as in its header.',
      schema: { type: 'string', minLength: 1 },
    },
  },
  errors: {
    400: [
      [
        'cursor_invalid',
        'cursor is not one that this list handed out; send it back exactly as it was answered, for the same list in the same order.',
      ],
    ],
  },
};

export const cursorHeaders: AnswerHeaders = {
  [headerName(defaultPrefix, 'cursor')]: {
    description:
      'Where the next page begins, if not all fit into an answer (4.7 MB). Its prefix is the request’s.',
    schema: { type: 'string' },
  },
};
