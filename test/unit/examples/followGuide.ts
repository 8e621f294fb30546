/** Follows a worked example of CONTRIBUTING.md in a copy of the code. */
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { expect } from 'vitest';

const root = resolve(import.meta.dirname, '../../..');
const compiler = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin/tsc');

interface Addition {
  readonly path: string;
  readonly line: string;
  /** The line above it: an existing one, or the one added before it. */
  readonly below: string;
  /** Whether it replaces the line above it. */
  readonly replaces: boolean;
}

interface Example {
  /** A word of the example's lines, and the word in its place in the similar lines, below which they are added. */
  readonly like?: readonly [word: string, similar: string];
  /** The files or folders that are compiled, besides those that they import. */
  readonly include: readonly string[];
}

export interface Guide {
  /** The files that the example makes or changes. Tests and documents are not counted. */
  readonly files: readonly string[];
  /** Adds the lines of the `diff` blocks that were not added yet: those in a file that match, by default all. */
  readonly add: (path?: string, only?: RegExp) => void;
  /** Compiles the copy. @returns the compiler's complaints; empty if there are none */
  readonly compile: () => string;
  /** @param path of a module of the copy */
  readonly load: <Module>(path: string) => Promise<Module>;
  readonly remove: () => void;
}

/** The blocks of a section in one language, without their fences. */
function blocksOf(section: string, language: string): readonly string[] {
  const guide = readFileSync(join(root, 'CONTRIBUTING.md'), 'utf8');
  const [, text] = guide.split(`\n## ${section}\n`);
  if (text === undefined) throw new Error(`CONTRIBUTING.md has no section "${section}".`);
  const [own = ''] = text.split('\n## ');
  return [...own.matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\``, 'gms'))].map(
    ([, block = '']) => block,
  );
}

/**
 * Reads a `diff` block. A line that begins with two spaces is the path of a file, or a line of that file; the lines after it,
 * which begin with `+`, are added below it, or replace it if it begins with `-`. All other lines are added below the similar ones.
 */
function additionsIn(block: string, [word, similar]: NonNullable<Example['like']>): readonly Addition[] {
  let path = '';
  let above: string | undefined;
  let replaces = false;
  return block
    .trimEnd()
    .split('\n')
    .flatMap((text): Addition[] => {
      const line = text.slice(2);
      if (text.startsWith('+')) {
        const below = above ?? line.replaceAll(word, similar);
        const addition = { path, line, below, replaces };
        above = replaces ? undefined : above && line;
        replaces = false;
        return [addition];
      }
      const isPath = existsSync(join(root, line));
      above = isPath ? undefined : line;
      if (isPath) path = line;
      replaces = text.startsWith('-');
      return [];
    });
}

/** Copies the code and makes the files of a section's `ts` blocks, which begin with a comment that is the path. */
export function followGuide(section: string, { like = ['', ''], include }: Example): Guide {
  const copy = join(root, `.cache/example-${section.replaceAll(/\W+/g, '-')}-${process.pid}`);
  mkdirSync(copy, { recursive: true });
  for (const path of ['lambdas', 'lib', 'console/src', 'package.json'])
    cpSync(join(root, path), join(copy, path), { recursive: true });
  writeFileSync(join(copy, 'tsconfig.json'), JSON.stringify({ extends: '../../tsconfig.json', include }));

  const made = blocksOf(section, 'ts').map((block) => {
    const [, path = '', text = ''] = /^\/\/ (\S+)\n(.*)$/s.exec(block) ?? [];
    writeFileSync(join(copy, path), text);
    return path;
  });
  const additions = new Set(blocksOf(section, 'diff').flatMap((block) => additionsIn(block, like)));

  const files = [...new Set([...made, ...[...additions].map(({ path }) => path)])];
  return {
    files: files.filter((path) => !/^(test|docs)\//.test(path)),
    add: (inFile, only = /^/) => {
      for (const addition of additions) {
        const { path, line, below, replaces } = addition;
        if ((inFile ?? path) !== path || !only.test(line)) continue;
        additions.delete(addition);
        const text = readFileSync(join(copy, path), 'utf8');
        expect(text.split('\n'), path).toContain(below);
        writeFileSync(
          join(copy, path),
          text.replace(`\n${below}\n`, () => (replaces ? `\n${line}\n` : `\n${below}\n${line}\n`)),
        );
      }
    },
    compile: () => spawnSync(process.execPath, [compiler, '-p', copy], { encoding: 'utf8' }).stdout,
    load: async <Module>(path: string) => (await import(join(copy, path))) as Module,
    remove: () => {
      rmSync(copy, { recursive: true });
    },
  };
}
