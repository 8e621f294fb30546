/**
 * A waiting line that can grow while its lane's row stays small. The row has both ends; pages in separate rows have the entries
 * between them.
 *
 * Entries join `back`. The next change writes a full `back` as a page. Entries leave from `front`, which takes the oldest page when
 * it is empty. A page is written before the row refers to it, and its number determines its content. So writing it twice, or late,
 * changes nothing.
 */
export interface Line {
  /** The next entries, in order. */
  readonly front: readonly string[];
  /** The oldest page's number; `nextPage` if there is no page. */
  readonly firstPage: number;
  /** The number that `back` will get as a page. */
  readonly nextPage: number;
  /** The newest entries. */
  readonly back: readonly string[];
}

/** Eight entries of some 33 bytes: a row with a full page at each end stays below a kilobyte, one write unit. */
export const pageSize = 8;

export const emptyLine: Line = { front: [], firstPage: 0, nextPage: 0, back: [] };

export const lengthOf = ({ front, firstPage, nextPage, back }: Line): number =>
  front.length + (nextPage - firstPage) * pageSize + back.length;

export const isEmpty = (line: Line): boolean => lengthOf(line) === 0;

export interface Page {
  readonly number: number;
  /** Its line, if not the lane's own. */
  readonly line?: string | undefined;
  readonly entries: readonly string[];
}

/**
 * Takes the full pages out of a line's back.
 *
 * @param line from the table: only entries that all processes read have a fixed page number
 * @returns the line without them, and the pages to write before it
 */
export function spill(line: Line): { readonly line: Line; readonly pages: readonly Page[] } {
  const pages: Page[] = [];
  let { back, nextPage } = line;
  while (back.length >= pageSize) {
    pages.push({ number: nextPage, entries: back.slice(0, pageSize) });
    back = back.slice(pageSize);
    nextPage += 1;
  }
  return { line: { ...line, back, nextPage }, pages };
}

export const join = (line: Line, entry: string): Line => ({ ...line, back: [...line.back, entry] });

/** Puts an entry first: it lost its slot through no fault of its own. */
export const rejoin = (line: Line, entry: string): Line => ({ ...line, front: [entry, ...line.front] });

/**
 * Takes the first entry.
 *
 * @returns the entry and the rest; the number of a page to read first (see {@link withPage}); undefined if the line is empty
 */
export function next(line: Line): { readonly entry: string; readonly rest: Line } | number | undefined {
  const [entry, ...front] = line.front;
  if (entry !== undefined) return { entry, rest: { ...line, front } };
  if (line.firstPage < line.nextPage) return line.firstPage;
  if (line.back.length === 0) return undefined;
  // The page numbers of `back` are skipped: a process that saw it may still write its pages.
  const nextPage = line.nextPage + Math.floor(line.back.length / pageSize) + 1;
  return next({ front: line.back, firstPage: nextPage, nextPage, back: [] });
}

/** Puts the oldest page, after it was read, at a line's front. */
export const withPage = (line: Line, entries: readonly string[]): Line => ({
  ...line,
  front: entries,
  firstPage: line.firstPage + 1,
});
