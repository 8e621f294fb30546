/**
 * Query parameters of an operation, and lists that are answered as arrays with the cursor in a header, as
 * published clients expect.
 */
import { badField, badRequest, quote } from '../error/httpError.ts';
import { headerName } from '../shared/headers.ts';
import type { ApiResponse, Call } from './handler.ts';

/**
 * Reads the query parameters that an operation knows.
 *
 * @throws HttpError 400 for an unknown, repeated or empty parameter
 */
export function readQuery<Name extends string>(
  { canonical }: Pick<Call, 'canonical'>,
  names: readonly Name[],
): { readonly [N in Name]?: string } {
  const given: { [N in Name]?: string } = {};
  for (const [written, value] of canonical.otherQuery) {
    const name = names.find((one) => one === written);
    if (name === undefined) {
      throw badRequest(
        'field_unknown',
        `${quote(written)} is not a parameter here; allowed are ${names.join(', ')}.`,
      );
    }
    if (given[name] !== undefined) throw badField(`${name} is given twice; allowed is once.`);
    if (value === '') throw badField(`${name} is empty; a parameter must have a value.`);
    given[name] = value;
  }
  return given;
}

export function cursorOf({ canonical }: Call): string | undefined {
  const given = canonical.otherQuery.filter(([name]) => name === 'cursor');
  const [[, cursor] = []] = given;
  if (given.length > 1) throw badField(`cursor is given ${given.length} times; allowed is once.`);
  if (cursor === '') throw badField('cursor is empty; allowed is the cursor of the previous answer.');
  return cursor;
}

export const listAnswer = (
  { canonical }: Call,
  page: { readonly records: readonly unknown[]; readonly cursor: string | undefined },
): ApiResponse => ({
  status: 200,
  body: page.records,
  ...(page.cursor !== undefined && { headers: { [headerName(canonical.prefix, 'cursor')]: page.cursor } }),
});
