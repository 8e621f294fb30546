/**
 * `npm run test:fuzz`: Schemathesis makes requests from the descriptions of both APIs, and sends them to a local stage of its
 * own. Arguments are added to those of Schemathesis: `npm run test:fuzz -- --seed 7 --max-examples 500`.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { findPython, installPackage } from '../support/python.ts';
import { startCommand, startStage } from '../support/stage.ts';

const pinned = { name: 'schemathesis', version: '4.32.5' };

/** Requests to each operation, and the seed that all of them follow from. */
const defaults = ['--max-examples', '50', '--seed', '1'];

/** The checks that are left out, each with its reason; all others apply. */
const leftOut: Readonly<Record<string, string>> = {
  positive_data_acceptance:
    'Ids that exist, destinations that are public, cron expressions and limits of an account are no matter of a schema.',
};

/** Runs Schemathesis on one description; resolves to its exit status. */
async function fuzz(interpreter: string, schema: string, args: readonly string[]): Promise<number> {
  const program = join(interpreter, '../schemathesis');
  const child = spawn(
    program,
    [
      ...['run', schema, '--no-color', '--continue-on-failure', '--workers', '1'],
      ...['--generation-database', 'none', '--exclude-checks', Object.keys(leftOut).join(',')],
      ...defaults,
      ...args,
      ...process.argv.slice(2),
    ],
    { stdio: 'inherit' },
  );
  await once(child, 'exit');
  return child.exitCode ?? 1;
}

async function main(): Promise<number> {
  const python = findPython();
  if (python === undefined) throw new Error('There is no Python 3.10 or newer with its venv module.');
  const interpreter = await installPackage(python, pinned);
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
