/** `npm run audit`: fails for each known vulnerability in `package-lock.json` without an exception. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { complaintsAbout, readExceptions, readReport } from './judge.ts';

const root = resolve(import.meta.dirname, '../..');
/** The exceptions. A test names another file. */
const file = process.argv[2] ?? 'test/audit/exceptions.json';

const exceptions = readExceptions(readFileSync(resolve(root, file), 'utf8'));
// npm exits with 1 for findings and for errors, and writes the same JSON.
const { stdout, error } = spawnSync('npm', ['audit', '--json', '--package-lock-only'], {
  cwd: root,
  encoding: 'utf8',
  stdio: ['ignore', 'pipe', 'ignore'],
  maxBuffer: 100_000_000,
});
if (error !== undefined) throw error;

const report = readReport(stdout);
if (report.kind === 'unreachable') {
  console.log(
    `Known vulnerabilities were not looked for, because the registry gave no answer: ${report.reason}`,
  );
} else {
  const complaints = complaintsAbout(
    report.vulnerabilities,
    exceptions,
    new Date().toISOString().slice(0, 10),
  );
  if (complaints.length === 0) {
    const number = exceptions.length.toString();
    console.log(`No package has a known vulnerability without an exception (${number} in ${file}).`);
  } else {
    console.error([...complaints, `Update the package, or write an exception into ${file}.`].join('\n'));
    process.exitCode = 1;
  }
}
