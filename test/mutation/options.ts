/** The arguments of `npm run test:mutation`, and the tests that they select. */
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { InvalidArgumentError } from '@commander-js/extra-typings';
import { command, Ending, parse, wholeNumber } from '../../cli/commandLine.ts';

const about = `Changes the code in small ways, one at a time, and prints which of these mutants no test notices. Files are files, folders or
globs, seen from the root of the project. Exit status: 0 the floor is held; 1 it is not, or there are no mutants; 2 the run could
not be made.`;

export interface Options {
  /** Globs of the code to change. */
  readonly mutate: readonly string[];
  /** Globs of the tests to run. */
  readonly tests: readonly string[];
  /** Percent. */
  readonly floor: number;
  readonly concurrency: number;
}

function percent(text: string): number {
  if (/^\d{1,3}(\.\d+)?$/.test(text) && Number(text) <= 100) return Number(text);
  throw new InvalidArgumentError('Allowed is a number from 0 to 100.');
}

/**
 * @param root of the project
 * @throws Ending
 */
export function parseOptions(args: readonly string[], root: string): Options {
  const given = parse(
    command('test:mutation', about)
      .argument('<files...>', 'the code that is changed, such as lambdas/lane/rules')
      .option(
        '--tests <file>',
        'the tests that run, once for each of several; by default those of the same folder of test/unit',
        (file: string, before: string[] | undefined) => [...(before ?? []), file],
      )
      .option('--floor <percent>', 'the lowest share of all mutants that tests have to kill', percent, 92)
      .option('--concurrency <number>', 'processes that run tests at once', wholeNumber(1, 99), 1),
    args,
  );
  const [paths] = given.processedArgs;
  const mutate = paths.map((path) => globOf(path, root, '*.{ts,tsx}'));
  const { floor, concurrency, tests = [...new Set(paths.map((path) => testsOf(path, root)))] } = given.opts();
  return {
    mutate,
    tests: tests.map((path) => globOf(path, root, '*.test.ts')),
    floor,
    concurrency,
  };
}

const isGlob = (path: string): boolean => /[*?{}[\]!()]/.test(path);

/** @throws Ending if the path does not exist */
function globOf(path: string, root: string, files: string): string {
  if (isGlob(path)) return path;
  const found = statSync(join(root, path), { throwIfNoEntry: false });
  if (found === undefined) throw new Ending(`There is no '${path}'.`, 2);
  return found.isDirectory() ? `${path.replace(/\/+$/, '')}/**/${files}` : path;
}

/** Finds the test folder for the code's folder, or for the nearest parent. */
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
  throw new Ending(`No folder of test/unit has tests of '${path}': name them with --tests.`, 2);
}
