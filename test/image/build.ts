/** Builds the image of the `Dockerfile`, on locally made base images. */
import { execFile } from 'node:child_process';
import { copyFileSync, cpSync, existsSync, mkdirSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import * as z from 'zod/mini';

const root = resolve(import.meta.dirname, '../..');

export const limits = { megabytes: 200, user: '65534:65534', uid: 65_534 };

export interface Image {
  readonly root: string;
  readonly user: string;
  readonly volumes: readonly string[];
  /** Each is `NAME=value`. */
  readonly environment: readonly string[];
  readonly command: readonly string[];
  readonly healthCheck: readonly string[];
  readonly megabytes: number;
}

const shown = z.object({
  Docker: z.object({
    config: z.object({
      User: z.string(),
      Env: z.array(z.string()),
      Entrypoint: z.array(z.string()),
      Cmd: z.array(z.string()),
      Volumes: z.record(z.string(), z.unknown()),
      Healthcheck: z.object({ Test: z.array(z.string()) }),
    }),
  }),
});

const run = async (file: string, args: readonly string[]): Promise<string> =>
  (await promisify(execFile)(file, [...args], { cwd: root, maxBuffer: 100_000_000 })).stdout.trim();

/** The names in the `Dockerfile`. */
const bases = { run: 'docker.io/library/debian:bookworm-slim', build: 'docker.io/library/node:22-bookworm' };

/** The folders that Debian's slim images omit. */
const notSlim = [
  'usr/share/doc',
  'usr/share/man',
  'usr/share/info',
  'usr/share/locale',
  'var/cache/apt',
  'var/lib/apt/lists',
];

/** @param folder keeps the base images for the next time */
export async function buildImage(folder: string, say: (text: string) => void): Promise<Image> {
  const storage = [
    '--storage-driver',
    'vfs',
    '--root',
    join(folder, 'storage'),
    '--runroot',
    join(folder, 'run'),
  ];
  // Separate storage, so that other images on this machine are not affected.
  const buildah = (...args: readonly string[]): Promise<string> => run('buildah', [...storage, ...args]);
  const has = async (name: string): Promise<boolean> =>
    (await buildah('images', '--quiet', '--filter', `reference=${name}`)) !== '';

  if (!(await has(bases.run))) {
    const debian = join(folder, 'debian');
    rmSync(debian, { recursive: true, force: true });
    await run('debootstrap', ['--variant=minbase', 'bookworm', debian]);
    for (const name of notSlim) {
      rmSync(join(debian, name), { recursive: true, force: true });
      mkdirSync(join(debian, name), { recursive: true });
    }
    await commit(buildah, bases.run, 'scratch', (container) =>
      buildah('copy', '--quiet', container, debian, '/'),
    );
    rmSync(debian, { recursive: true });
    say('the base of Debian is made');
  }
  if (!(await has(bases.build))) {
    await commit(buildah, bases.build, bases.run, async (container) => {
      const program = 'apt-get update && apt-get install -y --no-install-recommends binutils ca-certificates';
      await buildah('run', '--isolation', 'chroot', container, 'sh', '-c', program);
      await addNode(await buildah('mount', container));
    });
    say('the base with Node.js is made');
  }

  const image = 'svc-queue-test';
  await buildah('build', '--isolation', 'chroot', '--pull=never', '--format', 'docker', '--tag', image, '.');
  say('the image is built');
  for (const old of (await buildah('containers', '--quiet')).split('\n').filter((id) => id !== ''))
    await buildah('rm', old);
  const container = await buildah('from', '--pull=never', image);
  const { config } = shown.parse(JSON.parse(await buildah('inspect', container))).Docker;
  const mounted = await buildah('mount', container);
  const [kilobytes = ''] = (await run('du', ['-sk', '--apparent-size', mounted])).split('\t');
  return {
    root: mounted,
    user: config.User,
    volumes: Object.keys(config.Volumes),
    environment: config.Env,
    command: [...config.Entrypoint, ...config.Cmd],
    healthCheck: config.Healthcheck.Test,
    megabytes: Math.ceil(Number(kilobytes) / 1_024),
  };
}

async function commit(
  buildah: (...args: readonly string[]) => Promise<string>,
  name: string,
  from: string,
  fill: (container: string) => Promise<unknown>,
): Promise<void> {
  const container = await buildah('from', '--pull=never', from);
  await fill(container);
  await buildah('commit', '--quiet', '--rm', container, name);
}

/** Adds this machine's Node.js and npm, with npm's certificates and settings. */
async function addNode(to: string): Promise<void> {
  const npm = dirname(dirname(await run('readlink', ['-f', await run('which', ['npm'])])));
  copyFileSync(process.execPath, join(to, 'usr/local/bin/node'));
  cpSync(npm, join(to, 'usr/local/lib/node_modules/npm'), { recursive: true });
  await run('ln', ['-s', '../lib/node_modules/npm/bin/npm-cli.js', join(to, 'usr/local/bin/npm')]);
  const settings = join(homedir(), '.npmrc');
  if (existsSync(settings)) copyFileSync(settings, join(to, 'root/.npmrc'));
  const authorities = await run('npm', ['config', 'get', 'cafile']);
  if (!existsSync(authorities)) return;
  copyFileSync(authorities, join(to, 'root/authorities.pem'));
  mkdirSync(join(to, 'usr/local/etc'), { recursive: true });
  await run('sh', ['-c', 'echo cafile=/root/authorities.pem > "$0"', join(to, 'usr/local/etc/npmrc')]);
}
