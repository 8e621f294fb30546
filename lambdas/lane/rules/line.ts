/**
 * A waiting line that can grow while its lane's row stays small. The row has both ends of the line; separate
 * rows have the pages between them.
 *
 * Entries join `back`. When `back` is full, the next change writes it as a page. Entries leave from `front`;
 * when it is empty, it is filled with the oldest page. A page is written before the row refers to it. Two
 * pages with the same number are equal, so a late second write changes nothing.
 */
export interface Line {
  readonly front: readonly string[];
  /** The oldest page's number; `nextPage` if there is no page. */
  readonly firstPage: number;
  /** The number that `back` gets when it becomes a page. */
  readonly nextPage: number;
  readonly back: readonly string[];
}

/**
 * An entry has about 33 bytes. A row with a full page at each end is smaller than a kilobyte, one write unit.
 */
export const pageSize = 8;

export const emptyLine: Line = { front: [], firstPage: 0, nextPage: 0, back: [] };

export const lengthOf = ({ front, firstPage, nextPage, back }: Line): number =>
  front.length + (nextPage - firstPage) * pageSize + back.length;

export const isEmpty = (line: Line): boolean => lengthOf(line) === 0;

export interface Page {
  readonly number: number;
  readonly line?: string | undefined;
  readonly entries: readonly string[];
}

/**
 * Takes full pages out of a line's back.
 *
 * @param line as read from the table: otherwise processes could give different pages the same number
 * @returns the line without the pages, which must be written before it
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

/** Puts an entry first, because it lost its slot without a fault. */
export const rejoin = (line: Line, entry: string): Line => ({ ...line, front: [entry, ...line.front] });

/**
 * @returns the first entry and the rest; or the number of a page to read first (see {@link withPage});
 * undefined if the line is empty
 */
export function next(line: Line): { readonly entry: string; readonly rest: Line } | number | undefined {
  const [entry, ...front] = line.front;
  if (entry !== undefined) return { entry, rest: { ...line, front } };
  if (line.firstPage < line.nextPage) return line.firstPage;
  if (line.back.length === 0) return undefined;
  // The entries in `back` never become pages now, but a process that read `back` may still write them. So
  // their page numbers are skipped.
  const nextPage = line.nextPage + Math.floor(line.back.length / pageSize) + 1;
  return next({ front: line.back, firstPage: nextPage, nextPage, back: [] });
}

/** Fills a line's front with its oldest page. */
export const withPage = (line: Line, entries: readonly string[]): Line => ({
  ...line,
  front: entries,
  firstPage: line.firstPage + 1,
});
