/** Runs the tests of the whole service with tables in each of the other databases, and prints failures. */
import { execFileSync, spawn } from 'node:child_process';
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

/** Runs tests with tables in a database, and prints failures. Returns whether there were any. */
async function hasFailures(database: string, files: readonly string[]): Promise<boolean> {
  const file = join(folder, 'results.json');
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
      ...files,
    ],
    { stdio: 'inherit', env: { ...process.env, SVC_E2E_DYNAMODB: database } },
  );
  await once(vitest, 'exit');
  const { testResults, ...numbers } = results.parse(JSON.parse(readFileSync(file, 'utf8')));
  rmSync(file);
  print(
    `${database} ${files.join(' ')}: ${numbers.numPassedTests} passed, ${numbers.numFailedTests} failed, ${numbers.numPendingTests} skipped.`,
  );
  for (const { name, status, assertionResults } of testResults) {
    const failed = assertionResults.filter((one) => one.status === 'failed');
    for (const { fullName } of failed) print(`  ${name}: ${fullName}`);
    if (status === 'failed' && failed.length === 0) print(`  ${name}: the file failed`);
  }
  return testResults.some(({ status }) => status === 'failed');
}

/** The test files of the whole service. */
function allFiles(): readonly string[] {
  const listed = execFileSync('npx', ['vitest', 'list', '--project', 'e2e', '--filesOnly', '--json']);
  return z
    .array(z.object({ file: z.string() }))
    .parse(JSON.parse(listed.toString()))
    .map(({ file }) => file);
}

const only = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), 'svc-databases-'));
try {
  const failed = [await hasFailures('dynoxide', only)];
  // moto reads a whole table for each query, one call at a time, so rows from one file would slow the next one.
  for (const file of only.length > 0 ? only : allFiles()) failed.push(await hasFailures('moto', [file]));
  process.exitCode = failed.includes(true) ? 1 : 0;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
