import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Reads a bundle's files that are loaded before the first line of `index.mjs` runs: that file and its static imports. */
export function coldStart(folder: string): ReadonlyMap<string, string> {
  const loaded = new Map([['index.mjs', '']]);
  // The loop also visits files that are added to the map during it.
  for (const file of loaded.keys()) {
    const text = readFileSync(join(folder, file), 'utf8');
    loaded.set(file, text);
    for (const [, part] of text.matchAll(/(?:from|import)\s*"\.\/([^"]+)"/g)) {
      if (part !== undefined && !loaded.has(part)) loaded.set(part, '');
    }
  }
  return loaded;
}
