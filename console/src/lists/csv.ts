export type Row = Readonly<Record<string, unknown>>;

/**
 * A character that begins a formula (OWASP, "CSV Injection"), at the beginning or after a semicolon, because
 * some programs split cells there, even within quotes.
 */
const formula = /(?<=^|;)(?=[=+\-@\t\r\n＝＋－＠])/g;

/** Writes a value as a cell. Spreadsheet programs must not read it as a formula. */
function cellOf(value: unknown): string {
  if (value === undefined || value === null) return '';
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  const safe = typeof value === 'number' ? text : text.replace(formula, "'");
  return /[",;\t\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** Writes rows as CSV, with a column for each field in any of them. */
export function csvOf(rows: readonly Row[]): string {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const lines = [names.map(cellOf), ...rows.map((row) => names.map((name) => cellOf(row[name])))];
  return lines.map((cells) => `${cells.join(',')}\r\n`).join('');
}
