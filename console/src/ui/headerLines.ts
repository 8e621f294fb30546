type Header = readonly [name: string, value: string];
type HeaderLists = Readonly<Record<string, readonly string[]>>;

export const pairsOf = (headers: HeaderLists): readonly Header[] =>
  Object.entries(headers).flatMap(([name, values]) => values.map((value) => [name, value] as const));

export const toLines = (headers: HeaderLists): string =>
  pairsOf(headers)
    .map((pair) => pair.join(': '))
    .join('\n');

/**
 * @throws Error for a line that is not a header, with a sentence for the user. The browser would refuse the
 * request
 */
export const fromLines = (text: string): readonly Header[] =>
  text.split('\n').flatMap((line): readonly Header[] => {
    if (line.trim() === '') return [];
    const [, name, value] = /^\s*([!#$%&'*+.^_`|~0-9a-z-]+)\s*:(.*)$/i.exec(line) ?? [];
    if (name === undefined || value === undefined) {
      throw new Error(`“${line.trim()}” is not a header; write “Name: value”.`);
    }
    return [[name, value.trim()]];
  });

export const listsOf = (headers: readonly Header[]): HeaderLists =>
  Object.fromEntries(
    headers.map(([name]) => [name, headers.flatMap(([one, value]) => (one === name ? [value] : []))]),
  );
