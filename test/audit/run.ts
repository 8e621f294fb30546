/** `npm run audit`: fails for each known vulnerability in a `package-lock.json` without an exception. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { complaintsAbout, readExceptions, readReport, type Report } from './judge.ts';

const root = resolve(import.meta.dirname, '../..');
/** The exceptions. A test names another file. */
const file = process.argv[2] ?? 'test/audit/exceptions.json';

const exceptions = readExceptions(readFileSync(resolve(root, file), 'utf8'));

/** Reads the report of a folder's lock file. npm exits with 1 for findings and for errors, and writes the same JSON. */
function reportOf(folder: string): Report {
  const { stdout, error } = spawnSync('npm', ['audit', '--json', '--package-lock-only'], {
    cwd: resolve(root, folder),
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
    maxBuffer: 100_000_000,
  });
  if (error !== undefined) throw error;
  return readReport(stdout);
}

const reports = ['.', 'site'].map(reportOf);
const [reason] = reports.flatMap((report) => (report.kind === 'unreachable' ? report.reason : []));
if (reason !== undefined) {
  console.log(`Known vulnerabilities were not looked for, because the registry gave no answer: ${reason}`);
} else {
  const found = reports.flatMap((report) => (report.kind === 'report' ? report.vulnerabilities : []));
  const complaints = complaintsAbout(found, exceptions, new Date().toISOString().slice(0, 10));
  if (complaints.length === 0) {
    const number = exceptions.length.toString();
    console.log(`No package has a known vulnerability without an exception (${number} in ${file}).`);
  } else {
    console.error([...complaints, `Update the package, or write an exception into ${file}.`].join('\n'));
    process.exitCode = 1;
  }
}
