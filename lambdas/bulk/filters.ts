import { badField } from '../error/httpError.ts';
import type { Header } from '../shared/headers.ts';
import type { BulkOperation } from '../wire/bulkAnswers.ts';
import { idFilters, parseFilter, type Filter } from '../wire/filters.ts';

export const listOf = (operation: BulkOperation) =>
  operation === 'messages.cancel' ? 'messages' : operation.startsWith('dlq.') ? 'dlq' : 'deadRuns';

/** @throws HttpError 400 for an invalid filter, and for what is no filter */
export function filterOf(operation: BulkOperation, query: readonly Header[]): Filter {
  const list = listOf(operation);
  const [other] = query.find(([name]) => [idFilters[list], 'count', 'cursor'].includes(name)) ?? [];
  if (other !== undefined)
    throw badField(
      `${other} is given; with background=true only filters are allowed, and all that match are done.`,
    );
  return parseFilter(list, query);
}
