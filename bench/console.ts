/** Measures the files that a browser loads for the console. */
import { buildConsole } from '../console/build.ts';

export type ConsoleFile = ReturnType<typeof measureConsole>[number];

/** @returns the console's files, largest first */
export function measureConsole() {
  const files = buildConsole();
  const page = Buffer.from(files.get('index.html') ?? '').toString();
  const sizeOf = (name: string, end: string): number => {
    const compressed = files.get(name + end) ?? files.get(name);
    if (compressed === undefined) throw new Error(`The console has no file ${name}.`);
    return compressed.byteLength;
  };
  return [...files.keys()]
    .filter((name) => !/\.(br|gz)$/.test(name))
    .map((name) => ({
      // Removes the hash of the content, which changes with each version.
      name: name.replace(/-\w+(?=\.\w+$)/, ''),
      // Whether the page names the file, so that it is part of the first load.
      isFirst: name === 'index.html' || page.includes(`console/${name}"`),
      plainBytes: sizeOf(name, ''),
      gzipBytes: sizeOf(name, '.gz'),
      brotliBytes: sizeOf(name, '.br'),
    }))
    .sort((a, b) => b.brotliBytes - a.brotliBytes);
}

export const brotliTotal = (files: readonly ConsoleFile[]): number =>
  files.reduce((total, { isFirst, brotliBytes }) => total + (isFirst ? brotliBytes : 0), 0);
