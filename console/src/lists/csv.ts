export type Row = Readonly<Record<string, unknown>>;

/** Writes a value as a cell. Spreadsheet programs must not read it as a formula. */
function cellOf(value: unknown): string {
  if (value === undefined || value === null) return '';
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  const safe = typeof value === 'string' && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** Writes rows as CSV, with a column for each field that any of them has. */
export function csvOf(rows: readonly Row[]): string {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const lines = [names.map(cellOf), ...rows.map((row) => names.map((name) => cellOf(row[name])))];
  return lines.map((cells) => `${cells.join(',')}\r\n`).join('');
}
