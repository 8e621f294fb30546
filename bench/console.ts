/** Measures the files that a browser loads for the console. */
import { buildConsole } from '../console/build.ts';
import { sum } from './figures.ts';
import { formatTable, kilobytes, verdict } from './table.ts';

/** Compressed bytes of the first load. */
const goalBytes = 60_000;

/** Prints the console's files, largest first. @returns the missed goals, as sentences */
export function printConsole(): readonly string[] {
  const built = buildConsole();
  const page = Buffer.from(built.get('index.html') ?? '').toString();
  const sizeOf = (name: string, end: string): number => {
    const compressed = built.get(name + end) ?? built.get(name);
    if (compressed === undefined) throw new Error(`The console has no file ${name}.`);
    return compressed.byteLength;
  };
  const files = [...built.keys()]
    .filter((name) => !/\.(br|gz)$/.test(name))
    .map((name) => ({
      // Removes the hash of the content, which changes with each version.
      name: name.replace(/-\w+(?=\.\w+$)/, ''),
      // Whether the page names the file, so that it is part of the first load.
      isFirst: name === 'index.html' || page.includes(`console/${name}"`),
      bytes: [sizeOf(name, ''), sizeOf(name, '.gz')],
      brotliBytes: sizeOf(name, '.br'),
    }))
    .sort((a, b) => b.brotliBytes - a.brotliBytes);
  const tenths = (bytes: number): string => (bytes / 1000).toFixed(1);
  const total = sum(files.map(({ isFirst, brotliBytes }) => (isFirst ? brotliBytes : 0)));
  const rows = files.map(({ name, isFirst, bytes, brotliBytes }) => [
    isFirst ? name : `${name}, loaded later`,
    ...[...bytes, brotliBytes].map(tenths),
  ]);
  rows.push(['first load', '', '', tenths(total), verdict(total, goalBytes)]);
  const head = ['file', 'KB', 'KB gzip', 'KB brotli', `≤ ${kilobytes(goalBytes)} KB`];
  console.log(`\nThe console\n\n${formatTable(head, rows)}`);
  return total > goalBytes ? [`The first load of the console has ${tenths(total)} KB, compressed.`] : [];
}
