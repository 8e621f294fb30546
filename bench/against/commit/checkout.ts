/** Another commit of this repository with its dependencies, in a separate folder below `.cache`. */
import { execFile } from 'node:child_process';
import { readFile, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { BenchError } from '../../benchError.ts';
import type { OnTheWay } from '../../cpu.ts';
import { makeOnce } from '../install/makeOnce.ts';
import { npm } from '../install/npm.ts';
import { rivalNames } from '../rival.ts';

const run = promisify(execFile);

export interface Checkout {
  readonly commit: string;
  /** Bundles a handler with the commit's own code, and returns the URL of its `index.mjs`. */
  bundleUrl(handler: OnTheWay): Promise<string>;
}

/**
 * @param name such as `HEAD~1`, a branch or a hash
 * @throws BenchError if the commit does not exist or cannot be installed
 */
export async function checkOut(root: string, name: string): Promise<Checkout> {
  const commit = await hashOf(root, name);
  const place = join(root, '.cache/bench/commits', commit);
  const folder = await makeOnce(place, (draft) => extract(root, commit, draft));
  return { commit, bundleUrl: (handler) => bundleIn(folder, name, handler) };
}

async function hashOf(root: string, name: string): Promise<string> {
  try {
    const args = ['rev-parse', '--verify', '--quiet', '--end-of-options', `${name}^{commit}`];
    return (await run('git', args, { cwd: root })).stdout.trim();
  } catch (error) {
    throw new BenchError(
      `There is no commit '${name}' here; --against takes ${rivalNames.join(', ')}, or a commit such as HEAD~1.`,
      { cause: error },
    );
  }
}

async function extract(root: string, commit: string, folder: string): Promise<void> {
  const archive = join(folder, 'commit.tar');
  await run('git', ['archive', '--format=tar', `--output=${archive}`, commit], { cwd: root });
  await run('tar', ['-xf', archive, '-C', folder]);
  await rm(archive);
  await install(root, commit, folder);
}

/** A commit with the same lock file uses this tree's dependencies. Others install their own. */
async function install(root: string, commit: string, folder: string): Promise<void> {
  const lockOf = (where: string): Promise<string> => readFile(join(where, 'package-lock.json'), 'utf8');
  if ((await lockOf(folder)) === (await lockOf(root))) {
    await symlink(join(root, 'node_modules'), join(folder, 'node_modules'), 'junction');
    return;
  }
  await npm(folder, `what ${commit.slice(0, 7)} depends on`, ['ci']);
}

const bundling = `
import { join } from 'node:path';
import { bundle } from './lib/bundle.ts';
console.log(join(bundle(process.argv[1]), 'index.mjs'));
`;

async function bundleIn(folder: string, name: string, handler: OnTheWay): Promise<string> {
  try {
    const args = ['--import', 'tsx', '--input-type=module', '--eval', bundling, handler];
    const { stdout } = await run(process.execPath, args, { cwd: folder });
    return pathToFileURL(stdout.trim()).href;
  } catch (error) {
    throw new BenchError(`The ${handler} of ${name} cannot be bundled: ${String(error)}`, { cause: error });
  }
}
