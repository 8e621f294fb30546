/**
 * `npm test` checks format, lint and types (which the linter checks), and runs the tests. `npm test -- publish` only runs the
 * tests whose paths contain the word; other arguments are Vitest's.
 */
import { spawnSync } from 'node:child_process';

const given = process.argv.slice(2);
const checks =
  given.length > 0 ? [] : ['format:check', 'lint'].map((name) => ['npm', 'run', '--silent', name]);
const projects = ['unit', 'infra', 'e2e'].flatMap((name) => ['--project', name]);

for (const [program = '', ...parameters] of [...checks, ['npx', 'vitest', 'run', ...projects, ...given]]) {
  const { status } = spawnSync(program, parameters, { stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}
