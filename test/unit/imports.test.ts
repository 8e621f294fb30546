import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';

/**
 * Tests the linter’s import rules (`.oxlintrc.json`) and the making of AWS clients. `house.test.ts` checks the order of
 * concepts.
 */

const root = resolve(import.meta.dirname, '../..');
const linter = join(dirname(createRequire(import.meta.url).resolve('oxlint/package.json')), 'bin/oxlint');

function lint(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'svc-lint-'));
  try {
    copyFileSync(join(root, '.oxlintrc.json'), join(folder, '.oxlintrc.json'));
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, name)), { recursive: true });
      writeFileSync(join(folder, name), text);
    }
    const { stdout, status } = spawnSync(process.execPath, [linter, '--format=unix'], {
      cwd: folder,
      encoding: 'utf8',
    });
    expect([0, 1]).toContain(status);
    return stdout;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const importing = (path: string): string => `import { it } from '${path}';\n\nit();\n`;

const forbidden = [
  ['local/sqs/stage.ts', '../../lib/queues.ts'],
  ['migrate/run.ts', '../local/stage.ts'],
  ['migrate/run.ts', '@aws-sdk/client-sqs'],
  ['console/src/main.tsx', 'node:fs'],
  ['console/src/main.tsx', '@aws-sdk/client-sqs'],
] as const;

const allowed = [
  ['local/lambda/lambda.ts', '../../lambdas/handlers/deliver.ts'],
  ['migrate/switch.ts', '../lambdas/schedule/cron.ts'],
] as const;

describe('of all these, linted in one run,', () => {
  /** Returns a separate path for each import, in the same folder. */
  const sampleOf = (file: string, path: string): string =>
    file.replace(/[^/]+$/, (name) => `from-${path.replaceAll(/[^a-z]+/gi, '-')}-in-${name}`);
  let complaints: readonly string[] = [];
  beforeAll(() => {
    const samples = [...forbidden, ...allowed].map(
      ([file, path]) => [sampleOf(file, path), importing(path)] as const,
    );
    complaints = lint(Object.fromEntries(samples))
      .split('\n')
      .filter((line) => line.includes('no-restricted-imports'));
  });
  const isRefused = (file: string, path: string): boolean =>
    complaints.some((line) => line.includes(sampleOf(file, path)));

  it.each(forbidden)('%s may not import %s', (file, path) => {
    expect(isRefused(file, path)).toBe(true);
  });

  it.each(allowed)('%s may import %s', (file, path) => {
    expect(isRefused(file, path)).toBe(false);
  });
});

it('no file imports itself through others', () => {
  const one = `import { two } from './two.ts';\n\nexport const one = (): unknown => two;\n`;
  const two = `import { one } from './one.ts';\n\nexport const two = (): unknown => one;\n`;
  expect(lint({ 'lambdas/shared/one.ts': one, 'lambdas/shared/two.ts': two })).toContain('no-cycle');
});

it('only the local stage gives credentials, never deployed code', () => {
  const files = ['bin', 'lambdas', 'lib', 'local'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .map((name) => join(folder, name))
      .filter((name) => name.endsWith('.ts')),
  );
  const giving = files.filter((file) => /\bgiveCredentials\(/.test(readFileSync(join(root, file), 'utf8')));
  expect(giving).toEqual(['lambdas/account/givenCredentials.ts', 'local/stage/devMode.ts']);
});

it('every AWS client uses the options of clientOptions.ts, without which it has no timeout', () => {
  const folders = ['bin', 'lambdas', 'local', 'lib', 'bench', 'operate', 'verify', 'test/deploy'];
  const files = folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => join(folder, name)),
  );
  const made = files.flatMap((file) =>
    [
      ...readFileSync(join(root, file), 'utf8').matchAll(/new \w+Client\((\s*\{\s*\.\.\.clientOptions\()?/g),
    ].map(([text, options]) => ({ file, text, hasOptions: options !== undefined })),
  );
  expect(made.length).toBeGreaterThan(5);
  expect(made.filter(({ hasOptions }) => !hasOptions)).toEqual([]);
});

it('every client of the functions is prepared, so that its failures are counted', () => {
  const files = readdirSync(join(root, 'lambdas'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => join('lambdas', name));
  const made = files.flatMap((file) => [
    ...readFileSync(join(root, file), 'utf8').matchAll(
      /(prepare(?:Client)?\(\s*'\w+',\s*)?new (\w+Client)\(/g,
    ),
  ]);
  expect(made.length).toBeGreaterThan(4);
  // A destination’s function, queue, topic or bus may fail for reasons of the account.
  const uncounted = made.flatMap(([, prepared, name]) => (prepared === undefined ? [name] : []));
  expect(uncounted.sort()).toEqual(['EventBridgeClient', 'LambdaClient', 'SNSClient', 'SQSClient']);
});
