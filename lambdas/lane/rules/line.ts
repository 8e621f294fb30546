/**
 * A waiting line that grows without making its lane's row grow: the row has the two ends, and pages of their own have the entries
 * between them.
 *
 * Entries join `back`. Once `back` has a page's worth, the next change of the lane writes it as a page. Entries leave from
 * `front`, which takes the oldest page when it is empty. A page is written before the row says that it is there, and its
 * number stands for its content: each process that writes page 7 of a line writes the same entries, so writing it twice, or
 * late, changes nothing.
 */
export interface Line {
  /** The entries that are next, the first of them first. */
  readonly front: readonly string[];
  /** The number of the oldest page; `nextPage` where there is none. */
  readonly firstPage: number;
  /** The number of the page that `back` becomes. */
  readonly nextPage: number;
  /** The entries that joined last. */
  readonly back: readonly string[];
}

/** Eight entries of some 33 bytes: with a full page at each end a row is still below the kilobyte that one write unit has. */
export const pageSize = 8;

export const emptyLine: Line = { front: [], firstPage: 0, nextPage: 0, back: [] };

export const lengthOf = ({ front, firstPage, nextPage, back }: Line): number =>
  front.length + (nextPage - firstPage) * pageSize + back.length;

export const isEmpty = (line: Line): boolean => lengthOf(line) === 0;

export interface Page {
  readonly number: number;
  /** The line that has it, where that is not the lane's own. */
  readonly line?: string | undefined;
  readonly entries: readonly string[];
}

/**
 * Takes the full pages out of a line's back.
 *
 * @param line as it stands in the table: only entries that every process can read have a number that stands for them
 * @returns the line without them, and the pages, which have to be written before the line is
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

/** Puts an entry at the end of a line. */
export const join = (line: Line, entry: string): Line => ({ ...line, back: [...line.back, entry] });

/** Puts an entry at the beginning of a line: it was granted a slot, and has to wait again through no fault of its own. */
export const rejoin = (line: Line, entry: string): Line => ({ ...line, front: [entry, ...line.front] });

/**
 * Takes the first entry of a line.
 *
 * @returns the entry and the line without it; a page's number where that page has to be read first (see {@link withPage});
 *   undefined for an empty line
 */
export function next(line: Line): { readonly entry: string; readonly rest: Line } | number | undefined {
  const [entry, ...front] = line.front;
  if (entry !== undefined) return { entry, rest: { ...line, front } };
  if (line.firstPage < line.nextPage) return line.firstPage;
  if (line.back.length === 0) return undefined;
  // The numbers that `back` would have had are left out: a process that saw it may write its pages yet.
  const nextPage = line.nextPage + Math.floor(line.back.length / pageSize) + 1;
  return next({ front: line.back, firstPage: nextPage, nextPage, back: [] });
}

/** Puts the oldest page, which has been read, at the front of a line. */
export const withPage = (line: Line, entries: readonly string[]): Line => ({
  ...line,
  front: entries,
  firstPage: line.firstPage + 1,
});
