/** `npm run test:mutation -- lambdas/lane/rules`: Stryker changes code, and tests must notice. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { installPackages } from '../../bench/against/install.ts';
import { BenchError } from '../../bench/benchError.ts';
import { argumentsOf } from '../../cli/commandLine.ts';
import { parseOptions, type Options } from './options.ts';
import { percentOf, reportShape, scoreTable, survivorLines, totalOf, type Report } from './report.ts';

const root = resolve(import.meta.dirname, '../..');
const cache = join(root, '.cache/mutation');

/** Version 10 requires Node.js 22. */
const version = '9.6.1';

/**
 * Installs Stryker into `.cache`. It is not a dependency of the project, because few need its hundred packages, and
 * `docs/dependencies.md` does not allow some of their licences. It uses the project's Vitest, so no peer dependency is
 * installed.
 */
const installStryker = (): Promise<string> =>
  installPackages(
    'Stryker',
    cache,
    { '@stryker-mutator/core': version, '@stryker-mutator/vitest-runner': version },
    ['--legacy-peer-deps'],
  );

/** @param folder of this run */
const settingsFor = ({ mutate, tests, concurrency }: Options, folder: string) => ({
  testRunner: 'vitest',
  plugins: ['@stryker-mutator/vitest-runner'],
  vitest: { configFile: 'test/mutation/vitest.config.ts' },
  mutate,
  testFiles: tests,
  concurrency,
  // Otherwise Vitest may end the next mutant's run instead of the failed one's, so that the failed mutant seems to survive.
  disableBail: true,
  // A mutant of a module's constant would require loading the module again.
  ignoreStatic: true,
  // A copy of the project is changed. It is below the root, where packages are found without a link.
  tempDirName: relative(root, join(folder, 'copies')),
  symlinkNodeModules: false,
  ignorePatterns: ['.cache', '.svc', 'cdk.out', 'coverage'],
  // Stryker cannot read it with TypeScript 7, and does not need it. A missing file keeps it from trying.
  tsconfigFile: 'no-tsconfig.json',
  reporters: ['json'],
  jsonReporter: { fileName: relative(root, join(folder, 'report.json')) },
  allowConsoleColors: false,
  logLevel: 'warn',
});

/** @throws BenchError if Stryker ends without a report; it has printed why */
async function mutate(options: Options): Promise<Report> {
  const home = await installStryker();
  await mkdir(cache, { recursive: true });
  const folder = await mkdtemp(join(cache, 'run-'));
  try {
    const settings = settingsFor(options, folder);
    const file = join(folder, 'stryker.json');
    await writeFile(file, JSON.stringify(settings));
    const program = join(home, 'node_modules/@stryker-mutator/core/bin/stryker.js');
    const child = spawn(process.execPath, [program, 'run', file], { cwd: root, stdio: 'inherit' });
    await once(child, 'exit');
    if (child.exitCode !== 0) throw new BenchError('Stryker could not make the run: see above.');
    const text = await readFile(join(folder, 'report.json'), 'utf8');
    return reportShape.parse(JSON.parse(text));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** @returns the exit status */
async function main(options: Options): Promise<number> {
  const report = await mutate(options);
  for (const line of survivorLines(report)) console.log(line);
  console.log(`\n${scoreTable(report)}`);
  const percent = percentOf(totalOf(report));
  if (percent === undefined) {
    console.log('There are no mutants: these files have nothing that Stryker changes.');
    return 1;
  }
  const isHeld = percent >= options.floor;
  if (!isHeld)
    console.log(`Tests kill ${percent.toFixed(1)} % of all mutants; the floor is ${options.floor} %.`);
  return isHeld ? 0 : 1;
}

const options = argumentsOf((args) => parseOptions(args, root));
try {
  process.exitCode = await main(options);
} catch (error) {
  console.error(error instanceof BenchError ? error.message : error);
  process.exitCode = 2;
}
