import { headerText, type Header } from '../../shared/headers.ts';

/** Joins the values of a name as text by commas, as Lambda does, and those of `cookie` by semicolons. */
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
