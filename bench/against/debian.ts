/**
 * Programs from Debian packages. Missing ones are unpacked into `.cache` with their dependencies, which needs no special
 * rights.
 */
import { existsSync } from 'node:fs';
import { mkdir, readdir, rm } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { BenchError } from '../benchError.ts';
import { makeOnce, runInstaller } from './install.ts';

interface WantedProgram {
  readonly title: string;
  readonly name: string;
  readonly from: string;
  /** The folder below `/` where the package puts its versions. It is searched before the `PATH`. */
  readonly home: string;
  /** Adapts the unpacked files, which are in `draft` and will be moved to `root`. */
  readonly settle?: (draft: string, root: string) => Promise<void>;
}

interface FoundProgram {
  readonly file: string;
  /** `/`, or the folder with the unpacked packages. */
  readonly root: string;
  readonly env: Readonly<Record<string, string>>;
}

const cache = join(import.meta.dirname, '../../.cache/bench/debian');

/**
 * Finds a program, which is unpacked if it is missing.
 *
 * @throws BenchError if it is neither installed nor available from Debian's packages
 */
export async function debianProgram(wanted: WantedProgram): Promise<FoundProgram> {
  const { name, from, home } = wanted;
  const inPath = (process.env['PATH'] ?? '').split(delimiter).map((folder) => join(folder, name));
  const here = (await newestIn(join('/', home), name)) ?? inPath.find((file) => existsSync(file));
  if (here !== undefined) return { file: here, root: '/', env: {} };
  const root = await makeOnce(join(cache, from), (draft) => unpack(wanted, draft));
  const file = await newestIn(join(root, home), name);
  if (file === undefined) throw new BenchError(`There is no ${name} in Debian's ${from}.`);
  const libraries = [...(await namesIn(join(root, 'usr/lib'))), ...(await namesIn(join(root, 'lib')))];
  const forLinux = libraries.filter((folder) => folder.endsWith('-linux-gnu'));
  return { file, root, env: { LD_LIBRARY_PATH: forLinux.join(delimiter) } };
}

const namesIn = async (folder: string, recursive = false): Promise<readonly string[]> =>
  (await readdir(folder, { recursive }).catch(() => [])).map((name) => join(folder, name));

const newestIn = async (home: string, name: string): Promise<string | undefined> =>
  (await namesIn(home, true))
    .filter((file) => file.endsWith(`/bin/${name}`))
    .toSorted((a, b) => a.localeCompare(b, 'en', { numeric: true }))
    .at(-1);

async function unpack({ title, name, from, settle }: WantedProgram, draft: string): Promise<void> {
  console.log(`Installing ${title} ...`);
  try {
    const archives = join(draft, 'archives');
    await download(title, from, archives);
    for (const archive of await readdir(archives)) {
      if (!archive.endsWith('.deb')) continue;
      await runInstaller({ program: 'dpkg-deb', args: ['-x', archive, draft], cwd: archives, what: title });
    }
    await rm(archives, { recursive: true });
    await settle?.(draft, join(dirname(draft), from));
  } catch (error) {
    if (!(error instanceof BenchError)) throw error;
    throw new BenchError(`There is no ${name} on this machine, and ${error.message}`, { cause: error });
  }
}

/** Downloads a package and its missing dependencies, with this folder's own package lists. */
async function download(what: string, from: string, folder: string): Promise<void> {
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
  const plan = await apt('install', '--simulate', '--no-install-recommends', from);
  const needed = [...plan.matchAll(/^Inst (\S+)/gm)].map(([, name = '']) => name);
  await apt('download', '-q', ...needed);
}
