export type Row = Readonly<Record<string, unknown>>;

/**
 * Begins a formula, or a new cell that may be one (OWASP, "CSV Injection"). Programs that separate cells by semicolons begin
 * one after each semicolon, even within quotes.
 */
const formula = /(?<=^|;)(?=[=+\-@\t\r\n＝＋－＠])/g;

/** Writes a value as a cell. Spreadsheet programs must not read it as a formula. */
function cellOf(value: unknown): string {
  if (value === undefined || value === null) return '';
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  const safe = typeof value === 'number' ? text : text.replace(formula, "'");
  return /[",;\t\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** Writes rows as CSV, with a column for each field that any of them has. */
export function csvOf(rows: readonly Row[]): string {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const lines = [names.map(cellOf), ...rows.map((row) => names.map((name) => cellOf(row[name])))];
  return lines.map((cells) => `${cells.join(',')}\r\n`).join('');
}
