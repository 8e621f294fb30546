/** Runs the tests of the whole service with tables in each of the other databases, and prints what failed. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as z from 'zod/mini';

const results = z.object({
  numPassedTests: z.number(),
  numFailedTests: z.number(),
  numPendingTests: z.number(),
  testResults: z.array(
    z.object({
      name: z.string(),
      status: z.string(),
      assertionResults: z.array(z.object({ fullName: z.string(), status: z.string() })),
    }),
  ),
});

const print = (line: string): void => {
  process.stdout.write(`${line}\n`);
};

const only = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), 'svc-databases-'));
let hasFailed = false;
try {
  for (const database of ['dynoxide', 'moto']) {
    const file = join(folder, `${database}.json`);
    const vitest = spawn(
      'npx',
      [
        'vitest',
        'run',
        '--project',
        'e2e',
        '--reporter=dot',
        '--reporter=json',
        `--outputFile=${file}`,
        ...only,
      ],
      { stdio: 'inherit', env: { ...process.env, SVC_E2E_DYNAMODB: database } },
    );
    await once(vitest, 'exit');
    const { testResults, ...numbers } = results.parse(JSON.parse(readFileSync(file, 'utf8')));
    print(
      `${database}: ${numbers.numPassedTests} passed, ${numbers.numFailedTests} failed, ${numbers.numPendingTests} skipped.`,
    );
    for (const { name, status, assertionResults } of testResults) {
      const failed = assertionResults.filter((one) => one.status === 'failed');
      for (const { fullName } of failed) print(`  ${name}: ${fullName}`);
      if (status === 'failed' && failed.length === 0) print(`  ${name}: the file failed`);
      hasFailed ||= status === 'failed';
    }
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
process.exitCode = hasFailed ? 1 : 0;
