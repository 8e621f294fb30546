/**
 * `npm run test:fuzz`: Schemathesis makes requests from the descriptions of both APIs, and sends them to a local stage of its
 * own. Arguments are added to those of Schemathesis: `npm run test:fuzz -- --seed 7 --max-examples 500`.
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

/** Requests to each operation, and the seed that all of them follow from. */
const defaults = ['--max-examples', '10', '--seed', '1'];

/** `checks.py` has this check without what no schema can say. */
const replaced = 'positive_data_acceptance';

/** Where Schemathesis puts its own files. */
const workDir = join(root, '.cache/fuzz');

/** Where `checks.py` writes what it counted. */
const countsFile = join(workDir, 'counts.json');

const counted = z.record(z.string(), z.record(z.string(), z.number()));
type Counts = z.infer<typeof counted>;

/** What both runs together have to have sent, with a class of answers that it has to have got. */
const wanted = [
  ['sound', '2XX'],
  ...['path', 'query', 'header', 'body'].map((part) => [`malformed ${part}`, '4XX'] as const),
] as const;

/** Arguments that leave nothing out. Others may, so that a kind of request is rightly missing. */
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

/** Prints what was sent. @returns 1 where a kind of request was not sent, or never answered as it must be */
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

/** Runs Schemathesis on one description; resolves to its exit status, and what it counted. */
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
