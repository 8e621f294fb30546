import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { checkOut } from '../../../bench/against/commit/checkout.ts';
import { BenchError } from '../../../bench/benchError.ts';

const ownModules = join(import.meta.dirname, '../../../node_modules');

let root: string;
const git = (...args: readonly string[]): string =>
  execFileSync('git', ['-c', 'user.name=Test', '-c', 'user.email=test@example.com', ...args], {
    cwd: root,
    encoding: 'utf8',
  }).trim();

/** Commits a tree whose bundles have a name of their own. */
function commit(bundles: string): string {
  mkdirSync(join(root, 'lib'), { recursive: true });
  writeFileSync(
    join(root, 'lib/bundle.ts'),
    `import { join } from 'node:path';
export const bundle = (handler: string): string => join(import.meta.dirname, handler, '${bundles}');\n`,
  );
  writeFileSync(join(root, 'package.json'), '{"type": "module"}');
  writeFileSync(join(root, 'package-lock.json'), '{}');
  git('add', 'lib', 'package.json', 'package-lock.json');
  git('commit', '--quiet', '--message', bundles);
  return git('rev-parse', 'HEAD');
}

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'svc-checkout-')));
  git('init', '--quiet');
  symlinkSync(ownModules, join(root, 'node_modules'));
});
afterEach(() => {
  rmSync(root, { recursive: true });
});

describe('another commit', () => {
  it('is bundled by its own rules, in a folder that is kept, and the tree stays as it is', async () => {
    const before = commit('before');
    commit('after');
    const checkout = await checkOut(root, 'HEAD~1');
    expect(checkout.commit).toBe(before);
    const file = fileURLToPath(await checkout.bundleUrl('deliver'));
    expect(file).toBe(join(root, '.cache/bench/commits', before, 'lib/deliver/before/index.mjs'));
    expect(readdirSync(join(root, '.cache/bench/commits'))).toEqual([before]);
    expect(git('status', '--porcelain', '--untracked-files=no')).toBe('');
    expect((await checkOut(root, before)).commit).toBe(before);
  });

  it('that is not there is refused in one sentence', async () => {
    commit('only');
    for (const name of ['HEAD~1', 'nobody', '--all']) {
      await expect(checkOut(root, name)).rejects.toThrow(
        new BenchError(
          `There is no commit '${name}' here; --against takes bullmq, or a commit such as HEAD~1.`,
        ),
      );
    }
    expect(existsSync(join(root, '.cache'))).toBe(false);
  });

  it('that cannot be bundled is told with its name', async () => {
    commit('broken');
    writeFileSync(join(root, 'lib/bundle.ts'), 'export const other = 1;');
    git('commit', '--quiet', '--all', '--message', 'broken');
    const checkout = await checkOut(root, 'HEAD');
    await expect(checkout.bundleUrl('publish')).rejects.toThrow('The publish of HEAD cannot be bundled');
  });
});
