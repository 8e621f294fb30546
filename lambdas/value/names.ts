import { nameForm } from '../shared/bounds.ts';
import { badField, quote } from '../error/httpError.ts';

export const namePattern = new RegExp(nameForm);

/**
 * Checks the name of a URL group, queue or schedule.
 *
 * @throws HttpError 400
 */
export function parseName(field: string, text: string): string {
  if (!namePattern.test(text)) {
    throw badField(`${field} is ${quote(text)}; allowed are 1 to 128 letters, digits, ".", "_" and "-".`);
  }
  return text;
}
