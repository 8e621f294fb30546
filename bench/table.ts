/** A text table: the first columns aligned left, numbers right. */
export function formatTable(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  leftColumns = 1,
): string {
  const all = [head, ...rows];
  const widths = head.map((_, column) => Math.max(...all.map((row) => (row[column] ?? '').length)));
  const line = (row: readonly string[]): string =>
    widths
      .map((width, column) => {
        const cell = row[column] ?? '';
        return column < leftColumns ? cell.padEnd(width) : cell.padStart(width);
      })
      .join('  ')
      .trimEnd();
  return [line(head), widths.map((width) => '-'.repeat(width)).join('  '), ...rows.map(line)].join('\n');
}

/** A table's columns from left to right: the head of each, and its cell for an item. */
type Columns<Item> = readonly (readonly [head: string, cell: (item: Item) => string])[];

export function printTable<Item>(
  title: string,
  items: readonly Item[],
  columns: Columns<Item>,
  leftColumns?: number,
): void {
  const head = columns.map(([name]) => name);
  const rows = items.map((item) => columns.map(([, cell]) => cell(item)));
  console.log(`\n${title}\n\n${formatTable(head, rows, leftColumns)}`);
}

export const verdict = (value: number, goal: number): string => (value <= goal ? 'met' : 'missed');

/** A number with at most two digits after the point. */
export const short = (value: number): string => String(Number(value.toFixed(2)));

export const dollars = (value: number): string => value.toFixed(3);

export const kilobytes = (bytes: number): string => (bytes / 1000).toFixed(0);
