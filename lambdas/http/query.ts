/** An operation's own query parameters, and lists that are answered as arrays, as the published clients expect: the cursor is a header. */
import { badField, badRequest, quote } from '../error/httpError.ts';
import { headerName } from '../shared/headers.ts';
import type { ApiResponse, Call } from './handler.ts';

/**
 * Reads an operation's own query parameters, each of which may be given once.
 *
 * @param names the operation's parameters
 * @returns the values of those that are given
 * @throws HttpError 400 for another name, and for one that is given twice or is empty
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
    if (value === '') throw badField(`${name} is empty; a parameter that is given must have a value.`);
    given[name] = value;
  }
  return given;
}

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
