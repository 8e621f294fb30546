/**
 * `npm run test:image`: builds the image of the `Dockerfile`, starts it with a read-only root, and lets the app of
 * `compose.yaml` send itself a message through it. It needs Linux, root, buildah and debootstrap, but no image registry:
 * debootstrap makes Debian's base image, and the one with Node.js adds this machine's Node.js and npm. Both are tagged with the
 * names in the `Dockerfile`.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { buildImage, limits } from './build.ts';
import { runningImage, type RunningImage } from './chroot.ts';
import { sendThroughApp } from './app.ts';

const begun = Date.now();
const say = (text: string): void => {
  console.log(`${Math.round((Date.now() - begun) / 1_000)} s: ${text}`);
};

const tools = ['buildah', 'debootstrap', 'unshare'];
const isThere = (tool: string): boolean => {
  try {
    execFileSync('which', [tool], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
};

/** The tools for building images that this machine lacks. */
function missing(): readonly string[] {
  if (process.platform !== 'linux') return ['Linux'];
  const root = process.getuid?.() === 0 ? [] : ['root'];
  return [...root, ...tools.filter((tool) => !isThere(tool))];
}

const check = (isRight: boolean, what: string): void => {
  if (!isRight) throw new Error(`${what}: not so.`);
  say(what);
};

/** Whether all files of a folder belong to a user, and only that user can read them. */
const areOwn = (folder: string, user: number): boolean =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).every((name) => {
    const { uid, mode } = statSync(join(folder, name));
    return uid === user && (mode & 0o077) === 0;
  });

async function main(): Promise<void> {
  const lacks = missing();
  if (lacks.length > 0) {
    const isNeeded = process.env['CI'] === 'true';
    if (isNeeded) process.exitCode = 1;
    console.log(
      `${isNeeded ? 'Failed' : 'Skipped'}: this machine lacks ${lacks.join(', ')} to build the image.`,
    );
    return;
  }
  const cache = resolve(import.meta.dirname, '../../.cache/image');
  mkdirSync(cache, { recursive: true });
  const image = await buildImage(cache, say);
  const { user, megabytes, volumes } = image;
  check(megabytes < limits.megabytes, `the image has ${megabytes} MB, fewer than ${limits.megabytes}`);
  check(user === limits.user, `it runs as ${user}`);
  const isVolume = volumes.join() === '/data' && statSync(join(image.root, 'data')).uid === limits.uid;
  check(isVolume, 'its volume is /data, which is its user’s');

  const data = mkdtempSync(join(tmpdir(), 'svc-image-'));
  const started: RunningImage[] = [];
  const start = async (): Promise<RunningImage> => {
    const running = await runningImage(image, data);
    started.push(running);
    return running;
  };
  try {
    const first = await start();
    check(await first.isHealthy(), 'it is healthy');
    const page = await fetch(`${first.url}/console`);
    check(page.ok && (await page.text()).includes('<title>'), 'it has the console');
    check(areOwn(data, limits.uid), `its files are those of user ${limits.uid}, and nobody else reads them`);
    check(await first.isReadOnly(), 'its root is read-only');
    await sendThroughApp(first, data);
    say('the app got its message');
    check(await first.canBackUp(), 'it makes a backup while it runs');
    const { token } = first;
    check((await first.stop()) === 0, 'it ends at SIGTERM');
    const second = await start();
    check(second.token === token, 'it keeps its data');
  } finally {
    await Promise.all(started.map((running) => running.stop()));
    rmSync(data, { recursive: true, force: true });
  }
  say('the image works');
}

await main();
