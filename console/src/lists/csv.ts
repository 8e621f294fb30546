/** Rows of a list as CSV. */
export type Row = Readonly<Record<string, unknown>>;

/** Writes a value into a cell. A program that opens the file must not take it for a formula. */
function cellOf(value: unknown): string {
  if (value === undefined || value === null) return '';
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  const safe = typeof value === 'string' && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** A line for each row, with a column for each field that one of them has. */
export function csvOf(rows: readonly Row[]): string {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const lines = [names.map(cellOf), ...rows.map((row) => names.map((name) => cellOf(row[name])))];
  return lines.map((cells) => `${cells.join(',')}\r\n`).join('');
}
