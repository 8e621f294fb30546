/** Lists that are answered as arrays, as the published clients expect: the cursor is a header. */
import { headerName } from '../shared/headers.ts';
import { badField } from '../error/httpError.ts';
import type { ApiResponse, Call } from './handler.ts';

/**
 * Reads the cursor of a request for the next page.
 *
 * @throws HttpError 400
 */
export function cursorOf({ canonical }: Call): string | undefined {
  const given = canonical.otherQuery.filter(([name]) => name === 'cursor');
  const [[, cursor] = []] = given;
  if (given.length > 1) throw badField(`cursor is given ${given.length} times; allowed is once.`);
  if (cursor === '') throw badField('cursor is empty; allowed is what the answer before said.');
  return cursor;
}

/** Answers with a list, and with the cursor of the next page in a header. */
export const listAnswer = (
  { canonical }: Call,
  page: { readonly records: readonly unknown[]; readonly cursor: string | undefined },
): ApiResponse => ({
  status: 200,
  body: page.records,
  ...(page.cursor !== undefined && { headers: { [headerName(canonical.prefix, 'cursor')]: page.cursor } }),
});
