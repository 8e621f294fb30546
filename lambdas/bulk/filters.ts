import { badField } from '../error/httpError.ts';
import type { Header } from '../shared/headers.ts';
import type { BulkOperation } from '../wire/bulkAnswers.ts';
import { idFilters, parseFilter } from '../wire/filters.ts';
import { parseCountQuery } from '../wire/workflowFilters.ts';

/** Other parameters of the same request without `background=true`. */
const others: ReadonlySet<string> = new Set([
  ...Object.values(idFilters),
  'workflowRunIds',
  'count',
  'cursor',
]);

/** @throws HttpError 400 for an invalid filter */
export function readFilter(operation: BulkOperation, query: readonly Header[]) {
  if (operation === 'runs.cancel') return parseCountQuery(query);
  const [list] = operation.split('.');
  return parseFilter(list === 'messages' || list === 'dlq' ? list : 'deadRuns', query);
}

/** @throws HttpError 400 for an invalid filter, or a parameter that is not a filter */
export function filterOf(operation: BulkOperation, query: readonly Header[]): ReturnType<typeof readFilter> {
  const [other] = query.find(([name]) => others.has(name)) ?? [];
  if (other !== undefined)
    throw badField(
      `${other} is given; with background=true only filters are allowed, and all that match are done.`,
    );
  return readFilter(operation, query);
}
