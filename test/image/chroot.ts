/** Runs an image as a container would: with a read-only root, its user, its environment, and a folder as its volume. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { limits, type Image } from './build.ts';
import { freePort } from '../support/freePort.ts';

export interface RunningImage {
  readonly url: string;
  readonly token: string;
  /** Runs the image's health check. */
  readonly isHealthy: () => Promise<boolean>;
  readonly isReadOnly: () => Promise<boolean>;
  /** Makes a backup into its volume, as the image's user. */
  readonly canBackUp: () => Promise<boolean>;
  /** Sends SIGTERM; resolves to the exit status. */
  readonly stop: () => Promise<number | null>;
}

/** A separate mount namespace ends with its last process. The program replaces the shell, so it gets the signals. */
const script = `
set -e
mount --bind "$ROOT" "$ROOT"
mount -o remount,bind,ro "$ROOT"
mount --bind "$DATA" "$ROOT/data"
mount --rbind /dev "$ROOT/dev"
mount -t proc proc "$ROOT/proc"
exec chroot --userspec="$AS" "$ROOT" env -i "$@"
`;

export async function runningImage(image: Image, data: string): Promise<RunningImage> {
  chownSync(data, limits.uid, limits.uid);
  const port = await freePort();
  const own = [`SVC_PORT=${port}`, 'SVC_ALLOWED_DESTINATIONS=127.0.0.1'];
  const argsOf = (command: readonly string[]): readonly string[] => [
    ...['--mount', 'sh', '-c', script, 'sh'],
    ...image.environment,
    ...own,
    ...command,
  ];
  const env = { ...process.env, ROOT: image.root, DATA: data, AS: image.user };
  const succeeds = async (command: readonly string[]): Promise<boolean> => {
    try {
      await promisify(execFile)('unshare', [...argsOf(command)], { env });
      return true;
    } catch {
      return false;
    }
  };

  const child = spawn('unshare', [...argsOf(image.command)], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = once(child, 'exit').then(() => child.exitCode);
  let output = '';
  const ready = new Promise<void>((resolve) => {
    child.stdout.setEncoding('utf8').on('data', (part: string) => {
      output += part;
      if (output.includes('The service is ready')) resolve();
    });
  });
  const early = exited.then(() => {
    throw new Error(`The image ended before it was ready:\n${output}`);
  });
  await Promise.race([ready, early]);
  early.catch(() => undefined);
  const token = /^SVC_TOKEN=(.*)$/m.exec(readFileSync(join(data, 'env'), 'utf8'))?.[1] ?? '';
  const [kind, ...healthCheck] = image.healthCheck;
  if (kind !== 'CMD') throw new Error(`The health check is ${kind ?? 'missing'}.`);
  return {
    url: `http://127.0.0.1:${port}`,
    token,
    isHealthy: () => succeeds(healthCheck),
    isReadOnly: async () =>
      !(await succeeds(['touch', '/tmp/any'])) && (await succeeds(['touch', '/data/.any'])),
    canBackUp: () => succeeds(['svc-queue', 'backup', '/data/backup.tar.gz']),
    stop: () => {
      child.kill('SIGTERM');
      return exited;
    },
  };
}
