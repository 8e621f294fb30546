import { badField, badRequest, quote } from '../error/httpError.ts';
import type { Call } from './handler.ts';

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
