import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { makeAccount } from '../support/accounts.ts';
import { limitForInstallsMs } from '../support/limits.ts';
import { service } from '../support/publish.ts';
import { findPython, installPackage } from '../support/python.ts';

/** A separate script uses the unchanged client from PyPI, and prints the outcome of each case. */

const pinned = { name: 'qstash', version: '3.4.0' };
const script = resolve(import.meta.dirname, 'python_client.py');
const titles = [...readFileSync(script, 'utf8').matchAll(/^@case\("(.+)"\)$/gm)].map(
  ([, title = '']) => title,
);

const python = findPython();
// The deployed check runs an emulator in Python, so a missing Python is an error there.
const isMissing = python === undefined && service.target !== 'deployed';

const results = z.record(z.string(), z.nullable(z.string()));

async function runScript(): Promise<z.infer<typeof results>> {
  if (python === undefined) throw new Error('There is no Python 3.10 or newer with its venv module.');
  const interpreter = await installPackage(python, pinned);
  const account = await makeAccount();
  const folder = await mkdtemp(join(tmpdir(), 'svc-python-'));
  try {
    const file = join(folder, 'results.json');
    await promisify(execFile)(interpreter, [script, file], {
      env: {
        PATH: process.env['PATH'],
        // Python writes no byte code beside the script.
        PYTHONDONTWRITEBYTECODE: '1',
        SVC_URL: service.url,
        SVC_TOKEN: account.token,
        SVC_READ_ONLY_TOKEN: account.read_only_token,
      },
      timeout: limitForInstallsMs,
      // The client prints each page of the log that it reads.
      maxBuffer: 100_000_000,
    });
    return results.parse(JSON.parse(await readFile(file, 'utf8')));
  } finally {
    await rm(folder, { recursive: true });
  }
}

const title = isMissing
  ? 'the published Python client (skipped: it needs Python 3.10 or newer with its venv module, and there is none)'
  : 'the published Python client, unchanged';

describe.skipIf(isMissing)(title, () => {
  let outcomes: z.infer<typeof results> = {};
  beforeAll(async () => {
    outcomes = await runScript();
  }, 2 * limitForInstallsMs);

  it.each(titles)('%s', (name) => {
    expect(outcomes, 'Its case did not run.').toHaveProperty([name]);
    expect(outcomes[name]).toBeNull();
  });
});
