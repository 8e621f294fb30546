import { headerText, type Header } from '../../shared/headers.ts';

/**
 * Joins the values of headers with the same name with commas, as Lambda does; those of `cookie` with
 * semicolons.
 */
export function headersByName(headers: readonly Header[]): ReadonlyMap<string, string> {
  const joined = new Map<string, string>();
  for (const [name, bytes] of headers) {
    const value = headerText(bytes);
    const before = joined.get(name);
    const separator = name === 'cookie' ? '; ' : ',';
    joined.set(name, before === undefined ? value : before + separator + value);
  }
  return joined;
}
