/**
 * `npm run test:fuzz`: Schemathesis generates requests from both API descriptions, and sends them to a separate local stage.
 * Arguments are passed to Schemathesis: `npm run test:fuzz -- --seed 7 --max-examples 500`.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod/mini';
import { root } from '../support/bundledStage.ts';
import { findPython, installPackage } from '../support/python.ts';
import { startCommand, startStage } from '../support/stage.ts';

const pinned = { name: 'schemathesis', version: '4.32.5' };

/** Requests per operation, and their random seed. */
const defaults = ['--max-examples', '10', '--seed', '1'];

/** `checks.py` replaces this check, without the rules that no schema can express. */
const replaced = 'positive_data_acceptance';

/** Schemathesis's own files. */
const workDir = join(root, '.cache/fuzz');

/** The counts that `checks.py` writes. */
const countsFile = join(workDir, 'counts.json');

const counted = z.record(z.string(), z.record(z.string(), z.number()));
type Counts = z.infer<typeof counted>;

/** The kinds of requests that both runs together must send, each with a class of answers that it must get. */
const wanted = [
  ['sound', '2XX'],
  ...['path', 'query', 'header', 'body'].map((part) => [`malformed ${part}`, '4XX'] as const),
] as const;

/** Arguments that don't leave anything out. With others, a kind of request may be missing. */
const harmless = new Set(['--seed', '--max-examples']);
const isWhole = (args: readonly string[]): boolean =>
  args.every((argument) => !argument.startsWith('-') || harmless.has(argument.split('=')[0] ?? ''));

const summed = (all: readonly Counts[]): Counts => {
  const sums: Counts = {};
  for (const [kind, classes] of all.flatMap((one) => Object.entries(one))) {
    const sum = (sums[kind] ??= {});
    for (const [name, count] of Object.entries(classes)) sum[name] = (sum[name] ?? 0) + count;
  }
  return sums;
};

/** Prints what was sent. @returns 1 if a kind of request was not sent, or never got the right answer */
function judge(counts: Counts): number {
  const kinds = Object.entries(counts).toSorted(([a], [b]) => (a < b ? -1 : 1));
  const missing = wanted.filter(([kind, answer]) => (counts[kind]?.[answer] ?? 0) === 0);
  const wrong = isWhole(process.argv.slice(2)) ? missing : [];
  const lines = [
    'Requests by kind, with the classes of their answers:',
    ...kinds.map(([kind, classes]) => `  ${kind}: ${JSON.stringify(classes)}`),
    ...wrong.map(([kind, answer]) => `WRONG: no request of the kind "${kind}" got a ${answer}.`),
  ];
  process.stdout.write(`${lines.join('\n')}\n`);
  return Math.min(wrong.length, 1);
}

/** Runs Schemathesis on one description; resolves to its exit status and its counts. */
async function fuzz(
  interpreter: string,
  schema: string,
  args: readonly string[],
): Promise<{ readonly status: number; readonly counts: Counts }> {
  rmSync(countsFile, { force: true });
  const program = join(interpreter, '../schemathesis');
  const child = spawn(
    program,
    [
      ...['--config-file', join(import.meta.dirname, 'schemathesis.toml')],
      ...['run', schema, '--no-color', '--continue-on-failure', '--workers', '1'],
      ...['--generation-database', 'none', '--exclude-checks', replaced],
      ...defaults,
      ...args,
      ...process.argv.slice(2),
    ],
    {
      stdio: 'inherit',
      cwd: workDir,
      env: {
        ...process.env,
        SCHEMATHESIS_HOOKS: join(import.meta.dirname, 'checks.py'),
        FUZZ_COUNTS: countsFile,
        PYTHONDONTWRITEBYTECODE: '1',
      },
    },
  );
  await once(child, 'exit');
  const counts = counted.parse(JSON.parse(readFileSync(countsFile, 'utf8')));
  return { status: child.exitCode ?? 1, counts };
}

async function main(): Promise<number> {
  const python = findPython();
  if (python === undefined) throw new Error('There is no Python 3.10 or newer with its venv module.');
  const interpreter = await installPackage(python, pinned);
  mkdirSync(workDir, { recursive: true });
  const stage = await startStage({ command: startCommand });
  try {
    const { management } = stage;
    const runs = [
      await fuzz(interpreter, `${stage.url}/v2/openapi.json`, [
        ...['--header', `Authorization: Bearer ${stage.token}`],
      ]),
      await fuzz(interpreter, `${management.url}/v2/svc/openapi.json`, [
        ...['--auth', `${management.user}:${management.password}`],
      ]),
    ];
    return Math.max(...runs.map(({ status }) => status), judge(summed(runs.map(({ counts }) => counts))));
  } finally {
    await stage.stop();
    await stage.remove();
  }
}

process.exitCode = await main();
