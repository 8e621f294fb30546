/**
 * `npm run test:nodes`: the unit tests and some end-to-end tests on the supported Node.js versions besides the oldest, on which
 * all tests run. The binaries come from npm, because the package `node` fetches them with a script that npm may refuse to run.
 * `-- 24` runs one version.
 */
import { spawn } from 'node:child_process';
import { delimiter, join, resolve } from 'node:path';
import { installPackages } from '../../bench/against/install.ts';

const root = resolve(import.meta.dirname, '../..');

const versions = { '22': '22.23.3', '24': '24.21.0' } as const;

/** Tests of what differs between versions: connections, streams, times and the store. */
const endToEnd = ['delivery', 'retries', 'schedules', 'restarted', 'signatures'].map(
  (name) => `test/e2e/${name}.test.ts`,
);

/** @throws Error if a test fails */
async function test(program: string, args: readonly string[]): Promise<void> {
  const child = spawn(program, [join(root, 'node_modules/vitest/vitest.mjs'), 'run', ...args], {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, PATH: [join(program, '..'), process.env['PATH']].join(delimiter) },
  });
  const code = await new Promise<number | null>((done, failed) => {
    child.once('error', failed).once('exit', done);
  });
  if (code !== 0) throw new Error(`${program} vitest run ${args.join(' ')} ended with ${String(code)}.`);
}

const wanted = process.argv.slice(2);
const unknown = wanted.filter((version) => !(version in versions));
if (unknown.length > 0)
  throw new Error(`${unknown.join(', ')}: allowed are ${Object.keys(versions).join(' and ')}.`);
for (const [major, version] of Object.entries(versions)) {
  if (wanted.length > 0 && !wanted.includes(major)) continue;
  const name = `node-${process.platform}-${process.arch}`;
  const folder = await installPackages(`Node.js ${version}`, join(root, '.cache/nodes'), { [name]: version });
  const program = join(folder, 'node_modules', name, 'bin/node');
  await test(program, ['--project', 'unit']);
  await test(program, ['--project', 'e2e', ...endToEnd]);
}
