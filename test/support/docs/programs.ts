/** Checks the types of the documents' programs, and runs them. */
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import * as z from 'zod/mini';
import manifest from '../../../node_modules/@upstash/workflow/package.json' with { type: 'json' };
import { root } from '../bundledStage.ts';
import { limitForInstallsMs } from '../limits.ts';
import { installInto } from '../python.ts';
import type { Block } from './blocks.ts';

/** Packages that readers install besides the clients, and that the project lacks. */
const packages = [
  `@upstash/workflow@${manifest.version}`,
  'express@5.1.0',
  '@types/express@5.0.6',
  'bullmq@6.7.0',
];

const pythonPackages = ['fastapi==0.163.2', 'uvicorn==0.54.0', 'qstash==3.4.0', 'upstash-workflow==2.0.0'];

const run = promisify(execFile);

/**
 * Creates the folder in which programs find these packages, unless it exists. Other packages are found in the project.
 *
 * @returns the folder
 */
export async function installPackages(): Promise<string> {
  const home = join(root, '.cache/docs', packages.join('+').replaceAll(/[^\w.+-]/g, '-'));
  const ready = join(home, 'installed');
  if (existsSync(ready)) return home;
  rmSync(home, { recursive: true, force: true });
  mkdirSync(home, { recursive: true });
  writeFileSync(join(home, 'package.json'), JSON.stringify({ private: true, type: 'module' }));
  await run('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts', ...packages], {
    cwd: home,
    timeout: limitForInstallsMs,
  });
  writeFileSync(ready, '');
  return home;
}

/** @returns the folder of the programs that Python packages have installed */
export async function installPythonPackages(python: string): Promise<string> {
  const home = join(root, '.cache/docs', pythonPackages.join('+'));
  return dirname(await installInto(home, python, pythonPackages));
}

/** A program in a separate file. */
export interface Program {
  readonly at: string;
  readonly file: string;
  /** Whether the program is complete, with real code before it, not only declarations. */
  readonly isComplete: boolean;
}

export function writePrograms(folder: string, blocks: readonly Block[]): readonly Program[] {
  return blocks.map(({ at, language, text, before }) => {
    const file = join(folder, `${at.replaceAll(/[^\w.]+/g, '-')}.${language}`);
    writeFileSync(file, `${before}\n${text}\nexport {};\n`);
    return { at, file, isComplete: !/^declare /m.test(before) };
  });
}

/**
 * Checks the types of programs in a folder.
 *
 * @returns the compiler's messages, if any
 */
export async function typeErrors(folder: string, programs: readonly Program[]): Promise<string> {
  const config = join(folder, 'tsconfig.json');
  writeFileSync(
    config,
    JSON.stringify({
      extends: join(root, 'tsconfig.json'),
      compilerOptions: {
        noEmit: true,
        lib: ['ES2024', 'DOM'],
        // Readers write `process.env.SVC_URL`.
        noPropertyAccessFromIndexSignature: false,
        allowJs: true,
        checkJs: true,
        noUnusedLocals: false,
        // The package under its own name, without a build.
        paths: {
          'svc-queue': [join(root, 'lib/index.ts')],
          next: [join(import.meta.dirname, 'next.d.ts')],
        },
        noUnusedParameters: false,
      },
      include: [],
      files: programs.map(({ file }) => file),
    }),
  );
  const compiler = [join(root, 'node_modules/typescript/bin/tsc'), '-p', config];
  return run(process.execPath, compiler, { cwd: folder, timeout: limitForInstallsMs }).then(
    () => '',
    (error: unknown) => failure.safeParse(error).data?.stdout ?? String(error),
  );
}

/** The compiler lists errors of types on its standard output. */
const failure = z.object({ stdout: z.string().check(z.minLength(1)) });

/**
 * Runs a program to its end.
 *
 * @returns its output, with its exit code unless that is 0
 */
export async function runProgram(file: string, env: Readonly<Record<string, string>>): Promise<string> {
  const { stdout } = await run(process.execPath, ['--import', 'tsx', file], optionsWith(env));
  return stdout;
}

/** @param programs the result of {@link installPythonPackages} */
export async function runPython(
  programs: string,
  text: string,
  env: Readonly<Record<string, string>>,
): Promise<string> {
  const { stdout } = await run(join(programs, 'python'), ['-c', text], optionsWith(env));
  return stdout;
}

/** Compiles and runs a program in Go. */
export async function runGo(text: string, env: Readonly<Record<string, string>>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-queue-go-'));
  try {
    const file = join(folder, 'main.go');
    await writeFile(file, text);
    const { stdout } = await run('go', ['run', file], optionsWith(env));
    return stdout;
  } finally {
    await rm(folder, { recursive: true });
  }
}

const optionsWith = (env: Readonly<Record<string, string>>) => ({
  cwd: root,
  env: { ...process.env, ...env },
  timeout: limitForInstallsMs,
});
