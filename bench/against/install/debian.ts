/**
 * Programs from Debian packages. Missing ones are unpacked into `.cache` with their dependencies, which needs no special
 * rights.
 */
import { constants } from 'node:fs';
import { access, mkdir, readdir, rm } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { BenchError } from '../../benchError.ts';
import { makeOnce } from './makeOnce.ts';
import { runInstaller } from './run.ts';

interface WantedProgram {
  /** The name in error messages. */
  readonly title: string;
  readonly name: string;
  readonly packages: readonly string[];
  /** Folders below `/` where packages put the program; `*` is the highest version. They are searched before the `PATH`. */
  readonly folders: readonly string[];
  /** Adapts the unpacked files, which are in `draft` and will be moved to `root`. */
  readonly settle?: (draft: string, root: string) => Promise<void>;
}

interface FoundProgram {
  readonly file: string;
  /** `/`, or the folder with the unpacked packages. */
  readonly root: string;
  readonly env: Readonly<Record<string, string>>;
}

const cache = join(import.meta.dirname, '../../../.cache/bench/debian');

/** @throws BenchError if the program is neither installed nor available from Debian's packages */
export async function debianProgram(wanted: WantedProgram): Promise<FoundProgram> {
  const path = (process.env['PATH'] ?? '').split(delimiter);
  const here = await find(wanted.name, [...(await foldersIn('/', wanted.folders)), ...path]);
  if (here !== undefined) return { file: here, root: '/', env: {} };
  const root = await makeOnce(join(cache, wanted.packages.join('-')), (draft) => unpack(wanted, draft));
  const unpacked = await find(wanted.name, await foldersIn(root, wanted.folders));
  if (unpacked === undefined)
    throw new BenchError(`There is no ${wanted.name} in Debian's ${wanted.packages.join(', ')}.`);
  const libraries = await foldersIn(root, ['usr/lib/*-linux-gnu', 'lib/*-linux-gnu']);
  return { file: unpacked, root, env: { LD_LIBRARY_PATH: libraries.join(delimiter) } };
}

async function foldersIn(root: string, folders: readonly string[]): Promise<readonly string[]> {
  const found: string[] = [];
  for (const folder of folders) {
    const [before = '', after] = folder.split(/(?<=^[^*]*\/)(?=[^/]*\*)/);
    if (after === undefined) {
      found.push(join(root, folder));
      continue;
    }
    const [pattern = '', ...rest] = after.split('/');
    const names = await readdir(join(root, before)).catch(() => []);
    const matching = names.filter((name) => name.endsWith(pattern.replace('*', '')));
    const newest = matching.toSorted((a, b) => a.localeCompare(b, 'en', { numeric: true })).at(-1);
    if (newest !== undefined) found.push(join(root, before, newest, ...rest));
  }
  return found;
}

async function find(name: string, folders: readonly string[]): Promise<string | undefined> {
  for (const folder of folders) {
    const file = join(folder, name);
    const isThere = await access(file, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (isThere) return file;
  }
  return undefined;
}

async function unpack({ title, name, packages, settle }: WantedProgram, draft: string): Promise<void> {
  console.log(`Installing ${title} ...`);
  try {
    const archives = join(draft, 'archives');
    await download(title, packages, archives);
    for (const archive of await readdir(archives)) {
      if (!archive.endsWith('.deb')) continue;
      await runInstaller({ program: 'dpkg-deb', args: ['-x', archive, draft], cwd: archives, what: title });
    }
    await rm(archives, { recursive: true });
    await settle?.(draft, join(dirname(draft), packages.join('-')));
  } catch (error) {
    if (!(error instanceof BenchError)) throw error;
    throw new BenchError(`There is no ${name} on this machine, and ${error.message}`, { cause: error });
  }
}

/** Downloads packages and their missing dependencies, with this folder's own package lists. */
async function download(what: string, packages: readonly string[], folder: string): Promise<void> {
  const state = join(folder, 'apt');
  await mkdir(join(state, 'lists/partial'), { recursive: true });
  await mkdir(join(state, 'cache/archives/partial'), { recursive: true });
  const settings = [
    `Dir::State::lists=${state}/lists`,
    `Dir::Cache=${state}/cache`,
    'APT::Sandbox::User=root',
    'Debug::NoLocking=1',
  ].flatMap((setting) => ['-o', setting]);
  const apt = (...args: string[]): Promise<string> =>
    runInstaller({
      program: 'apt-get',
      args: [...settings, ...args],
      cwd: folder,
      what,
      reasons: /(?<=^E: ).*\S/gm,
    });
  await apt('update', '-q');
  const plan = await apt('install', '--simulate', '--no-install-recommends', ...packages);
  const needed = [...plan.matchAll(/^Inst (\S+)/gm)].map(([, name = '']) => name);
  await apt('download', '-q', ...needed);
}
