/** The arguments of `npm run test:mutation`, and the tests that follow from them. */
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

export const usage = `Usage: npm run test:mutation -- <files> [--tests <files>] [--floor <percent>] [--concurrency <number>]

Changes the code in small ways, one at a time, and prints which of these mutants no test notices. Files are files, folders or
globs, seen from the root of the project.

  <files>         the code that is changed, such as lambdas/lane/rules
  --tests         the tests that run, once for each of several; by default those of the same folder of test/unit
  --floor         the lowest share of all mutants that tests have to kill, in percent; 92 by default
  --concurrency   processes that run tests at once; 1 by default
  --help          this text

Exit status: 0 the floor is held; 1 it is not, or there are no mutants; 2 the run could not be made.`;

/** An argument that cannot be used; its sentence says what is allowed. */
export class UsageError extends Error {}

export interface Options {
  /** Globs of the code that is changed. */
  readonly mutate: readonly string[];
  /** Globs of the tests that run. */
  readonly tests: readonly string[];
  /** Percent. */
  readonly floor: number;
  readonly concurrency: number;
}

/**
 * @param root of the project
 * @returns undefined where help is asked for
 * @throws UsageError
 */
export function parseOptions(args: readonly string[], root: string): Options | undefined {
  const { values, positionals } = parse(args);
  if (values.help === true) return undefined;
  if (positionals.length === 0) throw new UsageError('Name the files that are to be changed.');
  const { floor = '92', concurrency = '1' } = values;
  if (!/^\d{1,3}(\.\d+)?$/.test(floor) || Number(floor) > 100) {
    throw new UsageError(`--floor is a number from 0 to 100, not '${floor}'.`);
  }
  if (!/^[1-9]\d?$/.test(concurrency)) {
    throw new UsageError(`--concurrency is a whole number from 1 to 99, not '${concurrency}'.`);
  }
  const mutate = positionals.map((path) => globOf(path, root, '*.{ts,tsx}'));
  const tests = values.tests ?? [...new Set(positionals.map((path) => testsOf(path, root)))];
  return {
    mutate,
    tests: tests.map((path) => globOf(path, root, '*.test.ts')),
    floor: Number(floor),
    concurrency: Number(concurrency),
  };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        tests: { type: 'string', multiple: true },
        floor: { type: 'string' },
        concurrency: { type: 'string' },
        help: { type: 'boolean', short: 'h' },
      },
    });
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new UsageError(error.message, { cause: error });
  }
}

const isGlob = (path: string): boolean => /[*?{}[\]!()]/.test(path);

/** @throws UsageError for a path that is not there */
function globOf(path: string, root: string, files: string): string {
  if (isGlob(path)) return path;
  const found = statSync(join(root, path), { throwIfNoEntry: false });
  if (found === undefined) throw new UsageError(`There is no '${path}'.`);
  return found.isDirectory() ? `${path.replace(/\/+$/, '')}/**/${files}` : path;
}

/** Finds the folder of tests that mirrors the code's own, or else the nearest one above. */
function testsOf(path: string, root: string): string {
  const names = path
    .replace(/^lambdas\//, '')
    .split('/')
    .filter((name) => name !== '');
  const end = names.findIndex(isGlob);
  for (let length = end < 0 ? names.length : end; length > 0; length -= 1) {
    const folder = ['test/unit', ...names.slice(0, length)].join('/');
    if (existsSync(join(root, folder))) return folder;
  }
  throw new UsageError(`No folder of test/unit has tests of '${path}': name them with --tests.`);
}
