/**
 * `npm run test:fuzz`: Schemathesis makes requests from the descriptions of both APIs, and sends them to a local stage of its
 * own. Arguments are added to those of Schemathesis: `npm run test:fuzz -- --seed 7 --max-examples 500`.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
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

/** Runs Schemathesis on one description; resolves to its exit status. */
async function fuzz(interpreter: string, schema: string, args: readonly string[]): Promise<number> {
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
        PYTHONDONTWRITEBYTECODE: '1',
      },
    },
  );
  await once(child, 'exit');
  return child.exitCode ?? 1;
}

async function main(): Promise<number> {
  const python = findPython();
  if (python === undefined) throw new Error('There is no Python 3.10 or newer with its venv module.');
  const interpreter = await installPackage(python, pinned);
  mkdirSync(workDir, { recursive: true });
  const stage = await startStage({ command: startCommand });
  try {
    const { management } = stage;
    const statuses = [
      await fuzz(interpreter, `${stage.url}/v2/openapi.json`, [
        ...['--header', `Authorization: Bearer ${stage.token}`],
      ]),
      await fuzz(interpreter, `${management.url}/v2/svc/openapi.json`, [
        ...['--auth', `${management.user}:${management.password}`],
      ]),
    ];
    return Math.max(...statuses);
  } finally {
    await stage.stop();
    await stage.remove();
  }
}

process.exitCode = await main();
